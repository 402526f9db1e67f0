/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice forecast watch: holds the model's forecasts against what was measured since, and trains it
 * again when it is time. It only reads the store; what fills it is 'sluice probe run'.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/date.h"
#include "base/json.h"
#include "base/mem.h"
#include "cmd/forecast/forecast.h"
#include "base/interrupt.h"
#include "cli/window.h"
#include "predict/forecast/states/forecaster.h"
#include "predict/forecast/states/retraining.h"

/* Rows of a round come over some seconds: the last ones are left for the next check. */
enum { SETTLE_S = 60, TRAIN_DAYS = 8 };

struct watching {
	const struct command *command;
	const struct forecast_args *args;
	const char *path;
	struct forecaster forecaster;
	bool has_model;
	struct retraining retraining;
};

/* What a check came to. */
struct check {
	double now_s;
	size_t scored;
	enum retraining_reason reason;
	bool is_trained;
};

static bool watch_progress(void *arg, size_t done, size_t total)
{
	(void)arg;
	(void)done;
	(void)total;
	return *interrupt_flag() != 0;
}

/* A model that cannot be used is as good as none; that there is none yet needs no words. */
static int model_load(struct watching *watching)
{
	struct err err = { 0 };
	int r = forecaster_load(&watching->forecaster, watching->path, &err);

	if (r < 0 && r != -ENOENT)
		return forecast_fail(watching->command, r, &err);
	watching->has_model = r >= 0;
	return COMMAND_GOOD;
}

static void retraining_begin(struct watching *watching)
{
	const struct forecast_args *args = watching->args;
	struct retraining_policy policy;

	retraining_policy_init(&policy);
	policy.every_s = 1e-9 * (double)args->retrain_ns;
	policy.rest_s = fmin(policy.rest_s, policy.every_s > 0 ? policy.every_s : policy.rest_s);
	policy.answers = args->answers;
	retraining_release(&watching->retraining);
	retraining_init(&watching->retraining, &policy,
			watching->has_model ? &watching->forecaster : NULL);
}

static double now_of(const struct forecast_args *args, double to_s)
{
	return args->to ? to_s : (double)time(NULL);
}

/* ---- a check ---- */

static int check_score(struct watching *watching, struct check *check)
{
	const struct forecaster *forecaster = &watching->forecaster;
	struct retraining *retraining = &watching->retraining;
	double back = fmax(6 * 3600, 4 * forecaster->features.window_s);
	struct forecast_source source = { .system = xstrdup(forecaster->system) };
	struct features features;
	int ret;

	ret = forecast_open(watching->command, watching->args, retraining->scored_s - back,
			    check->now_s, &source);
	if (!ret) {
		features_init(&features, forecast_chronicle(&source), &source.site,
			      &forecaster->features);
		check->scored = retraining_score(retraining, forecaster, &features,
						 check->now_s - SETTLE_S);
		features_release(&features);
	}
	forecast_close(&source);
	return ret;
}

/* As the model was: options count where there is none yet. */
static int plan_again(struct watching *watching, struct forecaster_plan *plan, double now_s)
{
	const struct forecaster *forecaster = &watching->forecaster;
	struct err err = { 0 };
	double days;
	int r, ret = window_days(watching->command, watching->args->days, &days);

	if (!ret)
		ret = forecast_plan(watching->command, watching->args, "recent", plan);
	if (ret)
		return ret;
	if (watching->has_model) {
		r = forecast_method_plan(&plan->pipeline, forecaster->method, forecaster->settings,
					 &err);
		if (r < 0)
			return forecast_fail(watching->command, r, &err);
		plan->features = forecaster->features;
		plan->labels.scope = forecaster->states.scope;
		plan->labels.seed = plan->seed = forecaster->seed;
	}
	plan->labels.to_s = now_s;
	plan->labels.from_s = now_s - (isnan(days) ? TRAIN_DAYS * 86400.0 : days);
	plan->progress = watch_progress;
	return COMMAND_GOOD;
}

