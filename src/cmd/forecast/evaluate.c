/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice forecast evaluate: trains methods and baselines on the first days, and evaluates them by
 * cross-validation and on the remaining days.
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
	{ 0, "method", "METHODS", "svm",
	  "learning methods to compare, separated by commas; all: all but auto, which averages "
	  "three methods or chooses one for each target",
	  OPTION_TEXT, FIELD(method) },
	{ 0, "days", "DAYS", NULL,
	  "train on the first DAYS days and test on the others (default: 80% of the time)",
	  OPTION_TEXT, FIELD(days) },
	{ 's', "size", "SIZE", NULL, "size of one write: evaluate only this size (default: all)",
	  OPTION_SIZE, FIELD(size) },
	{ 0, "min-accuracy", "SHARE", "0.7",
	  "report the share of targets with a higher test accuracy", OPTION_TEXT,
	  FIELD(min_accuracy) },
	{ 0, "per-target", NULL, NULL, "add a table with one row per target", OPTION_FLAG,
	  FIELD(per_target) },
	{ 0, "contributions", NULL, NULL,
	  "also evaluate the first classifier without each group of features in turn", OPTION_FLAG,
	  FIELD(contributions) },
	{ 0, "same-round", NULL, NULL,
	  "let the forecast for a write use the probe of its own round, as in the paper (default: "
	  "only probes of earlier rounds, with their real age)",
	  OPTION_FLAG, FIELD(same_round) },
	{ 0, "csv", "FILE", NULL, "write all rows with labels, folds, features and scores to FILE",
	  OPTION_TEXT, FIELD(csv) },
	OPTION_INCLUDE(forecast_data_options, 0),
	{ 0, "simulate", "NAME", NULL,
	  "use the simulated system NAME, such as titan, instead of the store", OPTION_TEXT,
	  FIELD(simulate) },
	{ 0, "max-targets", "N", NULL, "use only N targets, chosen evenly", OPTION_COUNT,
	  FIELD(max_targets) },
	OPTION_INCLUDE(forecast_range_options, 0),
	FORECAST_FEATURES_OPTION("paper"),
	OPTION_INCLUDE(forecast_training_options, 0),
	OPTION_INCLUDE(forecast_json_options, 0),
	{ 0 }
};

#undef FIELD

static const struct sheet_column method_columns[] = {
	{ "method", "method", 0 },
	{ ">~shuffled", "shuffled_accuracy", 3 },
	{ ">AUC", "shuffled_auc", 3 },
	{ ">blocked", "blocked_accuracy", 3 },
	{ ">AUC", "blocked_auc", 3 },
	{ ">test", "accuracy", 3 },
	{ ">AUC", "auc", 3 },
	{ ">q1", "quartile", 3 },
	{ ">q3", "upper_quartile", 3 },
	{ ">good", "above", 3 },
	{ ">Brier", "brier", 3 },
	{ ">log loss", "log_loss", 3 },
	{ ">calibration", "calibration_error", 3 },
	{ ">true state", "latent", 3 },
	{ ">fit ms", "fit_ms", 2 },
	{ ">predict us", "ask_us", 2 },
	{ 0 },
};

#define CELL(name) offsetof(struct judgment_cell, name)

static double mean_over_targets(const struct judgment *judgment, size_t size, size_t method,
				size_t offset)
{
	struct judgment_sum sum;

	judgment_sum(judgment, size, method, offset, 0, &sum);
	return sum.mean;
}

static void add_method(struct sheet *sheet, const struct evaluated *evaluated, size_t size,
		       size_t method)
{
	static const size_t before[] = { CELL(shuffled_accuracy), CELL(shuffled_auc),
					 CELL(blocked_accuracy), CELL(blocked_auc) };
	const struct judgment *judgment = &evaluated->judgment;
	struct judgment_sum sum;

	judgment_sum(judgment, size, method, CELL(accuracy), evaluated->min_accuracy, &sum);
	sheet_text(sheet, "%s", judgment_method(method));
	for (size_t i = 0; i < 4; i++)
		sheet_number(sheet, mean_over_targets(judgment, size, method, before[i]));
	sheet_number(sheet, sum.mean);
	sheet_number(sheet, mean_over_targets(judgment, size, method, CELL(auc)));
	sheet_number(sheet, sum.quartile);
	sheet_number(sheet, sum.upper_quartile);
	sheet_number(sheet, sum.above);
	sheet_number(sheet, mean_over_targets(judgment, size, method, CELL(brier)));
	sheet_number(sheet, mean_over_targets(judgment, size, method, CELL(log_loss)));
	sheet_number(sheet, mean_over_targets(judgment, size, method, CELL(calibration_error)));
	sheet_number(sheet, mean_over_targets(judgment, size, method, CELL(latent)));
	sheet_number(sheet, 1e3 * mean_over_targets(judgment, size, method, CELL(fit_s)));
	sheet_number(sheet, 1e6 * mean_over_targets(judgment, size, method, CELL(ask_s)));
}

