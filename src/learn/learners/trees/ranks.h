/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Inputs as ranks within their column, which is all that the growing of trees needs to know until a
 * split is chosen. Values are told apart as floats are, like scikit-learn does it.
 *
 * Up to RANKS_MOST rows every different value has a rank of its own. Beyond, a column of more
 * different values than that is cut to as many, in equal steps.
 */
#ifndef SLUICE_LEARN_LEARNERS_TREES_RANKS_H
#define SLUICE_LEARN_LEARNERS_TREES_RANKS_H

#include <stddef.h>
#include <stdint.h>

struct cells;
struct samples;

#define RANKS_MOST 65536

/* An input as trees see it: rounded, without a negative zero, kept finite. */
float ranks_value(double x);

/* Its bits, so that they compare as it does. */
uint32_t ranks_bits(float value);

/*
 * Cells by ascending value of a column, as rank << 32 | cell; equal ones keep their order. Yields
 * the half of scratch (2 x cells) that holds them; *levels is how many ranks there are.
 */
const uint64_t *ranks_sort(const struct samples *samples, const struct cells *cells, size_t column,
			   uint64_t *scratch, size_t *levels);

/*
 * Sorts entries of rank << 16 | position and of rank << 32 | position by rank. spare has room for
 * as many. Yields the array that holds the result: either of the two.
 */
uint32_t *ranks_order(uint32_t *entries, uint32_t *spare, size_t count, size_t levels);
uint64_t *ranks_order_wide(uint64_t *entries, uint64_t *spare, size_t count, size_t levels);

#endif
