/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice lab reproduce wan: Table I and Figures 4 to 12, on generated traces of Titan and Cori.
 * This file runs the experiments; wan_trace.c, wan_accuracy.c, wan_placement.c and wan_plots.c
 * present the results.
 */
#include "lab/reproduce/wan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/interrupt.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "base/place.h"
#include "learn/math/random.h"
#include "learn/math/vector.h"

#define DAY_S 86400.0
#define QUICK_DAYS 2.5
#define QUICK_TARGETS 4
#define CALIBRATION_FOLDS 2 /* of the forecasts for placement; few, to save time */
#define FOLDS 8
#define MODE_RISE 0.1 /* smaller rises of a histogram are noise */
#define TAIL_SHARE 0.95
#define GIB (1 << 30)

const char *const wan_sizes[WAN_SIZES] = { "1 MB", "64 MB", "256 MB", "1 GB" };
const double wan_train_shares[WAN_SPLITS] = { 0.8, 0.6, 0.4 };

const struct wan_paper wan_papers[WAN_SYSTEMS] = {
	{ .name = "titan",
	  .title = "Titan",
	  .modes_s = { 1.85, 2.7 },
	  .within_s = 2,
	  .span_s = 5,
	  .probe_span_s = 0.03,
	  .train_share = 0.8,
	  .bound = 0.7,
	  .per_day = 820,
	  .small = 0.18,
	  .nodes = { 1, 64, 17920 },
	  .memory_gb = { 0.001, 3.27, 3135.9 },
	  .hours = { 0.0014, 1.58, 28 },
	  .accuracy = "SVM is best, with a mean of 75 % and more than 70 % on most servers; random "
		      "forest is next" },
	{ .name = "cori",
	  .title = "Cori",
	  .modes_s = { 3.2, 4 },
	  .within_s = 3.5,
	  .span_s = 7,
	  .probe_span_s = 0.05,
	  .train_share = 0.5,
	  .bound = 0.9,
	  .per_day = 1340,
	  .small = NAN, /* the paper says "more than half" */
	  .nodes = { 1, 8, 5468 },
	  .memory_gb = { 1, 360, 492120 },
	  .hours = { 0.05, 1.95, 48 },
	  .accuracy = "SVM is best, with more than 90 % on most servers; boosting reaches about "
		      "80 %" },
};

double *wan_seconds(const struct wan *wan, size_t size, size_t *count)
{
	const struct chronicle *chronicle = &wan->generated.chronicle;
	size_t each = chronicle_series(chronicle, 0, size)->count, n = 0;
	double *seconds = xcalloc(each * chronicle->target_count + 1, sizeof(*seconds));

	for (size_t t = 0; t < chronicle->target_count; t++)
		for (size_t i = 0; i < each; i++)
			seconds[n++] = chronicle_series(chronicle, t, size)->seconds[i];
	qsort(seconds, n, sizeof(*seconds), vector_compare);
	*count = n;
	return seconds;
}

void wan_modes(struct wan_modes *modes, const double *seconds, size_t count, double span_s)
{
	size_t first = 0, second = 0;
	double lowest = INFINITY, rise = 0;

	*modes = (struct wan_modes){ .width_s = span_s / WAN_BINS, .second_s = NAN };
	for (size_t i = 0; i < count; i++)
		if (seconds[i] < span_s)
			modes->share[(size_t)fmin(seconds[i] / modes->width_s, WAN_BINS - 1)] +=
				1 / (double)count;
	for (size_t i = 0; i < WAN_BINS; i++)
		first = modes->share[i] > modes->share[first] ? i : first;
	for (size_t i = first; i < WAN_BINS; i++) {
		lowest = fmin(lowest, modes->share[i]);
		if (modes->share[i] - lowest > rise) {
			rise = modes->share[i] - lowest;
			second = i;
		}
	}
	modes->first_s = ((double)first + 0.5) * modes->width_s;
	if (rise > MODE_RISE * modes->share[second])
		modes->second_s = ((double)second + 0.5) * modes->width_s;
}

