/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Inputs as small numbers, for learners that only ask whether a value is above a cut: each input
 * has at most 255 cuts, between its values where it has few, else at quantiles. One byte per value.
 */
#ifndef SLUICE_LEARN_LEARNERS_RULES_BINS_H
#define SLUICE_LEARN_LEARNERS_RULES_BINS_H

#include <stddef.h>
#include <stdint.h>

struct samples;

enum { BINS_MAX = 256 };

struct bins {
	size_t rows, width;
	uint8_t *codes; /* width x rows: how many cuts of the input are below the value */
	double *cuts;	/* all inputs, one after the other; ascending */
	size_t *first;	/* width + 1: where an input's cuts begin */
};

void bins_init(struct bins *bins, const struct samples *samples);
void bins_release(struct bins *bins);

static inline size_t bins_count(const struct bins *bins, size_t input)
{
	return bins->first[input + 1] - bins->first[input] + 1;
}

/* A value is above bin `code` when it is greater than this. */
static inline double bins_cut(const struct bins *bins, size_t input, size_t code)
{
	return bins->cuts[bins->first[input] + code];
}

#endif
