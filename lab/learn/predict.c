/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice lab learn predict: adds the predictions of a model to a table as further columns.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/number.h"
#include "lab/learn/learn.h"
#include "lab/learn/print.h"
#include "learn/judge/conformal.h"
#include "learn/judge/metrics.h"
#include "learn/model/model.h"
#include "learn/table/csv.h"
#include "learn/table/dataset.h"

struct predict_args {
	const char *coverage, *output;
	bool adaptive, json;
};

/* Of adaptive intervals: how fast they follow, and how many of the newest errors count. */
#define ADAPTIVE_STEP 0.02
#define ADAPTIVE_WINDOW 500

static const struct option predict_options[] = {
	{ 0, "coverage", "SHARE", LEARN_COVERAGE, "set the coverage of the prediction interval",
	  OPTION_TEXT, offsetof(struct predict_args, coverage) },
	{ 0, "adaptive", NULL, NULL,
	  "adapt the interval of each row to the errors of the rows before it", OPTION_FLAG,
	  offsetof(struct predict_args, adaptive) },
	{ 'o', "output", "FILE", NULL, "write the CSV to FILE (default: standard output)",
	  OPTION_TEXT, offsetof(struct predict_args, output) },
	{ 'j', "json", NULL, NULL, "print one JSON object of schema " LEARN_SCHEMA, OPTION_FLAG,
	  offsetof(struct predict_args, json) },
	{ 0 }
};

/* Parses the names of the classes. Returns false if one of them is not a number. */
static bool parse_class_numbers(const struct model *model, double *numbers)
{
	for (size_t i = 0; i < model->pipeline.classes; i++) {
		if (!number_parse(model->classes[i], strlen(model->classes[i]), &numbers[i]))
			return false;
	}
	return true;
}

/* Appends the most probable class of each row, spelled as in the training data. */
static void add_class_column(struct dataset *dataset, const struct model *model,
			     const double *chances)
{
	size_t classes = model->pipeline.classes, at = dataset_add(dataset, "prediction", NULL);
	struct column *column = &dataset->columns[at];
	double numbers[LEARNER_CLASSES_MAX];
	bool is_number = parse_class_numbers(model, numbers);

	if (!is_number) {
		column->levels = xcalloc(classes, sizeof(*column->levels));
		column->level_count = classes;
	}
	for (size_t i = 0; i < classes && !is_number; i++)
		column->levels[i] = xstrdup(model->classes[i]);
	for (size_t i = 0; i < dataset->rows; i++) {
		size_t best = learner_best(chances + i * classes, classes);

		dataset_row(dataset, i)[at] = is_number ? numbers[best] : (double)best;
	}
}

static void add_probability_columns(struct dataset *dataset, const struct model *model,
				    const double *chances)
{
	size_t classes = model->pipeline.classes;
	AUTO_FREE double *chance = xmalloc((dataset->rows + 1) * sizeof(*chance));

	for (size_t c = 0; c < classes; c++) {
		AUTO_FREE char *name = xprintf("chance_%s", model->classes[c]);

		for (size_t i = 0; i < dataset->rows; i++)
			chance[i] = chances[i * classes + c];
		dataset_add(dataset, name, chance);
	}
}

static int add_interval_columns(struct dataset *dataset, const struct model *model,
				const double *guesses, double coverage, struct err *err)
{
	size_t width = model->schema.width, rows = dataset->rows;
	AUTO_FREE double *inputs = xmalloc((rows + 1) * width * sizeof(*inputs));
	AUTO_FREE double *low = xmalloc(2 * (rows + 1) * sizeof(*low));
	double *high = low + rows + 1;
	int r = schema_inputs(&model->schema, dataset, true, inputs, NULL, NULL, err);

	for (size_t i = 0; r >= 0 && i < rows; i++) {
		if (!model_interval(model, inputs + i * width, guesses[i], coverage, &low[i],
				    &high[i]))
			return 0;
	}
	if (r < 0)
		return r;
	dataset_add(dataset, "low", low);
	dataset_add(dataset, "high", high);
	return 0;
}

/* By time; rows of the same time keep their order. */
static int compare_times(const void *a, const void *b, void *key)
{
	size_t i = *(const size_t *)a, j = *(const size_t *)b;
	const double *time = key;

	return time[i] != time[j] ? (time[i] > time[j]) - (time[i] < time[j]) : (i > j) - (i < j);
}

/* The rows in the order of the model's time column, or as they are. Unknown times come last. */
static int order_rows(const struct model *model, const struct dataset *dataset, size_t *order,
		      struct err *err)
{
	int column = model->origin.time ? dataset_find(dataset, model->origin.time, err) : -1;
	AUTO_FREE double *key = NULL;