const struct judgment_case *wan_roc(const struct wan *wan, size_t which)
{
	for (size_t i = 0; i < wan->judged.case_count; i++)
		if (wan->judged.cases[i].size == WAN_1G && which-- == 0)
			return &wan->judged.cases[i];
	return NULL;
}

void wan_split(const struct wan *wan, double bound_s, struct wan_split *split)
{
	const struct steps *steps = &wan->steps;
	size_t count = steps->points * steps->targets;
	AUTO_FREE double *sorted = xcalloc(count + 1, sizeof(*sorted));
	double below[2] = { 0 }, called[2] = { 0 }, late = 0, late_busy = 0;

	memcpy(sorted, steps->seconds, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), vector_compare);
	*split = (struct wan_split){ .tail_s = sorted[(size_t)(TAIL_SHARE * (double)count)] };
	for (size_t i = 0; i < count; i++) {
		bool busy = steps->forecasts[i].busy > 0.5;

		called[busy]++;
		below[busy] += steps->seconds[i] < bound_s;
		late += steps->seconds[i] > split->tail_s;
		late_busy += busy && steps->seconds[i] > split->tail_s;
	}
	split->idle = called[0];
	split->busy = called[1];
	split->idle_below = below[0] / called[0];
	split->busy_below = below[1] / called[1];
	split->tail_recall = late_busy / late;
}

static double training_end_s(const struct wan *wan, double share)
{
	return SYSTEM_START_S + share * wan->days * DAY_S;
}

static int evaluate(struct wan *wan, struct judgment *judgment, const char *methods, uint64_t bytes,
		    double share, size_t folds, struct err *err)
{
	struct judgment_plan plan;
	int r;

	judgment_plan_init(&plan);
	plan.labels.from_s = SYSTEM_START_S;
	plan.labels.to_s = training_end_s(wan, share);
	plan.labels.seed = plan.seed = wan->args->seed;
	plan.methods = methods;
	plan.bytes = bytes;
	plan.folds = folds;
	plan.busy = wan->generated.busy;
	plan.progress = interrupt_show_progress;
	plan.progress_arg = &wan->progress;
	r = judgment_run(judgment, &wan->few, &wan->site, &plan, err);
	progress_end(&wan->progress);
	return r;
}

static int evaluate_all(struct wan *wan, struct err *err)
{
	static const char *const labels[WAN_SYSTEMS] = { "Titan: classifiers",
							 "Cori: classifiers" };
	bool is_titan = wan->paper == &wan_papers[WAN_TITAN];
	int r;

	progress_start(&wan->progress, labels[!is_titan], 0);
	r = evaluate(wan, &wan->judged, NULL, 0, wan->paper->train_share, 0, err);
	progress_start(&wan->progress,
		       is_titan ? "Titan: cross-validation" : "Cori: cross-validation", 0);
	if (r >= 0)
		r = evaluate(wan, &wan->folds, "svm,forest,logistic,persistence,majority", GIB,
			     wan->paper->train_share, FOLDS, err);
	for (size_t i = 0; is_titan && r >= 0 && i < WAN_SPLITS; i++) {
		progress_start(&wan->progress, "Titan: fewer training days", 0);
		r = evaluate(wan, &wan->splits[i], "svm", 0, wan_train_shares[i], 0, err);
	}
	return r;
}

/*
 * Makes views of the probes and the 1 GB writes of all targets. The caller frees view->series and
 * *busy, but not what they point to.
 */
static void view_large(const struct generated *generated, struct chronicle *view, uint8_t ***busy)
{
	size_t cells = generated->chronicle.target_count * CHRONICLE_SIZES;

	*view = generated->chronicle;
	view->size_count = 2;
	view->sizes[1] = view->sizes[WAN_1G];
	view->series = xcalloc(cells, sizeof(*view->series));
	*busy = xcalloc(cells, sizeof(**busy));
	for (size_t i = 0; i < cells; i += CHRONICLE_SIZES) {
		view->series[i] = generated->chronicle.series[i];
		view->series[i + 1] = generated->chronicle.series[i + WAN_1G];
		(*busy)[i] = generated->busy[i];
		(*busy)[i + 1] = generated->busy[i + WAN_1G];
	}
}

