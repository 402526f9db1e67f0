/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Grows the trees of boosting on many rows. Inputs are binned once: a bin holds as many rows as any
 * other, unless an input has few distinct values, each of which then has its own bin. A node sums
 * its targets by bin, so it needs no sorted rows, and of two siblings only the smaller one is
 * summed: the other one is the difference to the parent. Cuts are only made between bins; otherwise
 * the trees are those of growth.h.
 */
#ifndef SLUICE_LEARN_LEARNERS_TREES_HISTOGRAM_H
#define SLUICE_LEARN_LEARNERS_TREES_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

#include "learn/learners/trees/growth.h"

#define HISTOGRAM_BINS_MAX 256

struct histogram; /* workspace of one thread, reused for many trees */

/*
 * Bins the inputs; bins is from 2 to HISTOGRAM_BINS_MAX. The plan must be one for SPLIT_VARIANCE
 * without classes. samples and plan must outlive the result. Allocates a byte per value, 12 bytes
 * per row, and up to 48 KiB per input.
 */
struct histogram *histogram_new(const struct samples *samples, const struct growth_plan *plan,
				size_t bins);
void histogram_free(struct histogram *histogram);

/* Like growth_grow(), except that a row has the weight 0 or 1. */
void histogram_grow(struct histogram *histogram, const double *target, const uint16_t *in,
		    struct random *random, struct flat_tree *flat, double *gain);

/* The leaves of the last tree and their rows, as growth_leaves() and growth_rows(). */
const struct growth_leaf *histogram_leaves(const struct histogram *histogram, size_t *count);
const uint32_t *histogram_rows(const struct histogram *histogram, const struct growth_leaf *leaf,
			       size_t *count);

#endif
