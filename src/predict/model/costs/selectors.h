/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Selects the ranks that write. It is pure arithmetic on rank numbers; the MPI program of the
 * storage benchmark links it, so it needs nothing but base/.
 *
 *   uniform    every ceil(ranks / wanted)-th rank. If that yields too few, the remaining ranks are
 *              taken evenly from the others.
 *   spread     evenly over nodes, and on a node evenly over sockets.
 *
 * Both select exactly the wanted number of distinct ranks, in ascending order.
 */
#ifndef SLUICE_PREDICT_MODEL_COSTS_SELECTORS_H
#define SLUICE_PREDICT_MODEL_COSTS_SELECTORS_H

#include <stddef.h>
#include <stdint.h>

struct err;

struct chosen {
	uint64_t *ranks; /* ascending */
	size_t count;
	/* uniform: the stride, and the number of ranks that it selected. */
	uint64_t stride, by_stride;
};
void chosen_release(struct chosen *chosen);

/* -EINVAL: `wanted` is 0 or exceeds the number of ranks; chosen is untouched then. */
int selector_uniform(struct chosen *chosen, uint64_t ranks, uint64_t wanted, struct err *err);

/* nodes[r] and sockets[r] identify the place of rank r, with arbitrary numbers. sockets NULL:
 * unknown. */
int selector_spread(struct chosen *chosen, const uint32_t *nodes, const uint32_t *sockets,
		    uint64_t ranks, uint64_t wanted, struct err *err);

/*
 * Selects `part` items evenly out of `whole`, for the writers of an incomplete round. Returns the
 * index of the i-th selected item.
 */
size_t selector_part(size_t whole, size_t part, size_t i);

#endif
