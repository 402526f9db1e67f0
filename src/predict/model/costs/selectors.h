/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which ranks write (HYB-36). Pure arithmetic on numbers of ranks; the MPI program of the storage
 * benchmark is linked with it, so it needs nothing but base/.
 *
 *   uniform    every ceil(ranks / wanted)-th rank. That is too few where it does not divide, so the
 *              rest is taken from ranks that are left, evenly.
 *   bridges    of Blue Gene, as its collective I/O does: a rank on every bridge first, the rest
 *              evenly over psets, and within a pset evenly over nodes.
 *   spread     of ordinary machines: evenly over nodes, on a node evenly over sockets.
 *
 * All give exactly as many ranks as were wanted, in rising order, no rank twice.
 */
#ifndef SLUICE_PREDICT_MODEL_COSTS_SELECTORS_H
#define SLUICE_PREDICT_MODEL_COSTS_SELECTORS_H

#include <stddef.h>
#include <stdint.h>

struct err;

struct chosen {
	uint64_t *ranks; /* rising */
	size_t count;
	/* Of uniform: the stride, and how many it gave before the rest was filled up. */
	uint64_t stride, by_stride;
};
void chosen_release(struct chosen *chosen);

/* -EINVAL where more are wanted than there are ranks, or none. chosen is untouched then. */
int selector_uniform(struct chosen *chosen, uint64_t ranks, uint64_t wanted, struct err *err);

/* Nodes are numbered along psets; node k has ranks k * cores and those behind it. */
struct selector_psets {
	uint64_t nodes, cores;
	uint64_t pset_nodes;   /* nodes of a pset; divides nodes */
	uint64_t pset_bridges; /* bridges of a pset, spread over its nodes; divides pset_nodes */
};
int selector_bridges(struct chosen *chosen, const struct selector_psets *psets, uint64_t wanted,
		     struct err *err);

/* Where rank r runs; sockets NULL: not known. Numbers of both may be any. */
int selector_spread(struct chosen *chosen, const uint32_t *nodes, const uint32_t *sockets,
		    uint64_t ranks, uint64_t wanted, struct err *err);

/*
 * So many out of a larger selection, evenly: those who write in an incomplete round. Index i of
 * part is element selector_part(whole, part, i) of the whole.
 */
size_t selector_part(size_t whole, size_t part, size_t i);

#endif