static double mean_over_cases(const struct judgment *judgment, size_t size, size_t offset)
{
	struct judgment_sum sum;

	judgment_sum_cases(judgment, size, offset, 0, &sum);
	return sum.mean;
}

static void note_preferred_states(struct sheet *sheet, const struct judgment *judgment, size_t size)
{
	size_t single = 0, more = 0, cases = 0;

	for (size_t i = 0; i < judgment->case_count; i++) {
		const struct judgment_case *judged = &judgment->cases[i];
		size_t count = states_preferred(&judgment->states, judged->target, judged->size);

		cases += judged->size == size;
		single += judged->size == size && count == 1;
		more += judged->size == size && count > 2;
	}
	if (single)
		sheet_note(sheet,
			   "BIC prefers a single state for %zu of %zu targets: there is nothing to "
			   "forecast but random variation",
			   single, cases);
	if (more)
		sheet_note(sheet, "BIC prefers more than two states for %zu of %zu targets", more,
			   cases);
}

/* How old the probes were, and how many writes of the test timed out. */
static void note_tested_writes(struct sheet *sheet, const struct judgment *judgment, size_t size)
{
	double age_s = mean_over_cases(judgment, size, offsetof(struct judgment_case, probe_age_s));
	size_t writes = 0, timeouts = 0, programs = 0;

	for (size_t i = 0; i < judgment->case_count; i++) {
		if (judgment->cases[i].size != size)
			continue;
		writes += judgment->cases[i].test;
		timeouts += judgment->cases[i].timeouts;
		programs += judgment->cases[i].programs;
	}
	sheet_note(sheet, "%zu of %zu writes of the test timed out; they count as busy", timeouts,
		   writes);
	if (programs)
		sheet_note(sheet, "%zu of them are those of programs (sluice run --place)",
			   programs);
	if (judgment->ignores_programs)
		sheet_note(sheet, "writes of programs are ignored");
	if (!isnan(age_s))
		sheet_note(sheet, "a forecast used probes that were %.0f s old, median per target",
			   age_s);
}

/* How often the choice took which method. */
static void note_choices(struct sheet *sheet, const struct judgment *judgment, size_t size)
{
	AUTO_BUF struct buf text = { 0 };

	for (size_t i = 0; judgment->methods[JUDGMENT_AUTO] && i < judgment->case_count; i++) {
		const struct judgment_case *judged = &judgment->cases[i];
		const char *chosen = judged->cells[JUDGMENT_AUTO].chosen;
		size_t count = 0, before = 0;

		for (size_t j = 0; j < judgment->case_count; j++) {
			const char *other = judgment->cases[j].cells[JUDGMENT_AUTO].chosen;
			bool same = chosen && other && strcmp(chosen, other) == 0 &&
				    judgment->cases[j].size == size;

			count += same;
			before += same && j < i;
		}
		if (judged->size == size && chosen && !before)
			buf_printf(&text, "%s%s %zu", text.len ? ", " : "", chosen, count);
	}
	if (text.len)
		sheet_note(sheet, "auto chose: %s; shares: no method was better on later blocks",
			   buf_text(&text));
}

static void fill_methods(struct sheet *sheet, const struct evaluated *evaluated, size_t size,
			 char *title, size_t cap)
{
	const struct judgment *judgment = &evaluated->judgment;
	double truth = mean_over_cases(judgment, size, offsetof(struct judgment_case, label_truth));
	char text[UNIT_TEXT];

	snprintf(title, cap, "%s: accuracy, mean over targets",
		 unit_bytes(text, (double)evaluated->chronicle->sizes[size]));
	sheet_init(sheet, "methods", title, method_columns);
	for (size_t m = 0; m < JUDGMENT_METHODS; m++)
		if (judgment->methods[m])
			add_method(sheet, evaluated, size, m);
	sheet_note(sheet,
		   "ceiling: no method can be more accurate than %.3f in training and %.3f in the "
		   "test",
		   mean_over_cases(judgment, size, offsetof(struct judgment_case, train_ceiling)),
		   mean_over_cases(judgment, size, offsetof(struct judgment_case, ceiling)));
	note_tested_writes(sheet, judgment, size);
	note_choices(sheet, judgment, size);
	note_preferred_states(sheet, judgment, size);
	if (!isnan(truth))
		sheet_note(sheet, "%.1f %% of the labels in the test are the true state",
			   100 * truth);
}

