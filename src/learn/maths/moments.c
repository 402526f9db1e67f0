/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Columns are scaled by a power of two, which changes no digit, so that the largest number of each
 * is near 1. Numbers of an ordinary size need none of that: they are summed once, around a guess of
 * the mean.
 */
#include "learn/maths/moments.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Per column. */
struct moments {
	double *scale; /* a power of two */
	double *mean;  /* of scaled values */
};

static void moments_release(struct moments *moments)
{
	free(moments->scale);
	free(moments->mean);
}

static void scales_find(double *scale, const double *x, size_t rows, size_t width)
{
	for (size_t j = 0; j < width; j++)
		scale[j] = 0;
	for (size_t i = 0; i < rows; i++) {
		for (size_t j = 0; j < width; j++) {
			double size = fabs(x[i * width + j]);

			scale[j] = size > scale[j] ? size : scale[j];
		}
	}
	/* 1000 and not 1023: the reciprocal must be a normal number, too. */
	for (size_t j = 0; j < width; j++)
		scale[j] =
			scale[j] > 0 ? ldexp(1, -(int)fmax(-1000, fmin(1000, ilogb(scale[j])))) : 1;
}

/* Once from means of 0, and once more to take out what rounding has left. */
static void means_add(const struct moments *moments, double *sums, const double *x, size_t rows,
		      size_t width)
{
	for (size_t j = 0; j < width; j++)
		sums[j] = 0;
	for (size_t i = 0; i < rows; i++) {
		for (size_t j = 0; j < width; j++)
			sums[j] += x[i * width + j] * moments->scale[j] - moments->mean[j];
	}
	for (size_t j = 0; j < width; j++)
		moments->mean[j] += sums[j] / (double)rows;
}

static void moments_init(struct moments *moments, const double *x, size_t rows, size_t width)
{
	AUTO_FREE double *sums = xcalloc(width, sizeof(*sums));

	moments->scale = xcalloc(width, sizeof(double));
	moments->mean = xcalloc(width, sizeof(double));
	scales_find(moments->scale, x, rows, width);
	means_add(moments, sums, x, rows, width);
	means_add(moments, sums, x, rows, width);
}

void moments_mean(const double *x, size_t rows, size_t width, double *mean)
{
	struct moments moments;

	moments_init(&moments, x, rows, width);
	for (size_t j = 0; j < width; j++)
		mean[j] = moments.mean[j] / moments.scale[j];
	moments_release(&moments);
}

void moments_deviation(const double *x, size_t rows, size_t width, double *deviation)
{
	AUTO_FREE double *sums = xcalloc(width, sizeof(*sums));
	struct moments moments;

	moments_init(&moments, x, rows, width);
	for (size_t j = 0; j < width; j++)
		deviation[j] = 0;
	for (size_t i = 0; i < rows; i++) {
		for (size_t j = 0; j < width; j++) {
			double off = x[i * width + j] * moments.scale[j] - moments.mean[j];

			sums[j] += off;
			deviation[j] += off * off;
		}
	}
	for (size_t j = 0; j < width; j++) {
		/* What rounding of the mean alone can add up to. */
		double noise = (double)rows * pow(DBL_EPSILON * moments.mean[j], 2) * 4;

		deviation[j] -= sums[j] * (sums[j] / (double)rows);
		deviation[j] = deviation[j] > noise
				       ? sqrt(deviation[j] / (double)(rows - 1)) / moments.scale[j]
				       : 0;
	}
	moments_release(&moments);
}

/* ---- both at once ---- */

enum { GUESS_ROWS = 32 };

/* Sums of squares in between neither overflow nor vanish. */
#define SQUARES_LEAST 1e-200
#define SQUARES_MOST 1e200

/* So much larger than what is left may be what is taken off: it costs a digit at most. */
#define CORRECTION_MOST 9.0

/* Of some rows, around the first one: exact for a constant column. */
static void means_guess(double *mean, const double *x, size_t rows, size_t width)
{
	size_t stride = (rows + GUESS_ROWS - 1) / GUESS_ROWS, seen = (rows + stride - 1) / stride;

	for (size_t j = 0; j < width; j++)
		mean[j] = 0;
	for (size_t i = stride; i < rows; i += stride) {
		for (size_t j = 0; j < width; j++)
			mean[j] += x[i * width + j] - x[j];
	}
	for (size_t j = 0; j < width; j++)
		mean[j] = x[j] + mean[j] / (double)seen;
}

/* Four rows at a time: the sums are loaded and stored once for all of them. */
static void offsets_add(double *restrict sum, double *restrict square, const double *restrict from,
			const double *restrict x, size_t rows, size_t width)
{
	const double *end = x + rows * width;

	for (; (size_t)(end - x) >= 4 * width; x += 4 * width) {
		for (size_t j = 0; j < width; j++) {
			double a = x[j] - from[j], b = x[width + j] - from[j];
			double c = x[2 * width + j] - from[j], d = x[3 * width + j] - from[j];

			sum[j] += (a + b) + (c + d);
			square[j] += (a * a + b * b) + (c * c + d * d);
		}
	}
	for (; x < end; x += width) {
		for (size_t j = 0; j < width; j++) {
			sum[j] += x[j] - from[j];
			square[j] += (x[j] - from[j]) * (x[j] - from[j]);
		}
	}
}

static bool column_constant(const double *x, size_t rows, size_t width)
{
	for (size_t i = 1; i < rows; i++) {
		if (x[i * width] != x[0])
			return false;
	}
	return true;
}

/*
 * Moves the guesses to the means and puts sums of squares around them into square. False if that
 * was not accurate: a guess was too far off, or the numbers are not of an ordinary size.
 */
static bool means_correct(double *mean, double *sum, double *square, const double *x, size_t rows,
			  size_t width)
{
	bool good = true;

	memset(sum, 0, width * sizeof(*sum));
	memset(square, 0, width * sizeof(*square));
	offsets_add(sum, square, mean, x, rows, width);
	for (size_t j = 0; j < width; j++) {
		double shift = sum[j] / (double)rows, excess = sum[j] * shift;

		mean[j] += shift;
		square[j] -= excess;
		if (square[j] == 0 && excess == 0)
			good &= column_constant(x + j, rows, width);
		else
			good &= square[j] > SQUARES_LEAST && square[j] < SQUARES_MOST &&
				excess <= CORRECTION_MOST * square[j];
	}
	return good;
}

bool moments_find(const double *x, size_t rows, size_t width, double *mean, double *deviation)
{
	AUTO_FREE double *sum = xmalloc(width * sizeof(*sum));
	bool good = false;

	means_guess(mean, x, rows, width);
	/* The second time it starts from what the first has found. */
	for (int times = 0; times < 2 && !good; times++)
		good = means_correct(mean, sum, deviation, x, rows, width);
	for (size_t j = 0; good && j < width; j++)
		deviation[j] = deviation[j] > 0 ? sqrt(deviation[j] / (double)(rows - 1)) : 0;
	if (!good) {
		moments_mean(x, rows, width, mean);
		moments_deviation(x, rows, width, deviation);
	}
	return good;
}
