/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Statistics of an evaluation over all targets.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "learn/judge/metrics.h"
#include "predict/forecast/states/judgment.h"

#define TAIL_QUANTILE 0.95

static double read_member(const void *from, size_t offset)
{
	double value;

	memcpy(&value, (const char *)from + offset, sizeof(value));
	return value;
}

static void summarize(const double *values, size_t count, double bound, struct judgment_sum *sum)
{
	double total = 0;
	size_t above = 0;

	for (size_t i = 0; i < count; i++) {
		total += values[i];
		above += values[i] > bound;
	}
	*sum = (struct judgment_sum){ count, NAN, NAN, NAN, NAN, NAN, NAN, NAN };
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

void judgment_sum(const struct judgment *judgment, size_t size, size_t method, size_t offset,
		  double bound, struct judgment_sum *sum)
{
	AUTO_FREE double *values = xmalloc((judgment->case_count + 1) * sizeof(*values));
	size_t count = 0;

	for (size_t i = 0; i < judgment->case_count; i++) {
		const struct judgment_case *judged = &judgment->cases[i];
		double value = read_member(&judged->cells[method], offset);

		if (judged->size == size && judged->cells[method].is_known && !isnan(value))
			values[count++] = value;
	}
	summarize(values, count, bound, sum);
}

void judgment_sum_cases(const struct judgment *judgment, size_t size, size_t offset, double bound,
			struct judgment_sum *sum)
{
	AUTO_FREE double *values = xmalloc((judgment->case_count + 1) * sizeof(*values));
	size_t count = 0;

	for (size_t i = 0; i < judgment->case_count; i++) {
		double value = read_member(&judgment->cases[i], offset);

		if (judgment->cases[i].size == size && !isnan(value))
			values[count++] = value;
	}
	summarize(values, count, bound, sum);
}

static size_t count_test_rows(const struct judgment *judgment, size_t size, size_t method)
{
	size_t rows = 0;

	for (size_t i = 0; i < judgment->case_count; i++)
		if (judgment->cases[i].size == size && judgment->cases[i].cells[method].is_known)
			rows += judgment->cases[i].test;
	return rows;
}

/* Concatenates one array of each case. */
static double *pool_rows(const struct judgment *judgment, size_t size, size_t method,
			 const double *(*of)(const struct judgment_case *, size_t method))
{
	double *all = xmalloc((count_test_rows(judgment, size, method) + 1) * sizeof(*all));
	size_t at = 0;

	for (size_t i = 0; i < judgment->case_count; i++) {
		const struct judgment_case *judged = &judgment->cases[i];

		if (judged->size != size || !judged->cells[method].is_known)
			continue;
		memcpy(all + at, of(judged, method), judged->test * sizeof(*all));
		at += judged->test;
	}
	return all;
}

static const double *get_labels(const struct judgment_case *judged, size_t method)
{
	(void)method;
	return judged->labels;
}

static const double *get_seconds(const struct judgment_case *judged, size_t method)
{
	(void)method;
	return judged->seconds;
}

static const double *get_chances(const struct judgment_case *judged, size_t method)
{
	return judged->cells[method].chance;
}

static const double *get_scores(const struct judgment_case *judged, size_t method)
{
	return judged->cells[method].score;
}

void judgment_reliability(const struct judgment *judgment, size_t size, size_t method,
			  struct judgment_reliability *reliability)
{
	AUTO_FREE double *labels = pool_rows(judgment, size, method, get_labels);
	AUTO_FREE double *chances = pool_rows(judgment, size, method, get_chances);
	struct judgment_reliability made = { .rows = count_test_rows(judgment, size, method) };

	if (made.rows)
		made.error =
			metrics_reliability(labels, chances, made.rows, made.bins, JUDGMENT_BINS);
	for (size_t i = 0; made.rows && i < JUDGMENT_BINS; i++) {
		const struct metrics_bin *bin = &made.bins[i];
		double weight = (double)bin->count / (double)made.rows;

		if (!bin->count)
			continue;
		made.predicted += weight * bin->predicted;
		made.observed += weight * bin->observed;
		made.excess += weight * copysign(1, bin->predicted - 0.5) *
			       (bin->predicted - bin->observed);
		/* The mean absolute deviation of a share is that of a normal distribution. */
		made.chance_error += weight * sqrt(2 / M_PI * bin->predicted *
						   (1 - bin->predicted) / (double)bin->count);
	}
	*reliability = made;
}

bool judgment_is_calibrated(const struct judgment_reliability *reliability)
{
	return reliability->error <= 2 * reliability->chance_error;
}

void judgment_reliability_text(const struct judgment_reliability *reliability, struct buf *text)
{
	double bias = reliability->predicted - reliability->observed;

	buf_printf(text,
		   "%s: predictions differ from observations by %.3f on average, %.3f by chance",
		   judgment_is_calibrated(reliability) ? "calibrated" : "not calibrated",
		   reliability->error, reliability->chance_error);
	if (judgment_is_calibrated(reliability))
		return;
	if (2 * fabs(bias) > reliability->error)
		buf_printf(text, "; busy is predicted too %s (mean %.3f, observed %.3f)",
			   bias > 0 ? "often" : "rarely", reliability->predicted,
			   reliability->observed);
	else if (2 * fabs(reliability->excess) > reliability->error)
		buf_printf(text, "; predictions are too %s",
			   reliability->excess > 0 ? "extreme" : "cautious");
}

void judgment_split(const struct judgment *judgment, size_t size, size_t method, double bound_s,
		    struct judgment_split *split)
{
	AUTO_FREE double *seconds = pool_rows(judgment, size, method, get_seconds);
	AUTO_FREE double *scores = pool_rows(judgment, size, method, get_scores);
	size_t rows = count_test_rows(judgment, size, method), tail = 0, caught = 0,
	       below[2] = { 0 };

	*split = (struct judgment_split){
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