static const struct sheet_column split_columns[] = {
	{ "size", "bytes", 0 },
	{ "method", "method", 0 },
	{ ">~idle", "idle", 0 },
	{ ">busy", "busy", 0 },
	{ ">p95 s", "tail_s", 3 },
	{ ">recall", "tail_recall", 3 },
	{ ">threshold s", "bound_s", 3 },
	{ ">idle below", "idle_below", 3 },
	{ ">busy below", "busy_below", 3 },
	{ 0 },
};

/* The write time at which idle and busy are about equally likely; NAN if there are no states. */
static double state_threshold(const struct evaluated *evaluated, size_t size)
{
	const struct mixture *mixture = states_mixture(&evaluated->judgment.states, 0, size);

	if (!mixture)
		return NAN;
	return exp((mixture->components[0].first * mixture->components[1].second +
		    mixture->components[1].first * mixture->components[0].second) /
		   (mixture->components[0].second + mixture->components[1].second));
}

static void add_split(struct sheet *sheet, const struct evaluated *evaluated, size_t size,
		      size_t method)
{
	double threshold = state_threshold(evaluated, size);
	struct judgment_split split;
	char text[UNIT_TEXT];

	judgment_split(&evaluated->judgment, size, method, threshold, &split);
	if (!(split.idle + split.busy))
		return;
	sheet_text(sheet, "%s", unit_bytes(text, (double)evaluated->chronicle->sizes[size]));
	sheet_text(sheet, "%s", judgment_method(method));
	sheet_number(sheet, (double)split.idle);
	sheet_number(sheet, (double)split.busy);
	sheet_number(sheet, split.tail_s);
	sheet_number(sheet, split.tail_recall);
	sheet_number(sheet, threshold);
	sheet_number(sheet, split.idle_below);
	sheet_number(sheet, split.busy_below);
}

static void fill_splits(struct sheet *sheet, const struct evaluated *evaluated)
{
	sheet_init(sheet, "split", "writes of the test by predicted state", split_columns);
	for (size_t s = 1; s < evaluated->chronicle->size_count; s++)
		for (size_t m = 0; m <= JUDGMENT_PERSISTENCE; m++)
			if (evaluated->judgment.methods[m])
				add_split(sheet, evaluated, s, m);
	sheet_note(sheet, "p95: 95th percentile of the write times; recall: share of slower "
			  "writes that were predicted as busy");
	sheet_note(sheet, "threshold: write time between idle and busy; idle below, busy below: "
			  "share of writes predicted as idle or busy that were faster");
}

static const struct sheet_column bin_columns[] = {
	{ "size", "bytes", 0 },		{ "method", "method", 0 },  { ">~predicted", "said", 3 },
	{ ">observed", "happened", 3 }, { ">writes", "writes", 0 }, { 0 },
};

static void add_bins(struct sheet *sheet, const struct evaluated *evaluated, size_t size,
		     const struct judgment_reliability *reliability, size_t method)
{
	char text[UNIT_TEXT];

	for (size_t i = 0; i < JUDGMENT_BINS; i++) {
		const struct metrics_bin *bin = &reliability->bins[i];

		if (!bin->count)
			continue;
		sheet_text(sheet, "%s",
			   unit_bytes(text, (double)evaluated->chronicle->sizes[size]));
		sheet_text(sheet, "%s", judgment_method(method));
		sheet_number(sheet, bin->predicted);
		sheet_number(sheet, bin->observed);
		sheet_number(sheet, (double)bin->count);
	}
}

static void note_calibration(struct sheet *sheet, const struct evaluated *evaluated, size_t size,
			     const struct judgment_reliability *reliability)
{
	AUTO_BUF struct buf sentence = { 0 };
	char text[UNIT_TEXT];

	judgment_reliability_text(reliability, &sentence);
	sheet_note(sheet, "%s, %s", unit_bytes(text, (double)evaluated->chronicle->sizes[size]),
		   buf_text(&sentence));
}

static void fill_reliability(struct sheet *sheet, const struct evaluated *evaluated)
{
	struct judgment_reliability reliability;
	size_t first = 0;

	while (first + 1 < JUDGMENT_METHODS && !evaluated->judgment.methods[first])
		first++;
	sheet_init(sheet, "reliability", "reliability: predicted and observed probability of busy",
		   bin_columns);
	for (size_t s = 1; s < evaluated->chronicle->size_count; s++) {
		judgment_reliability(&evaluated->judgment, s, first, &reliability);
		if (!reliability.rows)
			continue;
		add_bins(sheet, evaluated, s, &reliability, first);
		note_calibration(sheet, evaluated, s, &reliability);
	}
}

