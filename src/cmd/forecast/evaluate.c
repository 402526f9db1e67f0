/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice forecast evaluate: all methods and baselines, trained on the first days, judged in folds
 * and on the days after.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/date.h"
#include "base/interrupt.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/term.h"
#include "base/unit.h"
#include "cli/sheet.h"
#include "cli/window.h"
#include "cmd/forecast/forecast.h"
#include "cmd/forecast/forecast_internal.h"
#include "learn/judge/metrics.h"
#include "predict/forecast/states/forecaster.h"

#define FIELD(name) offsetof(struct forecast_args, name)

static const struct option evaluate_options[] = {
	OPTION_INCLUDE(forecast_data_options, 0),
	OPTION_INCLUDE(forecast_simulated_options, 0),
	OPTION_INCLUDE(forecast_range_options, 0),
	{ 0, "days", "DAYS", NULL,
	  "train on the first DAYS days and test on the others (default 80 %)", OPTION_TEXT,
	  FIELD(days) },
	{ 0, "method", "METHODS", "svm", "methods to compare, separated by commas, or all",
	  OPTION_TEXT, FIELD(method) },
	{ 's', "size", "SIZE", NULL, "consider only writes of this size", OPTION_SIZE,
	  FIELD(size) },
	{ 0, "min-accuracy", "SHARE", "0.7", "count the targets whose accuracy exceeds this",
	  OPTION_TEXT, FIELD(min_accuracy) },
	{ 0, "per-target", NULL, NULL, "also show each target", OPTION_FLAG, FIELD(per_target) },
	{ 0, "csv", "FILE", NULL, "write the rows with their labels, folds and features",
	  OPTION_TEXT, FIELD(csv) },
	OPTION_INCLUDE(forecast_training_options, 0),
	OPTION_INCLUDE(forecast_json_options, 0),
	{ 0 }
};

#undef FIELD

static const struct sheet_column method_columns[] = {
	{ "method", "method", 0 },	{ ">shuffled", "shuffled_accuracy", 3 },
	{ ">AUC", "shuffled_auc", 3 },	{ ">blocked", "blocked_accuracy", 3 },
	{ ">AUC", "blocked_auc", 3 },	{ ">later", "accuracy", 3 },
	{ ">AUC", "auc", 3 },		{ ">q1", "quartile", 3 },
	{ ">q3", "upper_quartile", 3 }, { ">above", "above", 3 },
	{ ">Brier", "brier", 3 },	{ ">off by", "calibration_error", 3 },
	{ ">state", "latent", 3 },	{ ">fit ms", "fit_ms", 2 },
	{ ">ask us", "ask_us", 2 },	{ 0 },
};

#define CELL(name) offsetof(struct judgement_cell, name)

static double mean_of(const struct judgement *judgement, size_t size, size_t method, size_t offset)
{
	struct judgement_sum sum;

	judgement_sum(judgement, size, method, offset, 0, &sum);
	return sum.mean;
}

static void method_add(struct sheet *sheet, const struct evaluated *evaluated, size_t size,
		       size_t method)
{
	static const size_t before[] = { CELL(shuffled_accuracy), CELL(shuffled_auc),
					 CELL(blocked_accuracy), CELL(blocked_auc) };
	const struct judgement *judgement = &evaluated->judgement;
	struct judgement_sum sum;

	judgement_sum(judgement, size, method, CELL(accuracy), evaluated->bound, &sum);
	sheet_text(sheet, "%s", judgement_method(method));
	for (size_t i = 0; i < 4; i++)
		sheet_number(sheet, mean_of(judgement, size, method, before[i]));
	sheet_number(sheet, sum.mean);
	sheet_number(sheet, mean_of(judgement, size, method, CELL(auc)));
	sheet_number(sheet, sum.quartile);
	sheet_number(sheet, sum.upper_quartile);
	sheet_number(sheet, sum.above);
	sheet_number(sheet, mean_of(judgement, size, method, CELL(brier)));
	sheet_number(sheet, mean_of(judgement, size, method, CELL(calibration_error)));
	sheet_number(sheet, mean_of(judgement, size, method, CELL(latent)));
	sheet_number(sheet, 1e3 * mean_of(judgement, size, method, CELL(fit_s)));
	sheet_number(sheet, 1e6 * mean_of(judgement, size, method, CELL(ask_s)));
}

static double case_mean(const struct judgement *judgement, size_t size, size_t offset)
{
	struct judgement_sum sum;

	judgement_sum_cases(judgement, size, offset, 0, &sum);
	return sum.mean;
}