static int collect_steps(struct wan *wan, const struct chronicle *view, uint8_t **busy,
			 struct err *err)
{
	double to_s = training_end_s(wan, wan->paper->train_share);
	struct forecaster_plan plan;
	struct forecaster forecaster;
	struct features features;
	struct steps_origin origin = { .forecaster = &forecaster,
				       .features = &features,
				       .bytes = GIB,
				       .from_s = to_s,
				       .to_s = INFINITY,
				       .busy = busy,
				       .label_seed = wan->args->seed,
				       .threads = parallel_cores() };
	int r;

	forecaster_plan_init(&plan);
	plan.labels.from_s = SYSTEM_START_S;
	plan.labels.to_s = to_s;
	plan.labels.seed = plan.seed = wan->args->seed;
	plan.folds = CALIBRATION_FOLDS;
	plan.progress = interrupt_show_progress;
	plan.progress_arg = &wan->progress;
	progress_start(&wan->progress, "Titan: models of all targets", 0);
	r = forecaster_fit(&forecaster, view, &wan->site, &plan, err);
	progress_end(&wan->progress);
	if (r < 0)
		return r;
	features_init(&features, view, &wan->site, &plan.features);
	r = steps_gather(&wan->steps, &origin, err);
	features_release(&features);
	forecaster_release(&forecaster);
	return r;
}

/* Runs the placement simulation of the paper once and records each step. */
static int run_steps(struct wan *wan, struct err *err)
{
	const struct steps *steps = &wan->steps;
	AUTO_FREE double *shares = xcalloc(steps->targets, sizeof(*shares));
	AUTO_FREE bool *busy = xcalloc(steps->targets, sizeof(*busy));
	struct random random;
	int r = 0;

	random_init(&random, wan->args->seed);
	wan->run.count = WAN_POINTS;
	for (size_t i = 0; i < WAN_POINTS; i++) {
		size_t at = random_below(&random, steps->points) * steps->targets;

		for (size_t t = 0; t < steps->targets; t++)
			busy[t] = steps->forecasts[at + t].busy > 0.5;
		for (int rule = 0; rule < PLACEMENT_RULES && r >= 0; rule++) {
			struct placement_result result;

			r = placement_shares((enum placement_rule)rule, steps->forecasts + at,
					     steps->targets, NULL, shares, err);
			if (r < 0)
				return r;
			placement_evaluate(shares, busy, steps->seconds + at, steps->targets, 0,
					   &result);
			for (size_t m = 0; m < PLACEMENT_METRICS; m++)
				wan->run.seconds[i][rule][m] = placement_metric(&result, m);
		}
	}
	return 0;
}

static int simulate_placement(struct wan *wan, struct err *err)
{
	struct steps_plan plan = { .seed = wan->args->seed, .threads = parallel_cores() };
	struct chronicle view;
	uint8_t **busy;
	int r;

	view_large(&wan->generated, &view, &busy);
	r = collect_steps(wan, &view, busy, err);
	free(view.series);
	free(busy);
	if (r >= 0)
		r = run_steps(wan, err);
	if (r >= 0)
		r = steps_run(&wan->steps, &plan, &wan->rows, err);
	if (r >= 0)
		wan->row_count = (size_t)r;
	return r;
}

static int generate_system(struct wan *wan, struct err *err)
{
	const struct wan_args *args = wan->args;
	struct system_request wish = { .seed = args->seed, .threads = parallel_cores() };
	size_t few = args->max_targets;
	int r;

	if (args->quick) {
		wish.days = fmin(system_days(wan->system), QUICK_DAYS);
		wish.targets = QUICK_TARGETS;
	}
	wan->days = wish.days > 0 ? wish.days : system_days(wan->system);
	r = system_generate(&wan->generated, wan->system, &wish, err);
	if (r < 0)
		return r;
	wan->few = wan->generated.chronicle;
	if (!args->full && few < wan->few.target_count)
		wan->few.target_count = few;
	return 0;
}

