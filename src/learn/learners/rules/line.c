/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Works on the matrix of sums of squares and products. The sweep operator adds an input to the
 * model or removes it, in as many steps as the matrix has numbers, and the matrix always shows the
 * slopes and the remaining error. Inputs are added by their gain, so that only one of several
 * equivalent inputs is used; then inputs are removed as long as the expected error does not grow.
 */
#include "learn/learners/rules/line.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "learn/learner.h"

double line_pessimism(size_t n, size_t v)
{
	/* A fit with as many numbers as rows has no information. */
	return n > v ? (double)(n + 2 * v) / (double)(n - v) : 10;
}

/* The absolute correlation with the target among these rows; 0 for a constant input. */
static void score_inputs(const struct samples *samples, const double *target, const uint32_t *rows,
			 size_t count, double *scores)
{
	double mean = 0;

	for (size_t i = 0; i < count; i++)
		mean += target[rows[i]] / (double)count;
	for (size_t j = 0; j < samples->width; j++) {
		double first = samples->x[rows[0] * samples->width + j], sum = 0, square = 0;
		double product = 0, variance;

		for (size_t i = 0; i < count; i++) {
			double x = samples->x[rows[i] * samples->width + j] - first;

			sum += x;
			square += x * x;
			product += x * (target[rows[i]] - mean);
		}
		variance = square - sum * sum / (double)count;
		scores[j] = variance > 0 ? fabs(product) / sqrt(variance) : 0;
	}
}

/* Chooses the candidate inputs; returns their number. */
static size_t choose_inputs(const struct samples *samples, const double *target,
			    const uint32_t *rows, size_t count, struct line_work *work)
{
	size_t chosen = 0;

	if (samples->width <= LINE_INPUTS) {
		for (; chosen < samples->width; chosen++)
			work->inputs[chosen] = (uint32_t)chosen;
		return chosen;
	}
	score_inputs(samples, target, rows, count, work->scores);
	while (chosen < LINE_INPUTS) {
		size_t best = learner_best(work->scores, samples->width);

		if (!(work->scores[best] > 0))
			break;
		work->scores[best] = 0;
		work->inputs[chosen++] = (uint32_t)best;
	}
	return chosen;
}

/*
 * Computes the sums of squares and products around the means; the target is the last of width + 1.
 */
static void collect_sums(const struct samples *samples, const double *target, const uint32_t *rows,
			 size_t count, size_t width, struct line_work *work)
{
	double row[LINE_INPUTS + 1];

	memset(work->mean, 0, sizeof(work->mean));
	for (size_t j = 0; j <= width; j++)
		memset(work->sums[j], 0, (width + 1) * sizeof(double));
	for (size_t i = 0; i < count; i++) {
		const double *x = samples->x + rows[i] * samples->width;

		for (size_t j = 0; j < width; j++)
			work->mean[j] += x[work->inputs[j]];
		work->mean[width] += target[rows[i]];
	}
	for (size_t j = 0; j <= width; j++)
		work->mean[j] /= (double)count;
	for (size_t i = 0; i < count; i++) {
		const double *x = samples->x + rows[i] * samples->width;

		for (size_t j = 0; j < width; j++)
			row[j] = x[work->inputs[j]] - work->mean[j];
		row[width] = target[rows[i]] - work->mean[width];
		for (size_t j = 0; j <= width; j++) {
			for (size_t k = 0; k <= j; k++)
				work->sums[j][k] += row[j] * row[k];
		}
	}
	for (size_t j = 0; j <= width; j++) {
		for (size_t k = 0; k < j; k++)
			work->sums[k][j] = work->sums[j][k];
	}
}

/* Adds input j, or removes it if in is false. The matrix has width + 1 rows. */
static void sweep_input(struct line_work *work, size_t width, size_t j, bool in)
{
	double pivot = work->sums[j][j], sign = in ? 1 : -1;
	double row[LINE_INPUTS + 1];

	for (size_t k = 0; k <= width; k++)
		row[k] = work->sums[j][k] / pivot;
	for (size_t i = 0; i <= width; i++) {
		double factor = work->sums[i][j];

		if (i == j)
			continue;
		for (size_t k = 0; k <= width; k++)
			work->sums[i][k] -= factor * row[k];
		work->sums[i][j] = sign * factor / pivot;
	}
	for (size_t k = 0; k <= width; k++)
		work->sums[j][k] = sign * row[k];
	work->sums[j][j] = -1 / pivot;
}

/*
 * Finds the input with the largest gain; returns width if all others depend on those in the model.
 */
static size_t find_best_input(const struct line_work *work, size_t width, const bool *in,
			      const double *own)
{
	size_t best = width;
	double most = 0;

	for (size_t j = 0; j < width; j++) {
		double pivot = work->sums[j][j], y = work->sums[j][width];

		if (in[j] || !(pivot > 1e-7 * own[j]) || !(own[j] > DBL_MIN))
			continue;
		if (y * y / pivot > most) {
			most = y * y / pivot;
			best = j;
		}
	}
	return best;
}

/* Finds the input whose removal costs least, and the increase of the squared error. */
static size_t find_weakest_input(const struct line_work *work, size_t width, const bool *in,
				 double *loss)
{
	size_t best = width;

	for (size_t j = 0; j < width; j++) {
		double y = work->sums[j][width], grown = y * y / -work->sums[j][j];

		if (in[j] && (best == width || grown < *loss)) {
			*loss = grown;
			best = j;
		}
	}
	return best;
}

static double expected_error(double squares, size_t count, size_t terms)
{
	return sqrt(fmax(squares, 0) / (double)count) * line_pessimism(count, terms + 1);
}

/* Selects the inputs: in[] marks those that stay. Returns the remaining error. */
static double select_inputs(struct line_work *work, size_t width, size_t count, bool *in)
{
	double own[LINE_INPUTS], error, loss = 0;
	size_t terms = 0, j;

	for (j = 0; j < width; j++)
		own[j] = work->sums[j][j];
	while (terms < LINE_TERMS && terms + 2 < count &&
	       (j = find_best_input(work, width, in, own)) < width) {
		sweep_input(work, width, j, true);
		in[j] = true;
		terms++;
	}
	error = expected_error(work->sums[width][width], count, terms);
	while (terms && (j = find_weakest_input(work, width, in, &loss)) < width) {
		double without = expected_error(work->sums[width][width] + loss, count, terms - 1);

		if (without > error)
			break;
		sweep_input(work, width, j, false);
		in[j] = false;
		terms--;
		error = without;
	}
	return error;
}

void line_fit(struct line *line, const struct samples *samples, const double *target,
	      const uint32_t *rows, size_t count, struct line_work *work)
{
	size_t width = choose_inputs(samples, target, rows, count, work);
	bool in[LINE_INPUTS] = { false };

	collect_sums(samples, target, rows, count, width, work);
	line->error = select_inputs(work, width, count, in);
	line->constant = work->mean[width];
	line->count = 0;
	for (size_t j = 0; j < width; j++) {
		double slope = work->sums[j][width];

		if (!in[j])
			continue;
		line->terms[line->count++] = (struct line_term){ work->inputs[j], slope };
		line->constant -= slope * work->mean[j];
	}
}