static void size_sheet(struct sheet *sheet, const struct evaluated *evaluated, size_t size,
		       char *title, size_t cap)
{
	const struct judgement *judgement = &evaluated->judgement;
	double truth = case_mean(judgement, size, offsetof(struct judgement_case, label_truth));
	char text[UNIT_TEXT];

	snprintf(title, cap, "%s: accuracy, mean over targets",
		 unit_bytes(text, (double)evaluated->chronicle->sizes[size]));
	sheet_init(sheet, "methods", title, method_columns);
	for (size_t m = 0; m < JUDGEMENT_METHODS; m++)
		if (judgement->methods[m])
			method_add(sheet, evaluated, size, m);
	sheet_note(sheet, "ceiling of the labels: %.3f in training, %.3f later",
		   case_mean(judgement, size, offsetof(struct judgement_case, train_ceiling)),
		   case_mean(judgement, size, offsetof(struct judgement_case, ceiling)));
	if (!isnan(truth))
		sheet_note(sheet, "labels are the true state in %.3f of later writes", truth);
}

/* ---- predicted idle and busy (Fig. 8) ---- */

static const struct sheet_column split_columns[] = {
	{ "size", "bytes", 0 },
	{ "method", "method", 0 },
	{ ">idle", "idle", 0 },
	{ ">busy", "busy", 0 },
	{ ">p95 s", "tail_s", 3 },
	{ ">above it called busy", "tail_recall", 3 },
	{ ">bound s", "bound_s", 3 },
	{ ">idle below", "idle_below", 3 },
	{ ">busy below", "busy_below", 3 },
	{ 0 },
};

/* Between the two means writes are as likely of one state as of the other, about. */
static double bound_of(const struct evaluated *evaluated, size_t size)
{
	const struct mixture *mixture = states_mixture(&evaluated->judgement.states, 0, size);

	if (!mixture)
		return NAN;
	return exp((mixture->components[0].first * mixture->components[1].second +
		    mixture->components[1].first * mixture->components[0].second) /
		   (mixture->components[0].second + mixture->components[1].second));
}

static void split_add(struct sheet *sheet, const struct evaluated *evaluated, size_t size,
		      size_t method)
{
	double bound = bound_of(evaluated, size);
	struct judgement_split split;
	char text[UNIT_TEXT];

	judgement_split(&evaluated->judgement, size, method, bound, &split);
	if (!(split.idle + split.busy))
		return;
	sheet_text(sheet, "%s", unit_bytes(text, (double)evaluated->chronicle->sizes[size]));
	sheet_text(sheet, "%s", judgement_method(method));
	sheet_number(sheet, (double)split.idle);
	sheet_number(sheet, (double)split.busy);
	sheet_number(sheet, split.tail_s);
	sheet_number(sheet, split.tail_recall);
	sheet_number(sheet, bound);
	sheet_number(sheet, split.idle_below);
	sheet_number(sheet, split.busy_below);
}

static void split_sheet(struct sheet *sheet, const struct evaluated *evaluated)
{
	sheet_init(sheet, "split", "later writes by the state that was forecast", split_columns);
	for (size_t s = 1; s < evaluated->chronicle->size_count; s++)
		for (size_t m = 0; m <= JUDGEMENT_PERSISTENCE; m++)
			if (evaluated->judgement.methods[m])
				split_add(sheet, evaluated, s, m);
	sheet_note(sheet, "p95: of all later write times; above it: share of such writes that were "
			  "called busy. bound: between idle and busy.");
}

/* ---- do chances mean what they say? ---- */

static const struct sheet_column bin_columns[] = {
	{ "size", "bytes", 0 },		{ "method", "method", 0 },  { ">said", "said", 3 },
	{ ">happened", "happened", 3 }, { ">writes", "writes", 0 }, { 0 },
};

enum { BINS = 10 };

static void bins_add(struct sheet *sheet, const struct evaluated *evaluated, size_t size,
		     size_t method)
{
	AUTO_FREE double *labels = NULL, *chances = NULL;
	size_t rows = judgement_pool(&evaluated->judgement, size, method, &labels, &chances);
	struct metrics_bin bins[BINS];
	char text[UNIT_TEXT];

	if (!rows)
		return;
	metrics_reliability(labels, chances, rows, bins, BINS);
	for (size_t i = 0; i < BINS; i++) {
		if (!bins[i].count)
			continue;
		sheet_text(sheet, "%s",
			   unit_bytes(text, (double)evaluated->chronicle->sizes[size]));
		sheet_text(sheet, "%s", judgement_method(method));
		sheet_number(sheet, bins[i].predicted);
		sheet_number(sheet, bins[i].observed);
		sheet_number(sheet, (double)bins[i].count);
	}
}

static void bins_sheet(struct sheet *sheet, const struct evaluated *evaluated)
{
	size_t first = 0;

	while (first + 1 < JUDGEMENT_METHODS && !evaluated->judgement.methods[first])
		first++;
	sheet_init(sheet, "reliability", "how often busy was said and how often it was",
		   bin_columns);
	for (size_t s = 1; s < evaluated->chronicle->size_count; s++)
		bins_add(sheet, evaluated, s, first);
}