static const struct sheet_column target_columns[] = {
	{ "target", "target", 0 },
	{ ">size", "bytes", 0 },
	{ "method", "method", 0 },
	{ ">~rows", "rows", 0 },
	{ ">~shuffled", "shuffled_accuracy", 4 },
	{ ">AUC", "shuffled_auc", 4 },
	{ ">blocked", "blocked_accuracy", 4 },
	{ ">AUC", "blocked_auc", 4 },
	{ ">test rows", "test", 0 },
	{ ">test", "accuracy", 4 },
	{ ">AUC", "auc", 4 },
	{ ">ceiling", "ceiling", 4 },
	{ ">true state", "latent", 4 },
	{ 0 },
};

static void add_target(struct sheet *sheet, const struct evaluated *evaluated,
		       const struct judgment_case *judged, size_t method)
{
	const struct judgment_cell *cell = &judged->cells[method];

	sheet_text(sheet, "%s", evaluated->chronicle->targets[judged->target]);
	sheet_number(sheet, (double)evaluated->chronicle->sizes[judged->size]);
	sheet_text(sheet, "%s", judgment_method(method));
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

static void fill_targets(struct sheet *sheet, const struct evaluated *evaluated)
{
	const struct judgment *judgment = &evaluated->judgment;

	sheet_init(sheet, "targets", "accuracy per target", target_columns);
	for (size_t i = 0; i < judgment->case_count; i++)
		for (size_t m = 0; m < JUDGMENT_METHODS; m++)
			if (judgment->methods[m])
				add_target(sheet, evaluated, &judgment->cases[i], m);
}

static void show_sheet(struct sheet *sheet, const struct evaluated *evaluated, struct json *json)
{
	sheet->is_modelled = forecast_is_modelled(evaluated->chronicle->system);
	if (json) {
		sheet_json(sheet, json);
	} else {
		sheet_print(sheet, stdout);
		putchar('\n');
	}
	sheet_release(sheet);
}

static bool has_size(const struct judgment *judgment, size_t size)
{
	for (size_t i = 0; i < judgment->case_count; i++)
		if (judgment->cases[i].size == size)
			return true;
	return false;
}

static void show_sheets(const struct evaluated *evaluated, bool each, struct json *json)
{
	struct sheet sheet;
	char title[96];

	for (size_t s = 1; s < evaluated->chronicle->size_count; s++) {
		if (!has_size(&evaluated->judgment, s))
			continue;
		fill_methods(&sheet, evaluated, s, title, sizeof(title));
		show_sheet(&sheet, evaluated, json);
	}
	fill_splits(&sheet, evaluated);
	show_sheet(&sheet, evaluated, json);
	fill_reliability(&sheet, evaluated);
	show_sheet(&sheet, evaluated, json);
	if (evaluated->without) {
		contributions_fill(&sheet, evaluated);
		show_sheet(&sheet, evaluated, json);
	}
	if (each) {
		fill_targets(&sheet, evaluated);
		show_sheet(&sheet, evaluated, json);
	}
}

static void show_evaluation(const struct forecast_args *args, const struct evaluated *evaluated)
{
	const struct judgment *judgment = &evaluated->judgment;
	char from[DATE_TEXT], to[DATE_TEXT], end[DATE_TEXT];
	struct json json;

	if (args->json) {
		json_start(&json, stdout, FORECAST_SCHEMA);
		forecast_json_system(&json, evaluated->chronicle->system);
		json_double(&json, "from", judgment->from_s);
		json_double(&json, "to", judgment->to_s);
		json_double(&json, "test_to", judgment->test_to_s);
		json_count(&json, "cases", judgment->case_count);
		json_count(&json, "seed", args->seed);
		json_double(&json, "bound", evaluated->min_accuracy);
		json_open(&json, "sheets", '[');
		show_sheets(evaluated, args->per_target, &json);
		json_end(&json);
		return;
	}
	term_sentence(stdout, "%s, trained from %s to %s, tested until %s UTC\n\n",
		      evaluated->chronicle->system, date_text(from, judgment->from_s),
		      date_text(to, judgment->to_s), date_text(end, judgment->test_to_s));
	show_sheets(evaluated, args->per_target, NULL);
	term_lines(stdout,
		   "shuffled: accuracy in random folds, as in the paper; optimistic, because "
		   "neighbors in time are alike\n"
		   "blocked: accuracy in folds that are blocks of time; test: accuracy on the days "
		   "after the training; both are realistic\n");
	term_sentence(stdout,
		      "q1, q3: quartiles of the test accuracy over targets; good: share of targets "
		      "whose test accuracy exceeds %.2f\n",
		      evaluated->min_accuracy);
	term_sentence(stdout, "calibration: mean difference between predicted and observed "
			      "probability; true state: accuracy against the true state, if it is "
			      "known\n");
}

/* Trains on the first --days, by default on FORECAST_TRAINING_SHARE of the time. */
static int choose_windows(const struct command *command, const struct forecast_args *args,
			  const struct chronicle *chronicle, struct judgment_plan *plan)
{
	double days, from = 0, to = 0, wanted_from, wanted_to;
	int ret = window_parse_days(command, args->days, &days);

	if (!ret)
		ret = window_parse(command, args->since, args->until, &wanted_from, &wanted_to);
	if (ret)
		return ret;
	chronicle_span(chronicle, &from, &to);
	plan->labels.from_s = fmax(from, wanted_from);
	plan->test_to_s = fmin(nextafter(to, INFINITY), wanted_to);
	if (isnan(days))
		days = FORECAST_TRAINING_SHARE * (plan->test_to_s - plan->labels.from_s);
	plan->labels.to_s = plan->labels.from_s + days;
	if (!(plan->labels.to_s < plan->test_to_s))
		return command_misuse(command, "--days leaves no data for the test");
	return COMMAND_GOOD;
}

static int make_plan(const struct command *command, const struct forecast_args *args,
		     const struct forecast_data *source, struct judgment_plan *plan)
{
	struct forecast_args wish = *args;
	struct forecaster_plan common;
	int ret;

	wish.method = "svm"; /* judgment_run() parses the list of methods */
	ret = forecast_plan(command, &wish, &common);
	if (ret)
		return ret;
	judgment_plan_init(plan);
	plan->features = common.features;
	plan->features.earlier_rounds = !args->same_round;
	plan->labels = common.labels;
	plan->programs = common.programs;
	plan->methods = args->method;
	plan->bytes = args->size == OPTION_NONE ? 0 : args->size;
	plan->folds = common.folds;
	plan->seed = common.seed;
	plan->threads = common.threads;
	plan->busy = source->is_generated ? source->generated.busy : NULL;
	return choose_windows(command, args, forecast_data_rows(source), plan);
}

static int parse_min_accuracy(const struct command *command, const struct forecast_args *args,
			      double *share)
{
	char *end;

	*share = strtod(args->min_accuracy, &end);
	if (end == args->min_accuracy || *end || !(*share > 0 && *share < 1))
		return command_misuse(
			command, "--min-accuracy: expected a number between 0 and 1, got \"%s\"",
			args->min_accuracy);
	return COMMAND_GOOD;
}

static int run_evaluation(const struct command *command, const struct forecast_args *args,
			  const struct forecast_data *source, struct judgment_plan *plan,
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
	progress_start(&progress, "evaluating", 0);
	interrupt_catch(&stop);
	r = judgment_run(&evaluated->judgment, evaluated->chronicle, &source->site, plan, &err);
	if (r >= 0 && args->contributions)
		r = contributions_evaluate(evaluated, &source->site, plan, &err);
	interrupt_restore(&stop);
	progress_end(&progress);
	plan->progress_arg = NULL;
	plan->targets = NULL;
	free(some);
	if (r == -EINVAL)
		return command_misuse(command, "--method: %s", err.text);
	return r < 0 ? command_fail_err(command, r, &err) : COMMAND_GOOD;
}

static int evaluate_run(struct command *command)
{
	const struct forecast_args *args = command->args;
	struct forecast_data source = { 0 };
	struct evaluated evaluated = { 0 };
	struct judgment_plan plan = { 0 };
	int ret = parse_min_accuracy(command, args, &evaluated.min_accuracy);

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
		show_evaluation(args, &evaluated);
		ret = command_finish(command);
	}
	contributions_release(&evaluated);
	judgment_release(&evaluated.judgment);
	forecast_data_close(&source);
	return ret;
}

const struct command_ops command_forecast_evaluate = {
	.name = "evaluate",
	.help = "compare learning methods on past data",
	.about = "Trains each method on the first days and tests it on the others. Baselines that "
		 "need no learning are shown for comparison.\n\n"
		 "  sluice forecast evaluate --method all --days 8",
	.options = evaluate_options,
	.args_bytes = sizeof(struct forecast_args),
	.run = evaluate_run,
};
