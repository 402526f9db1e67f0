/* SPDX-License-Identifier: BSD-3-Clause */
#include "learn_exact.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "learn/pipeline.h"
#include "learn/states/mixture.h"
#include "learn/table/csv.h"
#include "learn/table/dataset.h"
#include "learn_job.h"

/* Returns the selected columns as a matrix, which the caller frees; NULL on failure. */
static double *matrix_take(const struct dataset *table, const char *features, size_t **columns,
			   size_t *width, struct err *err)
{
	double *x;

	if (dataset_choose(table, features, columns, width, err) < 0)
		return NULL;
	x = xmalloc(table->rows * *width * sizeof(*x));
	for (size_t i = 0; i < table->rows; i++)
		for (size_t j = 0; j < *width; j++)
			x[i * *width + j] = dataset_row(table, i)[(*columns)[j]];
	return x;
}

static int powers_fit(struct preparation *preparation, const char *recipe, const double *x,
		      size_t rows, size_t width, struct err *err)
{
	AUTO_FREE double *copy = xmalloc(rows * width * sizeof(*copy));

	memcpy(copy, x, rows * width * sizeof(*copy));
	return preparation_fit(preparation, recipe, copy, rows, width, err);
}

int exact_powers(char **words, struct err *err)
{
	AUTO_DATASET struct dataset table = { 0 };
	struct preparation likely = { 0 }, caret = { 0 };
	AUTO_FREE size_t *columns = NULL;
	AUTO_FREE double *x = NULL;
	size_t width = 0;
	int r = csv_read(&table, words[0], err);

	if (r < 0)
		return r;
	x = matrix_take(&table, words[1], &columns, &width, err);
	if (!x)
		return -EINVAL;
	r = powers_fit(&likely, "boxcox", x, table.rows, width, err);
	if (r >= 0)
		r = powers_fit(&caret, "boxcox=caret", x, table.rows, width, err);
	for (size_t j = 0; r >= 0 && j < width; j++)
		printf("%s\t%.17g\t%.17g\n", table.columns[columns[j]].name,
		       preparation_lambda(&likely, j), preparation_lambda(&caret, j));
	preparation_release(&likely);
	preparation_release(&caret);
	return r;
}

int exact_components(char **words, struct err *err)
{
	AUTO_DATASET struct dataset table = { 0 };
	struct preparation preparation = { 0 };
	AUTO_FREE size_t *columns = NULL;
	AUTO_FREE double *x = NULL;
	size_t width = 0;
	int r = csv_read(&table, words[0], err);

	if (r < 0)
		return r;
	x = matrix_take(&table, words[1], &columns, &width, err);
	if (!x)
		return -EINVAL;
	r = preparation_fit(&preparation, "centre,scale,pca", x, table.rows, width, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < table.rows; i++)
		for (size_t j = 0; j < preparation.width_out; j++)
			printf("%.17g%c", x[i * preparation.width_out + j],
			       j + 1 < preparation.width_out ? '\t' : '\n');
	preparation_release(&preparation);
	return 0;
}

int exact_linear(char **words, struct err *err)
{
	AUTO_DATASET struct dataset table = { 0 };
	struct effort effort = { .threads = 1 };
	struct pipeline pipeline = { 0 };
	struct pipeline_plan plan;
	AUTO_FREE size_t *columns = NULL;
	AUTO_FREE double *x = NULL, *y = NULL, *out = NULL;
	struct samples samples;
	size_t width = 0;
	int r = csv_read(&table, words[0], err), target;

	if (r < 0)
		return r;
	x = matrix_take(&table, words[2], &columns, &width, err);
	target = dataset_find(&table, words[1], err);
	if (!x || target < 0)
		return -EINVAL;
	y = xmalloc(table.rows * sizeof(*y));
	out = xmalloc(table.rows * sizeof(*out));
	dataset_column(&table, (size_t)target, y);
	samples = (struct samples){ .x = x, .y = y, .rows = table.rows, .width = width };
	pipeline_plan_init(&plan, learner_find("linear", LEARNER_REGRESSES, err));
	plan.recipe = "none";
	r = pipeline_fit(&pipeline, &plan, &samples, NULL, 0, &effort, err);
	if (r < 0)
		return r;
	pipeline_predict_rows(&pipeline, x, NULL, table.rows, out);
	for (size_t i = 0; i < table.rows; i++)
		printf("%.17g\n", out[i]);
	pipeline_release(&pipeline);
	return 0;
}

static int mixture_print(const char *name, double *values, size_t count, struct err *err)
{
	AUTO_FREE double *labels = xmalloc(count * sizeof(*labels));
	struct mixture_plan plan = { .count = 2 };
	struct mixture mixture;
	double start = job_clock(), took;
	int r = mixture_fit(&mixture, &plan, values, count, err);

	if (r < 0)
		return r;
	took = job_clock() - start;
	printf("%s\t%.9g\t%.9g\t%.9g\t%.9g\t%.9g", name, mixture.components[0].weight,
	       mixture_mean(&mixture, 0), mixture_mean(&mixture, 1), took,
	       mixture_draw(&mixture, values, count, 0, labels, NULL));
	for (int family = MIXTURE_LOGNORMAL; family <= MIXTURE_WEIBULL; family++) {
		plan.family = (enum mixture_family)family;
		r = mixture_fit(&mixture, &plan, values, count, err);
		if (r < 0)
			return r;
		printf("\t%.9g", mixture.log_likelihood);
	}
	printf("\n");
	return 0;
}

int exact_mixtures(char **words, struct err *err)
{
	AUTO_DATASET struct dataset table = { 0 };
	AUTO_FREE double *values = NULL;
	int r = csv_read(&table, words[0], err);

	if (r < 0)
		return r;
	values = xmalloc(table.rows * sizeof(*values));
	for (size_t j = 0; j < table.width && r >= 0; j++) {
		dataset_column(&table, j, values);
		r = mixture_print(table.columns[j].name, values, table.rows, err);
	}
	return r;
}
