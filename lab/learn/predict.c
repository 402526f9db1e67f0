/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice learn predict: a table with a model's predictions as further columns.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "lab/learn/learn.h"
#include "lab/learn/show.h"
#include "learn/table/csv.h"
#include "learn/table/dataset.h"
#include "base/number.h"
#include "learn/judge/metrics.h"
#include "learn/model/model.h"

/* Do the names of all classes read as numbers? Then so does their column. */
static bool classes_numbers(const struct model *model, double *numbers)
{
	for (size_t i = 0; i < model->pipeline.classes; i++) {
		if (!number_parse(model->classes[i], strlen(model->classes[i]), &numbers[i]))
			return false;
	}
	return true;
}

/* The most probable class per row, as it stood in the table that was learnt. */
static void class_column(struct dataset *dataset, const struct model *model, const double *chances)
{
	size_t classes = model->pipeline.classes, at = dataset_add(dataset, "prediction", NULL);
	struct column *column = &dataset->columns[at];
	double numbers[LEARNER_CLASSES_MAX];
	bool is_number = classes_numbers(model, numbers);

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

static void chance_columns(struct dataset *dataset, const struct model *model,
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

static int interval_columns(struct dataset *dataset, const struct model *model,
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

/* Where the truth is in the table, how good were we? */
static void tell_quality(const struct command *command, const struct model *model,
			 const struct dataset *dataset, double *guesses)
{
	size_t answers = model->pipeline.classes ? model->pipeline.classes : 1, n = 0;
	AUTO_FREE double *truth = xmalloc((dataset->rows + 1) * sizeof(*truth));
	struct err err = { 0 };
	int r = model_truth(model, dataset, truth, &err);

	if (r < 0) {
		if (r != -ENOENT)
			command_warn(command, "not judged: %s", err.text);
		return;
	}
	for (size_t i = 0; i < dataset->rows; i++) {
		if (isnan(truth[i]))
			continue;
		truth[n] = truth[i];
		memmove(guesses + n++ * answers, guesses + i * answers, answers * sizeof(*guesses));
	}
	if (n && model->classes)
		fprintf(stderr, "sluice learn: %zu rows: accuracy %.4f, AUC %.4f, Brier %.4f\n", n,
			metrics_accuracy(truth, guesses, n, answers),
			metrics_auc_classes(truth, guesses, n, answers),
			metrics_brier(truth, guesses, n, answers));
	else if (n)
		fprintf(stderr, "sluice learn: %zu rows: RMSE %.4g, R2 %.4f, median error %.1f%%\n",
			n, metrics_rmse(truth, guesses, n), metrics_r2(truth, guesses, n),
			100 * metrics_median_error(truth, guesses, n));
}

static void predictions_json(const struct dataset *dataset, size_t from)
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
				json_real(&json, column->name, row[c]);
		}
		json_close(&json);
	}
	json_end(&json);
}

static int predictions_put(const struct command *command, const struct dataset *dataset,
			   size_t from)
{
	const struct learn_args *args = command->args;
	struct err err = { 0 };

	if (args->output || !args->json) {
		if (csv_write(dataset, args->output ? args->output : "-", &err) < 0)
			return command_fail(command, "%s", err.text);
	}
	if (args->json)
		predictions_json(dataset, from);
	return command_finish(command);
}

/* Columns of ours that the table has already would be there twice. */
static int names_check(const struct command *command, const struct dataset *dataset)
{
	if (dataset_find(dataset, "prediction", NULL) < 0)
		return COMMAND_GOOD;
	return command_fail(command, "%s has a column \"prediction\" already: rename it",
			    command->argv[2]);
}

static int predict_table(const struct command *command, const struct model *model,
			 struct dataset *dataset, double coverage)
{
	size_t answers = model->pipeline.classes ? model->pipeline.classes : 1;
	size_t from = dataset->width, strange = 0, missing = 0;
	AUTO_FREE double *guesses = xmalloc((dataset->rows + 1) * answers * sizeof(*guesses));
	struct err err = { 0 };
	int r = names_check(command, dataset);

	if (r)
		return r;
	r = model_predict(model, dataset, guesses, &strange, &missing, &err);
	if (r >= 0 && model->classes) {
		class_column(dataset, model, guesses);
		chance_columns(dataset, model, guesses);
	} else if (r >= 0) {
		dataset_add(dataset, "prediction", guesses);
		r = interval_columns(dataset, model, guesses, coverage, &err);
	}
	if (r < 0)
		return learn_fail(command, r, &err);
	if (strange)
		command_warn(command, "%zu values are texts that the model has never seen",
			     strange);
	if (missing)
		command_warn(command, "%zu values are missing; the model took what is usual",
			     missing);
	r = predictions_put(command, dataset, from);
	tell_quality(command, model, dataset, guesses);
	return r;
}

int learn_predict(struct command *command)
{
	AUTO_DATASET struct dataset dataset = { 0 };
	struct model model;
	struct err err = { 0 };
	double coverage;
	int r = learn_coverage(command, &coverage);

	if (r)
		return r;
	r = model_load(&model, command->argv[1], &err);
	if (r < 0)
		return learn_fail(command, r, &err);
	r = csv_read(&dataset, command->argv[2], &err);
	r = r < 0 ? learn_fail(command, r, &err)
		  : predict_table(command, &model, &dataset, coverage);
	model_release(&model);
	return r;
}
