/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice forecast watch: scores forecasts and retrains (predict/forecast/service/retrainer.h).
 * Papers: WAN-39.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/date.h"
#include "base/interrupt.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/term.h"
#include "cli/window.h"
#include "cmd/forecast/forecast.h"
#include "predict/forecast/service/retrainer.h"

#define FIELD(name) offsetof(struct forecast_args, name)

static const struct option watch_options[] = {
	{ 0, "every", "TIME", "5m", "time between checks", OPTION_TIME, FIELD(every_ns) },
	{ 0, "once", NULL, NULL, "check once and exit, such as from cron", OPTION_FLAG,
	  FIELD(once) },
	{ 0, "retrain", "TIME", "24h", "retrain at least this often; 0: only after drift",
	  OPTION_TIME, FIELD(retrain_ns) },
	{ 0, "drift-window", "N", "2000", "look for drift in the last N forecasts", OPTION_COUNT,
	  FIELD(drift_window) },
	{ 0, "days", "DAYS", "8", "train on the last DAYS days", OPTION_TEXT, FIELD(days) },
	OPTION_INCLUDE(forecast_model_options, 0),
	OPTION_INCLUDE(forecast_system_options, 0),
	OPTION_INCLUDE(forecast_range_options, 0),
	OPTION_INCLUDE(forecast_choice_options, 0),
	FORECAST_FEATURES_OPTION("recent"),
	OPTION_INCLUDE(forecast_training_options, 0),
	OPTION_INCLUDE(forecast_json_options, 0),
	{ 0 }
};

#undef FIELD

struct watch {
	const struct command *command;
	const struct forecast_args *args;
	int ret; /* exit code of writing to standard output */
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
		json_double(&json, "time", check->now_s);
		forecast_json_system(&json, forecaster->system);
		json_count(&json, "scored", check->scored);
		json_double(&json, "right", check->right);
		json_text(&json, "reason", word);
		json_bool(&json, "is_trained", check->is_trained);
		json_count(&json, "generation", forecaster->generation);
		json_end(&json);
	} else {
		term_printf(stdout, "%s  %zu forecasts scored", date_text(when, check->now_s),
			    check->scored);
		if (!isnan(check->right))
			printf(", %.1f%% correct since training", 100 * check->right);
		if (check->is_trained)
			term_printf(stdout, ", retrained (%s): generation %llu", word,
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

static int check_args(const struct command *command, const struct forecast_args *args)
{
	if (args->until && !args->once)
		return command_misuse(command, "--until requires --once");
	if (args->every_ns <= 0 || !args->drift_window)
		return command_misuse(command, "--every and --drift-window must be positive");
	return COMMAND_GOOD;
}

static int read_options(struct watch *watch, struct retrainer_options *options)
{
	const struct forecast_args *args = watch->args;
	double from_s, to_s, days_s;
	int ret = window_parse(watch->command, args->since, args->until, &from_s, &to_s);

	if (!ret)
		ret = check_args(watch->command, args);
	if (!ret)
		ret = window_parse_days(watch->command, args->days, &days_s);
	if (!ret)
		ret = forecast_plan(watch->command, args, &options->plan);
	if (ret)
		return ret;
	forecast_args_query(&options->query, watch->command, args);
	options->makes_directory = !args->model;
	options->train_s = days_s;
	options->retrain_s = (double)args->retrain_ns / NS_PER_S;
	options->drift_window = args->drift_window;
	options->every_ns = args->every_ns;
	options->now_s = args->until ? to_s : NAN;
	options->is_once = args->once;
	options->stop = interrupt_flag();
	options->on_check = show_check;
	options->on_error = show_error;
	options->arg = watch;
	return COMMAND_GOOD;
}

static int watch_run(struct command *command)
{
	const struct forecast_args *args = command->args;
	AUTO_FREE char *path = forecast_path(command, args);
	struct watch watch = { .command = command, .args = args };
	struct retrainer_options options = { .model_path = path };
	struct interrupt stop;
	int r, ret = read_options(&watch, &options);

	if (ret)
		return ret;
	interrupt_catch(&stop);
	r = retrainer_run(&options);
	interrupt_restore(&stop);
	if (r == -ENODATA || r == -ENOENT)
		return COMMAND_NO_DATA;
	return r < 0 ? COMMAND_FAILED : watch.ret;
}

const struct command_ops command_forecast_watch = {
	.name = "watch",
	.help = "score forecasts and retrain when they get worse",
	.about = "Scores each forecast when the write it predicted has been measured. Retrains "
		 "once a day, when forecasts are worse than in training, or when there are new "
		 "targets. The previous model is kept as MODEL.previous.\n\n"
		 "  sluice forecast watch --every 5m",
	.options = watch_options,
	.args_bytes = sizeof(struct forecast_args),
	.run = watch_run,
};