static const struct sheet_column target_columns[] = {
	{ "target", "target", 0 },
	{ ">size", "bytes", 0 },
	{ "method", "method", 0 },
	{ ">rows", "rows", 0 },
	{ ">shuffled", "shuffled_accuracy", 4 },
	{ ">AUC", "shuffled_auc", 4 },
	{ ">blocked", "blocked_accuracy", 4 },
	{ ">AUC", "blocked_auc", 4 },
	{ ">test", "test", 0 },
	{ ">later", "accuracy", 4 },
	{ ">AUC", "auc", 4 },
	{ ">ceiling", "ceiling", 4 },
	{ ">state", "latent", 4 },
	{ 0 },
};

static void target_add(struct sheet *sheet, const struct evaluated *evaluated,
		       const struct judgement_case *judged, size_t method)
{
	const struct judgement_cell *cell = &judged->cells[method];

	sheet_text(sheet, "%s", evaluated->chronicle->targets[judged->target]);
	sheet_number(sheet, (double)evaluated->chronicle->sizes[judged->size]);
	sheet_text(sheet, "%s", judgement_method(method));
	sheet_number(sheet, (double)judged->train);
	sheet_number(sheet, cell->shuffled_accuracy);
	sheet_number(sheet, cell->shuffled_auc);
	sheet_number(sheet, cell->blocked_accuracy);
	sheet_number(sheet, cell->blocked_auc);
	sheet_number(sheet, (double)judged->test);
	sheet_number(sheet, cell->accuracy);
	sheet_number(sheet, cell->auc);
	sheet_number(sheet, judged->ceiling);
	sheet_number(sheet, cell->latent);
}

static void target_sheet(struct sheet *sheet, const struct evaluated *evaluated)
{
	const struct judgement *judgement = &evaluated->judgement;

	sheet_init(sheet, "targets", "each target", target_columns);
	for (size_t i = 0; i < judgement->case_count; i++)
		for (size_t m = 0; m < JUDGEMENT_METHODS; m++)
			if (judgement->methods[m])
				target_add(sheet, evaluated, &judgement->cases[i], m);
}

static void sheet_show(struct sheet *sheet, struct json *json)
{
	if (json) {
		sheet_json(sheet, json);
	} else {
		sheet_print(sheet, stdout);
		putchar('\n');
	}
	sheet_release(sheet);
}

static bool has_size(const struct judgement *judgement, size_t size)
{
	for (size_t i = 0; i < judgement->case_count; i++)
		if (judgement->cases[i].size == size)
			return true;
	return false;
}

static void sheets_show(const struct evaluated *evaluated, bool each, struct json *json)
{
	struct sheet sheet;
	char title[96];

	for (size_t s = 1; s < evaluated->chronicle->size_count; s++) {
		if (!has_size(&evaluated->judgement, s))
			continue;
		size_sheet(&sheet, evaluated, s, title, sizeof(title));
		sheet_show(&sheet, json);
	}
	split_sheet(&sheet, evaluated);
	sheet_show(&sheet, json);
	bins_sheet(&sheet, evaluated);
	sheet_show(&sheet, json);
	if (each) {
		target_sheet(&sheet, evaluated);
		sheet_show(&sheet, json);
	}
}

static void evaluated_show(const struct forecast_args *args, const struct evaluated *evaluated)
{
	const struct judgement *judgement = &evaluated->judgement;
	char from[DATE_TEXT], to[DATE_TEXT], end[DATE_TEXT];
	struct json json;

	if (args->json) {
		json_start(&json, stdout, FORECAST_SCHEMA);
		json_text(&json, "system", evaluated->chronicle->system);
		json_real(&json, "from", judgement->from_s);
		json_real(&json, "to", judgement->to_s);
		json_real(&json, "test_to", judgement->test_to_s);
		json_count(&json, "cases", judgement->case_count);
		json_count(&json, "seed", args->seed);
		json_real(&json, "bound", evaluated->bound);
		json_open(&json, "sheets", '[');
		sheets_show(evaluated, args->per_target, &json);
		json_end(&json);
		return;
	}
	printf("%s, trained from %s to %s, tested until %s UTC\n\n", evaluated->chronicle->system,
	       date_text(from, judgement->from_s), date_text(to, judgement->to_s),
	       date_text(end, judgement->test_to_s));
	sheets_show(evaluated, args->per_target, NULL);
	printf("shuffled: folds as in the paper, which are optimistic because neighbors in time "
	       "are "
	       "alike. blocked: folds are blocks of time.\nlater: days after the training; blocked "
	       "and later are realistic. above: share of targets whose later accuracy exceeds "
	       "%.2f.\noff by: mean difference between probability and outcome. state: accuracy "
	       "against the true state, where it is known.\n",
	       evaluated->bound);
}

