/* SPDX-License-Identifier: BSD-3-Clause */
#include "predict/forecast/service/retrainer.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/integer.h"
#include "base/place.h"
#include "base/trusted.h"

/* Rows of a round arrive within some seconds, so a check leaves the newest ones to the next. */
#define SETTLE_S 60

struct retrainer {
	const struct retrainer_options *options;
	struct forecaster forecaster;
	bool has_model;
	struct retraining retraining;
};

static bool is_stopped(const struct retrainer_options *options)
{
	return options->stop && *options->stop;
}

static bool on_progress(void *arg, size_t done, size_t total)
{
	(void)done;
	(void)total;
	return is_stopped(arg);
}

static int load_model(struct retrainer *retrainer, struct err *err)
{
	int r = forecaster_load(&retrainer->forecaster, retrainer->options->model_path, err);

	retrainer->has_model = r >= 0;
	return r == -ENOENT ? 0 : r;
}

/* Starts the statistics of the current model. */
static void start_scoring(struct retrainer *retrainer)
{
	const struct retrainer_options *options = retrainer->options;
	struct retraining_policy policy;

	retraining_policy_init(&policy);
	policy.every_s = options->retrain_s;
	policy.rest_s = fmin(policy.rest_s, policy.every_s > 0 ? policy.every_s : policy.rest_s);
	policy.answers = options->drift_window;
	retraining_release(&retrainer->retraining);
	retraining_init(&retrainer->retraining, &policy,
			retrainer->has_model ? &retrainer->forecaster : NULL);
}

static int open_data(const struct retrainer *retrainer, double from_s, double to_s,
		     struct forecast_data *data, struct err *err)
{
	struct forecast_query query = retrainer->options->query;

	if (retrainer->has_model)
		query.system = retrainer->forecaster.system;
	query.from_s = from_s;
	query.to_s = to_s;
	return forecast_data_open(data, &query, err);
}

static int score_forecasts(struct retrainer *retrainer, struct retrainer_check *check,
			   struct err *err)
{
	const struct forecaster *forecaster = &retrainer->forecaster;
	struct retraining *retraining = &retrainer->retraining;
	struct features_plan plan = forecaster->features;
	struct forecast_data data = { 0 };
	struct features features;
	int r = open_data(retrainer, retraining->scored_s - forecast_data_history_s(forecaster),
			  check->now_s, &data, err);

	if (r >= 0) {
		plan.ignores_programs |= retrainer->options->plan.programs == PROGRAMS_IGNORE;
		features_init(&features, forecast_data_rows(&data), &data.site, &plan);
		check->scored = retraining_score(retraining, forecaster, &features,
						 check->now_s - SETTLE_S);
		features_release(&features);
	}
	forecast_data_close(&data);
	return r;
}

/* A new model is trained as the current one was; the options apply where there is none. */
static int make_plan(struct retrainer *retrainer, double now_s, struct forecaster_plan *plan,
		     struct err *err)
{
	const struct forecaster *forecaster = &retrainer->forecaster;

	*plan = retrainer->options->plan;
	if (retrainer->has_model) {
		int r = forecaster_plan_method(plan, forecaster->method, forecaster->settings, err);

		if (r < 0)
			return r;
		plan->features = forecaster->features;
		plan->features.ignores_programs = false;
		plan->labels.scope = forecaster->states.scope;
		plan->labels.seed = plan->seed = forecaster->seed;
	}
	plan->labels.to_s = now_s;
	plan->labels.from_s = now_s - retrainer->options->train_s;
	plan->progress = on_progress;
	plan->progress_arg = (void *)retrainer->options;
	return 0;
}

static int save_model(const struct retrainer *retrainer, const struct forecaster *forecaster,
		      struct err *err)
{
	const struct retrainer_options *options = retrainer->options;
	int r = 0;

	if (options->makes_directory)
		r = place_make_parent(options->model_path, TRUSTED_DIRECTORY_MODE, err);
	return r < 0 ? r : forecaster_save(forecaster, options->model_path, err);
}

static int train_model(struct retrainer *retrainer, struct retrainer_check *check, struct err *err)
{
	struct forecast_data data = { 0 };
	struct forecaster fresh = { 0 };
	struct forecaster_plan plan;
	int r = make_plan(retrainer, check->now_s, &plan, err);

	if (r >= 0)
		r = open_data(retrainer, plan.labels.from_s, plan.labels.to_s, &data, err);
	if (r >= 0)
		r = forecaster_fit(&fresh, forecast_data_rows(&data), &data.site, &plan, err);
	forecast_data_close(&data);
	if (r < 0)
		return r;
	fresh.generation = retrainer->has_model ? retrainer->forecaster.generation + 1 : 1;
	fresh.made_s = (int64_t)check->now_s;
	r = save_model(retrainer, &fresh, err);
	if (r < 0) {
		forecaster_release(&fresh);
		return r;
	}
	forecaster_release(&retrainer->forecaster);
	retrainer->forecaster = fresh;
	retrainer->has_model = check->is_trained = true;
	return 0;
}

static int run_check(struct retrainer *retrainer, struct err *err)
{
	const struct retrainer_options *options = retrainer->options;
	const struct retraining *retraining = &retrainer->retraining;
	struct retrainer_check check = {
		.now_s = isnan(options->now_s) ? (double)time(NULL) : options->now_s,
		.forecaster = &retrainer->forecaster,
	};
	int r = retrainer->has_model ? score_forecasts(retrainer, &check, err) : 0;

	if (r < 0)
		return r;
	check.right = retraining->scored ? retraining->right / (double)retraining->scored : NAN;
	check.reason = retraining_due(retraining, check.now_s);
	if (check.reason != RETRAINING_NONE)
		r = train_model(retrainer, &check, err);
	if (r < 0)
		return r;
	if (check.is_trained)
		start_scoring(retrainer);
	if (options->on_check)
		options->on_check(options->arg, &check);
	return 0;
}

/* Sleeps in short steps, because a signal may arrive just before a step. */
static void wait_for_next_check(const struct retrainer_options *options)
{
	for (int64_t left_ns = options->every_ns; left_ns > 0 && !is_stopped(options);
	     left_ns -= NS_PER_S)
		clock_sleep_ns(i64_min(left_ns, NS_PER_S));
}

static int report_error(const struct retrainer_options *options, int r, const struct err *err)
{
	if (r < 0 && options->on_error)
		options->on_error(options->arg, err);
	return r;
}

int retrainer_run(const struct retrainer_options *options)
{
	struct retrainer retrainer = { .options = options };
	struct err err = { 0 };
	int r = report_error(options, load_model(&retrainer, &err), &err);

	if (r < 0)
		return r;
	start_scoring(&retrainer);
	do {
		err = (struct err){ 0 };
		r = report_error(options, run_check(&retrainer, &err), &err);
		if (options->is_once || is_stopped(options))
			break;
		wait_for_next_check(options);
	} while (!is_stopped(options));
	retraining_release(&retrainer.retraining);
	forecaster_release(&retrainer.forecaster);
	return is_stopped(options) ? 0 : r;
}