	if (model->origin.time && column < 0)
		return column;
	for (size_t i = 0; i < dataset->rows; i++)
		order[i] = i;
	if (column < 0)
		return 0;
	key = xmalloc((dataset->rows + 1) * sizeof(*key));
	dataset_column(dataset, (size_t)column, key);
	for (size_t i = 0; i < dataset->rows; i++)
		key[i] = isnan(key[i]) ? INFINITY : key[i];
	qsort_r(order, dataset->rows, sizeof(*order), compare_times, key);
	return 0;
}

/* Starts with the errors of the fit; of more than the window, with their quantiles. */
static void start_adapting(struct adaptive *adaptive, const struct model *model, double coverage)
{
	size_t count = model->conformal.count;
	size_t used = count < ADAPTIVE_WINDOW ? count : ADAPTIVE_WINDOW;

	adaptive_init(adaptive, coverage, ADAPTIVE_STEP, ADAPTIVE_WINDOW);
	for (size_t i = 0; i < used; i++)
		adaptive_seed(adaptive, model->conformal.errors[(2 * i + 1) * count / (2 * used)]);
}

/*
 * Like add_interval_columns(), row by row in the order of time: the interval of a row depends on
 * the errors of earlier rows only. A row whose interval would have no bounds has none.
 */
static int add_adaptive_columns(const struct command *command, struct dataset *dataset,
				const struct model *model, const double *guesses, double coverage,
				struct err *err)
{
	size_t width = model->schema.width, rows = dataset->rows;
	AUTO_FREE double *inputs = xmalloc((rows + 1) * width * sizeof(*inputs));
	AUTO_FREE double *low = xmalloc(3 * (rows + 1) * sizeof(*low));
	AUTO_FREE size_t *order = xmalloc((rows + 1) * sizeof(*order));
	double *high = low + rows + 1, *truth = high + rows + 1;
	struct adaptive adaptive;
	int r = model_truth(model, dataset, truth, err);

	if (r >= 0)
		r = schema_inputs(&model->schema, dataset, true, inputs, NULL, NULL, err);
	if (r >= 0)
		r = order_rows(model, dataset, order, err);
	if (r < 0)
		return r;
	start_adapting(&adaptive, model, coverage);
	for (size_t i = 0; i < rows; i++) {
		size_t at = order[i];
		const double *row = inputs + at * width;
		double margin = adaptive_margin(&adaptive);

		if (!model_interval_of(model, row, guesses[at], margin, &low[at], &high[at]))
			low[at] = high[at] = NAN;
		adaptive_learn(&adaptive, margin, model_error(model, row, guesses[at], truth[at]));
	}
	if (adaptive.seen)
		learn_note(command, "%.1f%% of %zu values were inside their adaptive interval",
			   100 * (double)adaptive.covered / (double)adaptive.seen, adaptive.seen);
	adaptive_release(&adaptive);
	dataset_add(dataset, "low", low);
	dataset_add(dataset, "high", high);
	return 0;
}

/* Prints the quality of the predictions if the table has the true values. */
static void report_quality(const struct command *command, const struct model *model,
			   const struct dataset *dataset, double *guesses)
{
	size_t answers = model->pipeline.classes ? model->pipeline.classes : 1, n = 0;
	AUTO_FREE double *truth = xmalloc((dataset->rows + 1) * sizeof(*truth));
	struct err err = { 0 };
	int r = model_truth(model, dataset, truth, &err);

	if (r < 0) {
		if (r != -ENOENT)
			command_warn(command, "cannot compare predictions with true values: %s",
				     err.text);
		return;
	}
	for (size_t i = 0; i < dataset->rows; i++) {
		if (isnan(truth[i]))
			continue;
		truth[n] = truth[i];
		memmove(guesses + n++ * answers, guesses + i * answers, answers * sizeof(*guesses));
	}
	if (n && model->classes)
		learn_note(command, "%zu rows: accuracy %.4f, AUC %.4f, Brier score %.4f", n,
			   metrics_accuracy(truth, guesses, n, answers),
			   metrics_auc_classes(truth, guesses, n, answers),
			   metrics_brier(truth, guesses, n, answers));
	else if (n)
		learn_note(command, "%zu rows: RMSE %.4g, R2 %.4f, median error %.1f%%", n,
			   metrics_rmse(truth, guesses, n), metrics_r2(truth, guesses, n),
			   100 * metrics_median_error(truth, guesses, n));
}

