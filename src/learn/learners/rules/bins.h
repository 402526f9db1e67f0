/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Quantized inputs, for learners that only compare a value with a threshold. Each input has at most
 * 255 cuts: between its distinct values if there are few, else at quantiles. A value takes one
 * byte.
 */
#ifndef SLUICE_LEARN_LEARNERS_RULES_BINS_H
#define SLUICE_LEARN_LEARNERS_RULES_BINS_H

#include <stddef.h>
#include <stdint.h>

struct samples;

enum { BINS_MAX = 256 };

struct bins {
	size_t rows, width;
	uint8_t *codes; /* width x rows: number of cuts of the input below the value */
	double *cuts;	/* cuts of all inputs in turn, ascending */
	size_t *first;	/* width + 1: position of the first cut of each input */
};

void bins_init(struct bins *bins, const struct samples *samples);
void bins_release(struct bins *bins);

static inline size_t bins_count(const struct bins *bins, size_t input)
{
	return bins->first[input + 1] - bins->first[input] + 1;
}

/* A value is above bin `code` if it is greater than this cut. */
static inline double bins_cut(const struct bins *bins, size_t input, size_t code)
{
	return bins->cuts[bins->first[input] + code];
}

#endif
