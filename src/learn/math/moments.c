/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Columns are scaled by a power of two, which preserves all digits, so that the largest number of
 * each column is near 1. Numbers of moderate magnitude need no scaling: they are summed once,
 * around an estimate of the mean.
 */
#include "learn/math/moments.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Per column. */
struct moments {
	double *scale; /* a power of two */
	double *mean;  /* of the scaled values */
};

static void moments_release(struct moments *moments)
{
	free(moments->scale);
	free(moments->mean);
}

static void find_scales(double *scale, const double *x, size_t rows, size_t width)
{
	for (size_t j = 0; j < width; j++)
		scale[j] = 0;
	for (size_t i = 0; i < rows; i++) {
		for (size_t j = 0; j < width; j++) {
			double size = fabs(x[i * width + j]);

			scale[j] = size > scale[j] ? size : scale[j];
		}
	}
	/*
	 * The limit is 1000 instead of 1023, because the reciprocal must be a normal number, too.
	 */
	for (size_t j = 0; j < width; j++)
		scale[j] =
			scale[j] > 0 ? ldexp(1, -(int)fmax(-1000, fmin(1000, ilogb(scale[j])))) : 1;
}

/* Called once with means of 0, and again to correct the rounding errors of the first pass. */
static void add_offsets(const struct moments *moments, double *sums, const double *x, size_t rows,
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
	find_scales(moments->scale, x, rows, width);
	add_offsets(moments, sums, x, rows, width);
	add_offsets(moments, sums, x, rows, width);
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
		/* The largest sum that rounding of the mean alone can cause. */
		double noise = (double)rows * pow(DBL_EPSILON * moments.mean[j], 2) * 4;

		deviation[j] -= sums[j] * (sums[j] / (double)rows);
		deviation[j] = deviation[j] > noise
				       ? sqrt(deviation[j] / (double)(rows - 1)) / moments.scale[j]
				       : 0;
	}
	moments_release(&moments);
}

enum { GUESS_ROWS = 32 };

/* Within these limits sums of squares neither overflow nor underflow. */
#define SQUARES_LEAST 1e-200
#define SQUARES_MOST 1e200

/* The subtracted part may exceed the remainder by this factor, which costs at most one digit. */
#define CORRECTION_MOST 9.0

/* Estimates the means from some rows, relative to the first row; exact for a constant column. */
static void estimate_means(double *mean, const double *x, size_t rows, size_t width)
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

/* Adds four rows at a time, so that the sums are loaded and stored once for all of them. */
static void sum_offsets(double *restrict sum, double *restrict square, const double *restrict from,
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

static bool column_is_constant(const double *x, size_t rows, size_t width)
{
	for (size_t i = 1; i < rows; i++) {
		if (x[i * width] != x[0])
			return false;
	}
	return true;
}

/*
 * Corrects the estimates to the means and stores the sums of squares around them in square. Returns
 * false if the result is inaccurate: an estimate was too far off, or the numbers are too large or
 * too small.
 */
static bool correct_means(double *mean, double *sum, double *square, const double *x, size_t rows,
			  size_t width)
{
	bool good = true;

	memset(sum, 0, width * sizeof(*sum));
	memset(square, 0, width * sizeof(*square));
	sum_offsets(sum, square, mean, x, rows, width);
	for (size_t j = 0; j < width; j++) {
		double shift = sum[j] / (double)rows, excess = sum[j] * shift;

		mean[j] += shift;
		square[j] -= excess;
		if (square[j] == 0 && excess == 0)
			good &= column_is_constant(x + j, rows, width);
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

	estimate_means(mean, x, rows, width);
	/* The second attempt starts from the result of the first. */
	for (int times = 0; times < 2 && !good; times++)
		good = correct_means(mean, sum, deviation, x, rows, width);
	for (size_t j = 0; good && j < width; j++)
		deviation[j] = deviation[j] > 0 ? sqrt(deviation[j] / (double)(rows - 1)) : 0;
	if (!good) {
		moments_mean(x, rows, width, mean);
		moments_deviation(x, rows, width, deviation);
	}
	return good;
}