static void print_predictions_json(const struct dataset *dataset, size_t from)
{
	struct json json;

	json_start(&json, stdout, LEARN_SCHEMA);
	json_open(&json, "rows", '[');
	for (size_t i = 0; i < dataset->rows; i++) {
		const double *row = dataset_row(dataset, i);

		json_open(&json, NULL, '{');
		for (size_t c = from; c < dataset->width; c++) {
			const struct column *column = &dataset->columns[c];

			if (column->levels)
				json_text(&json, column->name, column->levels[(size_t)row[c]]);
			else
				json_double(&json, column->name, row[c]);
		}
		json_close(&json);
	}
	json_end(&json);
}

static int write_predictions(const struct command *command, const struct dataset *dataset,
			     size_t from)
{
	const struct predict_args *args = command->args;
	struct err err = { 0 };

	if (args->output || !args->json) {
		if (csv_write(dataset, args->output ? args->output : "-", &err) < 0)
			return command_fail(command, "%s", err.text);
	}
	if (args->json)
		print_predictions_json(dataset, from);
	return command_finish(command);
}

/* Fails if the table already has a column of predictions. */
static int check_columns(const struct command *command, const struct dataset *dataset)
{
	if (dataset_find(dataset, "prediction", NULL) < 0)
		return COMMAND_GOOD;
	return command_fail(command, "%s already has a column \"prediction\"; rename or remove it",
			    command->argv[1]);
}

static int predict_table(const struct command *command, const struct model *model,
			 struct dataset *dataset, double coverage)
{
	const struct predict_args *args = command->args;
	size_t answers = model->pipeline.classes ? model->pipeline.classes : 1;
	size_t from = dataset->width, unknown = 0, missing = 0;
	AUTO_FREE double *guesses = xmalloc((dataset->rows + 1) * answers * sizeof(*guesses));
	struct err err = { 0 };
	int r = check_columns(command, dataset);

	if (r)
		return r;
	if (args->adaptive && model->classes)
		return command_misuse(command, "--adaptive: a model of classes has no intervals");
	r = model_predict(model, dataset, guesses, &unknown, &missing, &err);
	if (r >= 0 && model->classes) {
		add_class_column(dataset, model, guesses);
		add_probability_columns(dataset, model, guesses);
	} else if (r >= 0) {
		dataset_add(dataset, "prediction", guesses);
		r = args->adaptive
			    ? add_adaptive_columns(command, dataset, model, guesses, coverage, &err)
			    : add_interval_columns(dataset, model, guesses, coverage, &err);
	}
	if (r < 0)
		return learn_fail(command, r, &err);
	if (unknown)
		command_warn(command, "%zu %s unknown to the model", unknown,
			     unknown == 1 ? "text value is" : "text values are");
	if (missing)
		command_warn(command,
			     "%zu %s missing; the model uses the median of the training data",
			     missing, missing == 1 ? "value is" : "values are");
	r = write_predictions(command, dataset, from);
	report_quality(command, model, dataset, guesses);
	return r;
}

static int predict_run(struct command *command)
{
	const struct predict_args *args = command->args;
	AUTO_DATASET struct dataset dataset = { 0 };
	struct model model;
	struct err err = { 0 };
	double coverage;
	int r = learn_parse_coverage(command, args->coverage, &coverage);

	if (r)
		return r;
	r = model_load(&model, command->argv[0], &err);
	if (r < 0)
		return learn_fail(command, r, &err);
	r = csv_read(&dataset, command->argv[1], &err);
	r = r < 0 ? learn_fail(command, r, &err)
		  : predict_table(command, &model, &dataset, coverage);
	model_release(&model);
	return r;
}

const struct command_ops command_learn_predict = {
	.name = "predict",
	.help = "add the predictions of a model to a table",
	.operands = "MODEL DATA",
	.operands_min = 2,
	.operands_max = 2,
	.about =
		"Writes DATA as CSV with further columns: prediction, and for numbers low and "
		"high, "
		"the ends of the prediction interval, or for classes chance_CLASS, the probability "
		"of each class. If DATA has the response, the quality of the predictions is "
		"printed "
		"on standard error.\n\n"
		"--adaptive is for series that drift. It needs DATA with the response: row by row, "
		"in the order of the model's time column, the errors of the rows before "
		"determine the next interval, so that the coverage is kept. Rows without a "
		"response get an interval but change nothing.\n\n"
		"Columns are found by name. A damaged model, or one of a later version of Sluice, "
		"is refused.",
	.options = predict_options,
	.args_bytes = sizeof(struct predict_args),
	.run = predict_run,
};
