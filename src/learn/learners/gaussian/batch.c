/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Predictions of a Gaussian process at many points, as a search needs them between two
 * measurements. Points are processed in tiles, so that the kernel values of a tile stay in the
 * cache while the root is applied to them.
 */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "learn/learners/gaussian/gaussian.h"
#include "learn/learners/gaussian/gaussian_internal.h"

enum { TILE = 64, BLOCK = 8 };

/* gcc 12 does not vectorize loops over so few points. All processors that Sluice supports have
 * vectors of this size. */
typedef double pair __attribute__((vector_size(16), aligned(8), may_alias));

/* values[p][at .. at + BLOCK) becomes the solution of root * solution = values. */
static void solve_block(const struct gaussian *gaussian, double (*values)[TILE], size_t at)
{
	for (size_t p = 0; p < gaussian->points; p++) {
		const double *line = gaussian->root + p * gaussian->cap;
		pair *solution = (pair *)(values[p] + at), sum[BLOCK / 2] = { 0 };

		for (size_t q = 0; q < p; q++)
			for (size_t i = 0; i < BLOCK / 2; i++)
				sum[i] += line[q] * ((const pair *)(values[q] + at))[i];
		for (size_t i = 0; i < BLOCK / 2; i++)
			solution[i] = (solution[i] - sum[i]) / line[p];
	}
}

/* Replaces the kernel values by the explained variance of each point. */
static void compute_explained(const struct gaussian *gaussian, double (*values)[TILE],
			      double *known)
{
	memset(known, 0, TILE * sizeof(*known));
	for (size_t at = 0; at < TILE; at += BLOCK)
		solve_block(gaussian, values, at);
	for (size_t p = 0; p < gaussian->points; p++)
		for (size_t i = 0; i < TILE; i++)
			known[i] += values[p][i] * values[p][i];
}

static double self_covariance(const struct covariance *covariance,
			      const struct covariance_points *points, size_t at, double *row)
{
	if (!covariance->linear)
		return covariance->signal;
	for (size_t i = 0; i < covariance->width; i++)
		row[i] = points->x[i * points->stride + at];
	return covariance_self(covariance, row);
}

/* Computes the kernel between the points and every learned point, and the resulting mean. */
static void start_tile(const struct gaussian *gaussian, const struct covariance *covariance,
		       const struct covariance_points *points, double (*values)[TILE], double *row,
		       double *mean)
{
	memset(mean, 0, TILE * sizeof(*mean));
	for (size_t p = 0; p < gaussian->points; p++) {
		gaussian_get_point(gaussian, p, row);
		covariance_values(covariance, points, row, values[p]);
		memset(values[p] + points->count, 0, (TILE - points->count) * sizeof(double));
		for (size_t i = 0; i < TILE; i++)
			mean[i] += gaussian->weights[p] * values[p][i];
	}
}

void gaussian_predict_points(const struct gaussian *gaussian,
			     const struct covariance_points *points, double *mean,
			     double *deviation)
{
	struct covariance covariance = gaussian_covariance(gaussian);
	AUTO_FREE double(*values)[TILE] = xmalloc(gaussian->points * sizeof(*values));
	AUTO_FREE double *row = xmalloc((gaussian->width + 1) * sizeof(*row));
	double means[TILE], known[TILE];

	for (size_t at = 0; at < points->count; at += TILE) {
		struct covariance_points some = { points->x + at, points->stride,
						  points->count - at };

		some.count = some.count < TILE ? some.count : TILE;
		start_tile(gaussian, &covariance, &some, values, row, means);
		for (size_t i = 0; i < some.count; i++)
			mean[at + i] = gaussian->center + gaussian->scale * means[i];
		if (!deviation)
			continue;
		compute_explained(gaussian, values, known);
		for (size_t i = 0; i < some.count; i++) {
			double rest = self_covariance(&covariance, &some, i, row) - known[i];

			deviation[at + i] = rest > 0 ? gaussian->scale * sqrt(rest) : 0;
		}
	}
}
