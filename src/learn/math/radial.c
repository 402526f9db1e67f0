/* SPDX-License-Identifier: BSD-3-Clause
 *
 * |row - p|^2 is expanded to |row|^2 + |p|^2 - 2 row.p, like in libsvm's training: one
 * multiplication and one addition per number. Blocks are padded with points of weight 0.
 */
#include "learn/math/radial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "learn/file/blob.h"
#include "learn/math/exponential.h"
#include "learn/math/vector.h"

typedef radial_pair pair;

enum { PAIRS = RADIAL_LANES / 2 };

/* A row with gamma |row|^2 beyond this is far from all points. */
#define FAR 1e12

static size_t count_blocks(size_t points)
{
	return (points + RADIAL_LANES - 1) / RADIAL_LANES;
}

void radial_init(struct radial *radial, size_t width, size_t groups, size_t weights,
		 const size_t *points, double gamma)
{
	*radial = (struct radial){
		.width = width, .groups = groups, .weights = weights, .gamma = gamma
	};
	radial->points = xcalloc(groups, sizeof(*radial->points));
	for (size_t i = 0; i < groups; i++) {
		radial->points[i] = points[i];
		radial->block_count += count_blocks(points[i]);
	}
	radial->blocks =
		xcalloc(radial->block_count * (width + 1) + 1, RADIAL_LANES * sizeof(double));
	radial->weight = xcalloc(radial->block_count * weights + 1, RADIAL_LANES * sizeof(double));
}

void radial_release(struct radial *radial)
{
	free(radial->points);
	free(radial->blocks);
	free(radial->weight);
	*radial = (struct radial){ 0 };
}

static size_t find_block(const struct radial *radial, size_t group, size_t index)
{
	size_t block = index / RADIAL_LANES;

	for (size_t i = 0; i < group; i++)
		block += count_blocks(radial->points[i]);
	return block;
}

void radial_set(struct radial *radial, size_t group, size_t index, const double *point,
		const double *weights)
{
	size_t block = find_block(radial, group, index), lane = index % RADIAL_LANES;
	double *to = (double *)(radial->blocks + block * (radial->width + 1) * PAIRS) + lane;
	double square = 0;

	for (size_t j = 0; j < radial->width; j++) {
		to[j * RADIAL_LANES] = 2 * radial->gamma * point[j];
		square += point[j] * point[j];
	}
	to[radial->width * RADIAL_LANES] = -radial->gamma * square;
	for (size_t k = 0; k < radial->weights; k++)
		radial->weight[(block * radial->weights + k) * RADIAL_LANES + lane] = weights[k];
}

/* The values of the sixteen functions of a block. start is -gamma |row|^2. */
static inline __attribute__((always_inline)) void compute_block(const pair *block,
								const double *row, size_t width,
								double start, pair values[PAIRS])
{
	for (size_t l = 0; l < PAIRS; l++)
		values[l] = block[width * PAIRS + l] + start;
	for (size_t j = 0; j < width; j++, block += PAIRS) {
		double at = row[j];

		for (size_t l = 0; l < PAIRS; l++)
			values[l] += block[l] * at;
	}
	exponential_sixteen(values);
}

static inline __attribute__((always_inline)) pair weighted_sum(const double *weight,
							       const pair values[PAIRS])
{
	const pair *pairs = (const pair *)weight;
	pair even = pairs[0] * values[0], odd = pairs[1] * values[1];

	for (size_t l = 2; l < PAIRS; l += 2) {
		even += pairs[l] * values[l];
		odd += pairs[l + 1] * values[l + 1];
	}
	return even + odd;
}

void radial_sums(const struct radial *radial, const double *row, double *sums)
{
	size_t width = radial->width, weights = radial->weights;
	const pair *block = radial->blocks;
	const double *weight = radial->weight;
	double start = 0;

	for (size_t j = 0; j < width; j++)
		start -= radial->gamma * row[j] * row[j];
	/* Only rounding errors would remain of the distances. */
	if (!(start > -FAR)) {
		memset(sums, 0, radial->groups * weights * sizeof(*sums));
		return;
	}
	for (size_t g = 0; g < radial->groups; g++) {
		pair sum[RADIAL_WEIGHTS_MAX];

		memset(sum, 0, weights * sizeof(*sum));
		for (size_t b = 0; b < count_blocks(radial->points[g]); b++) {
			pair values[PAIRS];

			compute_block(block, row, width, start, values);
			for (size_t k = 0; k < weights; k++)
				sum[k] += weighted_sum(weight + k * RADIAL_LANES, values);
			block += (width + 1) * PAIRS;
			weight += weights * RADIAL_LANES;
		}
		for (size_t k = 0; k < weights; k++)
			*sums++ = sum[k][0] + sum[k][1];
	}
}

void radial_save(const struct radial *radial, struct buf *buf)
{
	blob_put_real(buf, radial->gamma);
	for (size_t i = 0; i < radial->groups; i++)
		blob_put_u64(buf, radial->points[i]);
	blob_put_reals(buf, (const double *)radial->blocks,
		       radial->block_count * (radial->width + 1) * RADIAL_LANES);
	blob_put_reals(buf, radial->weight, radial->block_count * radial->weights * RADIAL_LANES);
}

void radial_load(struct radial *radial, struct blob *blob, size_t width, size_t groups,
		 size_t weights)
{
	double gamma = blob_take_real(blob);
	size_t points[RADIAL_WEIGHTS_MAX] = { 0 }, count, all = 0;

	*radial = (struct radial){ 0 };
	if (!blob_expect(blob, groups >= 1 && groups <= RADIAL_WEIGHTS_MAX && weights >= 1 &&
				       weights <= RADIAL_WEIGHTS_MAX && gamma > 0 &&
				       isfinite(gamma)))
		return;
	for (size_t i = 0; i < groups; i++) {
		points[i] = blob_take_count(blob, (width + 1 + weights) * sizeof(double));
		all += points[i];
	}
	/* Each count is valid; check their sum. */
	if (!blob_ok(blob) ||
	    !blob_expect(blob, all <= (size_t)(blob->end - blob->at) /
					       ((width + 1 + weights) * sizeof(double))))
		return;
	radial_init(radial, width, groups, weights, points, gamma);
	count = radial->block_count * (width + 1) * RADIAL_LANES;
	blob_take_reals(blob, (double *)radial->blocks, count);
	blob_expect(blob, vector_all_finite((double *)radial->blocks, count));
	count = radial->block_count * weights * RADIAL_LANES;
	blob_take_reals(blob, radial->weight, count);
	if (!blob_ok(blob) || !blob_expect(blob, vector_all_finite(radial->weight, count)))
		radial_release(radial);
}
