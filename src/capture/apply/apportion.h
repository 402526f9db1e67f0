/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Divides the stripes of one file among weighted destinations: how many each gets, and in which
 * order. Guest.
 *
 * Each destination gets its share of the stripes, rounded down or up; the largest remainders are
 * rounded up, and of equal ones the first. So the bytes of a long file follow the weights as
 * closely as whole stripes can. If there are fewer stripes than destinations, the same ones would
 * always be left out: which destinations with less than one stripe get one is therefore not decided
 * here, but by their turn (capture/apply/weighted_rotation.h).
 */
#ifndef SLUICE_CAPTURE_APPLY_APPORTION_H
#define SLUICE_CAPTURE_APPLY_APPORTION_H

#include <stdbool.h>
#include <stdint.h>

#include "contract/parameters.h"

/* Too large for a stack. */
struct apportionment {
	unsigned count;
	double weights[PARAMETERS_DESTINATIONS]; /* positive, or 0: gets nothing */
	uint16_t parts[PARAMETERS_DESTINATIONS]; /* stripes of each destination */
	/* Working memory. */
	double rests[PARAMETERS_DESTINATIONS];
	uint16_t had[PARAMETERS_DESTINATIONS];
};

#pragma GCC visibility push(hidden)

/*
 * Sets the parts by the weights. Returns the number of stripes that remain: for as many of the
 * destinations without a part, one each. 0 if all stripes are divided.
 */
unsigned apportion_divide(struct apportionment *a, unsigned stripes);

/* The same with at most one stripe per destination. */
unsigned apportion_divide_once(struct apportionment *a, unsigned stripes);

/* Does a destination have several parts? */
bool apportion_repeats(const struct apportionment *a);

/*
 * Writes the index of the destination of each stripe and returns the number of stripes, of which
 * there must be at most `most`. The stripes of each destination are evenly spread, and no neighbors
 * are on the same destination unless one has more than half of the stripes. The first stripe is a
 * neighbor of the last, which it follows in the file; so the file may begin at any of them.
 */
unsigned apportion_order(struct apportionment *a, uint16_t *order, unsigned most);

#pragma GCC visibility pop

#endif
