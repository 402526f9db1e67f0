/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice forecast watch: options, messages and exit codes of predict/forecast/service/retrainer.h.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "base/date.h"
#include "base/interrupt.h"
#include "base/json.h"
#include "base/mem.h"
#include "cli/window.h"
#include "cmd/forecast/forecast.h"
#include "predict/forecast/service/retrainer.h"

struct watch {
	const struct command *command;
	const struct forecast_args *args;
	int ret; /* of writing to standard output */
};

static void show_check(void *arg, const struct retrainer_check *check)
{
	const struct forecaster *forecaster = check->forecaster;
	struct watch *watch = arg;
	char word[16], when[DATE_TEXT];
	struct json json;

	option_choice_name(RETRAINING_WORDS, (int)check->reason, word, sizeof(word));
	if (watch->args->json) {
		json_start(&json, stdout, FORECAST_SCHEMA);
		json_real(&json, "time", check->now_s);
		json_text(&json, "system", forecaster->system);
		json_count(&json, "scored", check->scored);
		json_real(&json, "right", check->right);
		json_text(&json, "reason", word);
		json_bool(&json, "is_trained", check->is_trained);
		json_count(&json, "generation", forecaster->generation);
		json_end(&json);
	} else {
		printf("%s  %zu forecasts scored", date_text(when, check->now_s), check->scored);
		if (!isnan(check->right))
			printf(", %.1f%% right since training", 100 * check->right);
		if (check->is_trained)
			printf(", trained again (%s): generation %llu", word,
			       (unsigned long long)forecaster->generation);
		putchar('\n');
	}
	watch->ret = command_finish(watch->command);
}

static void show_error(void *arg, const struct err *err)
{
	const struct watch *watch = arg;

	command_fail(watch->command, "%s", err->text);
}

static int args_check(const struct command *command, const struct forecast_args *args)
{
	if (args->on || args->output || args->files.count)
		return command_misuse(command, "watch reads the store and writes --model; --file, "
					       "--on and --output do not apply");
	if (args->to && !args->once)
		return command_misuse(command, "--to requires --once");
	if (args->every_ns <= 0 || !args->answers)
		return command_misuse(command, "--every and --answers must be positive");
	return COMMAND_GOOD;
}

static int options_read(struct watch *watch, struct retrainer_options *options)
{
	const struct forecast_args *args = watch->args;
	double from_s, to_s, days_s;
	int ret = window_take(watch->command, args->from, args->to, &from_s, &to_s);

	if (!ret)
		ret = args_check(watch->command, args);
	if (!ret)
		ret = window_days(watch->command, args->days, &days_s);
	if (!ret)
		ret = forecast_plan(watch->command, args, "recent", &options->plan);
	if (ret)
		return ret;
	forecast_query_init(&options->query, watch->command, args);
	options->makes_directory = !args->model;
	options->train_s = isnan(days_s) ? RETRAINER_TRAIN_S : days_s;
	options->retrain_s = 1e-9 * (double)args->retrain_ns;
	options->drift_window = args->answers;
	options->every_ns = args->every_ns;
	options->now_s = args->to ? to_s : NAN;
	options->is_once = args->once;
	options->stop = interrupt_flag();
	options->on_check = show_check;
	options->on_error = show_error;
	options->arg = watch;
	return COMMAND_GOOD;
}

int forecast_watch(struct command *command, const struct forecast_args *args)
{
	AUTO_FREE char *path = forecast_path(command, args);
	struct watch watch = { .command = command, .args = args };
	struct retrainer_options options = { .model_path = path };
	struct interrupt stop;
	int r, ret = options_read(&watch, &options);

	if (ret)
		return ret;
	interrupt_catch(&stop);
	r = retrainer_run(&options);
	interrupt_restore(&stop);
	if (r == -ENODATA || r == -ENOENT)
		return COMMAND_NO_DATA;
	return r < 0 ? COMMAND_FAILED : watch.ret;
}