static int check_train(struct watching *watching, struct check *check)
{
	const struct command *command = watching->command;
	struct forecast_source source = { 0 };
	struct forecaster fresh = { 0 };
	struct forecaster_plan plan;
	struct err err = { 0 };
	int r, ret = plan_again(watching, &plan, check->now_s);

	if (!ret && watching->has_model)
		source.system = xstrdup(watching->forecaster.system);
	if (!ret)
		ret = forecast_open(command, watching->args, plan.labels.from_s, plan.labels.to_s,
				    &source);
	if (!ret) {
		r = forecaster_fit(&fresh, forecast_chronicle(&source), &source.site, &plan, &err);
		ret = r < 0 ? forecast_fail(command, r, &err) : COMMAND_GOOD;
	}
	forecast_close(&source);
	if (ret)
		return ret;
	fresh.generation = watching->has_model ? watching->forecaster.generation + 1 : 1;
	fresh.made_s = (int64_t)check->now_s;
	ret = forecast_keep(command, watching->args, &fresh, watching->path);
	if (ret) {
		forecaster_release(&fresh);
		return ret;
	}
	forecaster_release(&watching->forecaster);
	watching->forecaster = fresh;
	watching->has_model = check->is_trained = true;
	return COMMAND_GOOD;
}

static double share_of(const struct watching *watching)
{
	const struct retraining *retraining = &watching->retraining;

	return retraining->scored ? retraining->right / (double)retraining->scored : NAN;
}

static int check_tell(const struct watching *watching, const struct check *check, double share)
{
	char word[16], when[DATE_TEXT];
	struct json json;

	option_choice_name(RETRAINING_WORDS, (int)check->reason, word, sizeof(word));
	if (watching->args->json) {
		json_start(&json, stdout, FORECAST_SCHEMA);
		json_real(&json, "time", check->now_s);
		json_text(&json, "system", watching->forecaster.system);
		json_count(&json, "scored", check->scored);
		json_real(&json, "right", share);
		json_text(&json, "reason", word);
		json_bool(&json, "is_trained", check->is_trained);
		json_count(&json, "generation", watching->forecaster.generation);
		json_end(&json);
		return command_finish(watching->command);
	}
	printf("%s  %zu forecasts scored", date_text(when, check->now_s), check->scored);
	if (!isnan(share))
		printf(", %.1f%% right since training", 100 * share);
	if (check->is_trained)
		printf(", trained again (%s): generation %llu", word,
		       (unsigned long long)watching->forecaster.generation);
	putchar('\n');
	return command_finish(watching->command);
}

static int check_run(struct watching *watching, double to_s)
{
	struct check check = { .now_s = now_of(watching->args, to_s) };
	double share;
	int ret = watching->has_model ? check_score(watching, &check) : COMMAND_GOOD;

	if (ret)
		return ret;
	share = share_of(watching);
	check.reason = retraining_due(&watching->retraining, check.now_s);
	if (check.reason != RETRAINING_NONE)
		ret = check_train(watching, &check);
	if (ret)
		return ret;
	if (check.is_trained)
		retraining_begin(watching);
	return check_tell(watching, &check, share);
}

/* ---- the loop ---- */

static void rest(int64_t ns)
{
	struct timespec left = { ns / 1000000000, ns % 1000000000 };

	/* Short naps: a signal may come just before one, and must not wait for its end. */
	while (!*interrupt_flag() && (left.tv_sec > 0 || left.tv_nsec > 0)) {
		struct timespec nap = { left.tv_sec > 0, left.tv_sec > 0 ? 0 : left.tv_nsec };

		nanosleep(&nap, NULL);
		left.tv_sec -= nap.tv_sec;
		left.tv_nsec -= nap.tv_nsec;
	}
}

/* What goes wrong in one check may be well in the next: the store is busy, rows are still few. */
static int watch_loop(struct watching *watching, double to_s)
{
	int ret;

	do {
		ret = check_run(watching, to_s);
		if (watching->args->once || *interrupt_flag())
			break;
		rest(watching->args->every_ns);
	} while (!*interrupt_flag());
	return *interrupt_flag() ? COMMAND_GOOD : ret;
}

int forecast_watch(struct command *command, const struct forecast_args *args)
{
	AUTO_FREE char *path = forecast_path(command, args);
	struct watching watching = { .command = command, .args = args, .path = path };
	double from_s, to_s;
	struct interrupt stop;
	int ret = window_take(command, args->from, args->to, &from_s, &to_s);

	if (!ret && (args->on || args->output || args->files.count))
		ret = command_misuse(command, "watch goes by the store, and writes to --model");
	if (!ret && args->to && !args->once)
		ret = command_misuse(command, "--to: only with --once");
	if (!ret && (args->every_ns <= 0 || !args->answers))
		ret = command_misuse(command, "--every and --answers must be more than nothing");
	if (!ret)
		ret = model_load(&watching);
	if (ret)
		return ret;
	retraining_begin(&watching);
	interrupt_catch(&stop);
	ret = watch_loop(&watching, to_s);
	interrupt_restore(&stop);
	retraining_release(&watching.retraining);
	forecaster_release(&watching.forecaster);
	return ret;
}
