/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Columns are scaled by a power of two, which changes no digit, so that the largest number of each
 * is near 1.
 */
#include "learn/data/moments.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

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
	struct moments moments;

	moments_init(&moments, x, rows, width);
	for (size_t j = 0; j < width; j++)
		deviation[j] = 0;
	for (size_t i = 0; i < rows; i++) {
		for (size_t j = 0; j < width; j++) {
			double off = x[i * width + j] * moments.scale[j] - moments.mean[j];

			deviation[j] += off * off;
		}
	}
	for (size_t j = 0; j < width; j++) {
		/* What rounding of the mean alone can add up to. */
		double noise = (double)rows * pow(DBL_EPSILON * moments.mean[j], 2) * 4;

		deviation[j] = deviation[j] > noise
				       ? sqrt(deviation[j] / (double)(rows - 1)) / moments.scale[j]
				       : 0;
	}
	moments_release(&moments);
}