/* Trains on the first days: those of --days, else 80 % of the time. */
static int choose_windows(const struct command *command, const struct forecast_args *args,
			  const struct chronicle *chronicle, struct judgement_plan *plan)
{
	double days, from = 0, to = 0, wanted_from, wanted_to;
	int ret = window_days(command, args->days, &days);

	if (!ret)
		ret = window_take(command, args->since, args->until, &wanted_from, &wanted_to);
	if (ret)
		return ret;
	chronicle_span(chronicle, &from, &to);
	plan->labels.from_s = fmax(from, wanted_from);
	plan->test_to_s = fmin(nextafter(to, INFINITY), wanted_to);
	if (isnan(days))
		days = 0.8 * (plan->test_to_s - plan->labels.from_s);
	plan->labels.to_s = plan->labels.from_s + days;
	if (!(plan->labels.to_s < plan->test_to_s))
		return command_misuse(command, "--days leaves no data to test on");
	return COMMAND_GOOD;
}

static int make_plan(const struct command *command, const struct forecast_args *args,
		     const struct forecast_data *source, struct judgement_plan *plan)
{
	struct forecast_args wish = *args;
	struct forecaster_plan common;
	int ret;

	wish.method = "svm"; /* the list of methods is judged below */
	ret = forecast_plan(command, &wish, "paper", &common);
	if (ret)
		return ret;
	judgement_plan_init(plan);
	plan->features = common.features;
	plan->labels = common.labels;
	plan->methods = args->method;
	plan->bytes = args->size == OPTION_NONE ? 0 : args->size;
	plan->folds = common.folds;
	plan->seed = common.seed;
	plan->threads = common.threads;
	plan->busy = source->is_generated ? source->generated.busy : NULL;
	return choose_windows(command, args, forecast_data_rows(source), plan);
}

static int parse_min_accuracy(const struct command *command, const struct forecast_args *args,
			      double *bound)
{
	char *end;

	*bound = strtod(args->min_accuracy, &end);
	if (end == args->min_accuracy || *end || !(*bound > 0 && *bound < 1))
		return command_misuse(
			command, "--min-accuracy: expected a number between 0 and 1, got \"%s\"",
			args->min_accuracy);
	return COMMAND_GOOD;
}

static int run_evaluation(const struct command *command, const struct forecast_args *args,
			  const struct forecast_data *source, struct judgement_plan *plan,
			  struct evaluated *evaluated)
{
	size_t *some = NULL, all = evaluated->chronicle->target_count;
	struct progress progress;
	struct err err = { 0 };
	struct interrupt stop;
	int r;

	/* Choose targets evenly, because neighbors may be alike. */
	if (args->max_targets != OPTION_NONE && args->max_targets && args->max_targets < all) {
		some = xmalloc(args->max_targets * sizeof(*some));
		for (size_t i = 0; i < args->max_targets; i++)
			some[i] = i * all / args->max_targets;
		plan->targets = some;
		plan->target_count = args->max_targets;
	}
	plan->progress = interrupt_show_progress;
	plan->progress_arg = &progress;
	progress_start(&progress, "judging", 0);
	interrupt_catch(&stop);
	r = judgement_run(&evaluated->judgement, evaluated->chronicle, &source->site, plan, &err);
	interrupt_restore(&stop);
	progress_end(&progress);
	plan->progress_arg = NULL;
	plan->targets = NULL;
	free(some);
	if (r == -EINVAL)
		return command_misuse(command, "--method: %s", err.text);
	return r < 0 ? forecast_fail(command, r, &err) : COMMAND_GOOD;
}

static int evaluate_run(struct command *command)
{
	const struct forecast_args *args = command->args;
	struct forecast_data source = { 0 };
	struct evaluated evaluated = { 0 };
	struct judgement_plan plan = { 0 };
	int ret = parse_min_accuracy(command, args, &evaluated.bound);

	if (!ret)
		ret = forecast_open(command, args, -INFINITY, INFINITY, &source);
	evaluated.chronicle = forecast_data_rows(&source);
	if (!ret)
		ret = make_plan(command, args, &source, &plan);
	if (!ret)
		ret = run_evaluation(command, args, &source, &plan, &evaluated);
	if (!ret && args->csv)
		ret = forecast_csv(command, args, &evaluated, &source.site, &plan);
	if (!ret) {
		evaluated_show(args, &evaluated);
		ret = command_finish(command);
	}
	judgement_release(&evaluated.judgement);
	forecast_data_close(&source);
	return ret;
}

const struct command_ops command_forecast_evaluate = {
	.name = "evaluate",
	.help = "compare methods on past data",
	.about = "  sluice forecast evaluate --method all --days 8",
	.options = evaluate_options,
	.args_bytes = sizeof(struct forecast_args),
	.run = evaluate_run,
};