static void wan_close(struct wan *wan)
{
	judgment_release(&wan->judged);
	judgment_release(&wan->folds);
	for (size_t i = 0; i < WAN_SPLITS; i++)
		judgment_release(&wan->splits[i]);
	steps_release(&wan->steps);
	free(wan->rows);
	generated_release(&wan->generated);
	site_release(&wan->site);
	system_close(wan->system);
	*wan = (struct wan){ 0 };
}

/* Runs all experiments on one system. On failure there is nothing to close. */
static int wan_open(struct wan *wan, const struct wan_args *args, size_t system, struct err *err)
{
	int r;

	*wan = (struct wan){ .args = args, .paper = &wan_papers[system] };
	site_init(&wan->site);
	r = system_open(&wan->system, wan->paper->name, err);
	if (r >= 0)
		r = site_load(&wan->site, wan->paper->name, err);
	if (r >= 0)
		r = generate_system(wan, err);
	if (r >= 0)
		r = evaluate_all(wan, err);
	if (r >= 0 && system == WAN_TITAN)
		r = simulate_placement(wan, err);
	if (r < 0)
		wan_close(wan);
	return r;
}

static int reproduce_systems(const struct wan_args *args, struct reproduce_output *output,
			     struct err *err)
{
	struct wan *systems = xcalloc(WAN_SYSTEMS, sizeof(*systems));
	int r = 0;

	for (size_t i = 0; i < WAN_SYSTEMS && r >= 0; i++)
		r = wan_open(&systems[i], args, i, err);
	if (r >= 0) {
		wan_add_trace(output, systems);
		wan_add_accuracy(output, systems);
		wan_add_placement(output, &systems[WAN_TITAN]);
	}
	if (r >= 0 && args->plots)
		r = wan_plots(systems, args->plots, err);
	for (size_t i = 0; i < WAN_SYSTEMS; i++)
		wan_close(&systems[i]);
	free(systems);
	return r;
}

static int wan_run(struct command *command)
{
	const struct wan_args *args = command->args;
	struct reproduce_output output;
	struct err err = { 0 };
	int r;

	if (args->max_targets < WAN_ROCS)
		return command_misuse(command, "--max-targets must be at least %d", WAN_ROCS);
	if (args->plots && place_make_dir(args->plots, 0777, &err) < 0)
		return command_fail(command, "%s", err.text);
	reproduce_start(&output, args->json, args->seed, NULL);
	r = reproduce_systems(args, &output, &err);
	return reproduce_finish(command, &output, r, &err);
}

static const struct option wan_options[] = {
	{ 0, "max-targets", "N", "12", "compare classifiers on the first N targets of each system",
	  OPTION_COUNT, offsetof(struct wan_args, max_targets) },
	{ 0, "full", NULL, NULL, "compare classifiers on all targets", OPTION_FLAG,
	  offsetof(struct wan_args, full) },
	{ 0, "quick", NULL, NULL,
	  "simulate two and a half days and four targets; the numbers are not meaningful",
	  OPTION_FLAG, offsetof(struct wan_args, quick) },
	REPRODUCE_PLOTS(wan_args),
	REPRODUCE_SEED(wan_args),
	REPRODUCE_JSON(wan_args),
	{ 0 }
};

const struct command_ops command_wan = {
	.name = "wan",
	.help = "reproduce forecasts of busy storage targets (Wan et al., 2019)",
	.about = "Computes Table I and Figures 4 to 12 of the paper on generated traces of Titan "
		 "and "
		 "Cori, with baselines and upper limits. Classifiers are compared on --max-targets "
		 "targets of each system. For placement, every target of Titan gets a model. This "
		 "takes a minute or two.\n\n"
		 "  sluice lab reproduce wan --plots figures\n"
		 "  sluice lab reproduce wan --full --json",
	.options = wan_options,
	.args_bytes = sizeof(struct wan_args),
	.run = wan_run,
};
