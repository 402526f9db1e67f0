/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Statistics of an evaluation over all targets.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "learn/judge/metrics.h"
#include "predict/forecast/states/judgement.h"

#define TAIL_QUANTILE 0.95

static double read_member(const void *from, size_t offset)
{
	double value;

	memcpy(&value, (const char *)from + offset, sizeof(value));
	return value;
}

static void summarize(const double *values, size_t count, double bound, struct judgement_sum *sum)
{
	double total = 0;
	size_t above = 0;

	for (size_t i = 0; i < count; i++) {
		total += values[i];
		above += values[i] > bound;
	}
	*sum = (struct judgement_sum){ count, NAN, NAN, NAN, NAN, NAN, NAN, NAN };
	if (!count)
		return;
	sum->mean = total / (double)count;
	sum->above = (double)above / (double)count;
	sum->least = metrics_quantile(values, count, 0);
	sum->quartile = metrics_quantile(values, count, 0.25);
	sum->median = metrics_quantile(values, count, 0.5);
	sum->upper_quartile = metrics_quantile(values, count, 0.75);
	sum->most = metrics_quantile(values, count, 1);
}

void judgement_sum(const struct judgement *judgement, size_t size, size_t method, size_t offset,
		   double bound, struct judgement_sum *sum)
{
	AUTO_FREE double *values = xmalloc((judgement->case_count + 1) * sizeof(*values));
	size_t count = 0;

	for (size_t i = 0; i < judgement->case_count; i++) {
		const struct judgement_case *judged = &judgement->cases[i];
		double value = read_member(&judged->cells[method], offset);

		if (judged->size == size && judged->cells[method].is_known && !isnan(value))
			values[count++] = value;
	}
	summarize(values, count, bound, sum);
}

void judgement_sum_cases(const struct judgement *judgement, size_t size, size_t offset,
			 double bound, struct judgement_sum *sum)
{
	AUTO_FREE double *values = xmalloc((judgement->case_count + 1) * sizeof(*values));
	size_t count = 0;

	for (size_t i = 0; i < judgement->case_count; i++) {
		double value = read_member(&judgement->cases[i], offset);

		if (judgement->cases[i].size == size && !isnan(value))
			values[count++] = value;
	}
	summarize(values, count, bound, sum);
}

static size_t count_test_rows(const struct judgement *judgement, size_t size, size_t method)
{
	size_t rows = 0;

	for (size_t i = 0; i < judgement->case_count; i++)
		if (judgement->cases[i].size == size && judgement->cases[i].cells[method].is_known)
			rows += judgement->cases[i].test;
	return rows;
}

/* Concatenates one array of each case. */
static double *pool_rows(const struct judgement *judgement, size_t size, size_t method,
			 const double *(*of)(const struct judgement_case *, size_t method))
{
	double *all = xmalloc((count_test_rows(judgement, size, method) + 1) * sizeof(*all));
	size_t at = 0;

	for (size_t i = 0; i < judgement->case_count; i++) {
		const struct judgement_case *judged = &judgement->cases[i];

		if (judged->size != size || !judged->cells[method].is_known)
			continue;
		memcpy(all + at, of(judged, method), judged->test * sizeof(*all));
		at += judged->test;
	}
	return all;
}

static const double *get_labels(const struct judgement_case *judged, size_t method)
{
	(void)method;
	return judged->labels;
}

static const double *get_seconds(const struct judgement_case *judged, size_t method)
{
	(void)method;
	return judged->seconds;
}

static const double *get_chances(const struct judgement_case *judged, size_t method)
{
	return judged->cells[method].chance;
}

static const double *get_scores(const struct judgement_case *judged, size_t method)
{
	return judged->cells[method].score;
}

size_t judgement_pool(const struct judgement *judgement, size_t size, size_t method,
		      double **labels, double **chances)
{
	*labels = pool_rows(judgement, size, method, get_labels);
	*chances = pool_rows(judgement, size, method, get_chances);
	return count_test_rows(judgement, size, method);
}

void judgement_split(const struct judgement *judgement, size_t size, size_t method, double bound_s,
		     struct judgement_split *split)
{
	AUTO_FREE double *seconds = pool_rows(judgement, size, method, get_seconds);
	AUTO_FREE double *scores = pool_rows(judgement, size, method, get_scores);
	size_t rows = count_test_rows(judgement, size, method), tail = 0, caught = 0,
	       below[2] = { 0 };

	*split = (struct judgement_split){
		.tail_s = NAN, .tail_recall = NAN, .idle_below = NAN, .busy_below = NAN
	};
	if (rows)
		split->tail_s = metrics_quantile(seconds, rows, TAIL_QUANTILE);
	for (size_t i = 0; i < rows; i++) {
		bool busy = scores[i] > 0.5;

		tail += seconds[i] > split->tail_s;
		caught += seconds[i] > split->tail_s && busy;
		below[busy] += seconds[i] < bound_s;
		*(busy ? &split->busy : &split->idle) += 1;
	}
	if (tail)
		split->tail_recall = (double)caught / (double)tail;
	if (split->idle)
		split->idle_below = (double)below[0] / (double)split->idle;
	if (split->busy)
		split->busy_below = (double)below[1] / (double)split->busy;
}
