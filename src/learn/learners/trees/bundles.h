/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Bundles of inputs of which at most one is set in any row, such as the levels of a text column. A
 * tree handles a bundle as a single column of levels, so that a thousand levels cost as much as one
 * input. A cut still separates one level from all others, as if each input were on its own.
 */
#ifndef SLUICE_LEARN_LEARNERS_TREES_BUNDLES_H
#define SLUICE_LEARN_LEARNERS_TREES_BUNDLES_H

#include <stddef.h>
#include <stdint.h>

struct samples;

/* Adjacent inputs; those of an ordinary input are just itself. */
struct bundle {
	uint32_t first, count;
};

struct bundles {
	struct bundle *list;
	size_t count;
	uint32_t *of;	     /* the bundle of each input */
	double *unset, *set; /* the two values of each input that is in a bundle of several */
};

/*
 * Finds the bundles. Inputs are bundled if they are adjacent, have two values each, and no row has
 * the higher value in two of them. A bundle has at most `most` inputs, and at least BUNDLES_LEAST
 * unless it is an ordinary input. Takes one pass over the rows.
 */
#define BUNDLES_LEAST 3
void bundles_init(struct bundles *bundles, const struct samples *samples, size_t most);
void bundles_release(struct bundles *bundles);

/* The level of a row: 0 if no input of the bundle is set, else 1 + the input's index in it. */
uint32_t bundles_level(const struct bundles *bundles, const struct bundle *bundle,
		       const double *row);

#endif
