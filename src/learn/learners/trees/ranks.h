/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Inputs as ranks within their column, which is all that growing a tree needs until a cut is
 * chosen. Values are compared as doubles; scikit-learn rounds them to floats and thus cannot tell
 * close or very large values apart.
 *
 * Up to RANKS_MOST rows, every distinct value has its own rank. Beyond, a column with more distinct
 * values is quantized to that number of ranks in equal steps.
 */
#ifndef SLUICE_LEARN_LEARNERS_TREES_RANKS_H
#define SLUICE_LEARN_LEARNERS_TREES_RANKS_H

#include <stddef.h>
#include <stdint.h>

struct cells;
struct samples;

#define RANKS_MOST 65536

/* The bits of a number in an order that compares like the number; both zeros are equal. */
uint64_t ranks_bits(double value);

/*
 * Sorts cells by ascending value of a column as rank << 32 | cell; the sort is stable. Returns the
 * half of scratch (2 x cells) that holds the result and sets *levels to the number of ranks.
 */
const uint64_t *ranks_sort(const struct samples *samples, const struct cells *cells, size_t column,
			   uint64_t *scratch, size_t *levels);

/*
 * Sort entries of rank << 16 | position, or rank << 32 | position, by rank. spare has room for as
 * many. Return whichever of the two arrays holds the result.
 */
uint32_t *ranks_order(uint32_t *entries, uint32_t *spare, size_t count, size_t levels);
uint64_t *ranks_order_wide(uint64_t *entries, uint64_t *spare, size_t count, size_t levels);

#endif
