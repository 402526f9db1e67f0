/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The byte ranges of a file that a process accessed, in bounded memory: consecutive blocks and
 * blocks with a constant stride form one run. If there are too many runs, only the range that
 * covers them is kept, and the bytes inside are unknown.
 */
#ifndef SLUICE_OBSERVE_TALLY_REGIONS_H
#define SLUICE_OBSERVE_TALLY_REGIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REGIONS_RUNS_MAX 32

/* `count` blocks of `bytes` bytes; their starts are `stride` bytes apart. */
struct region_run {
	int64_t from, bytes, stride;
	uint64_t count;
	bool has_holes; /* non-contiguous: not all of these bytes were accessed */
};

/* A zeroed object is empty. */
struct regions {
	struct region_run *runs;
	size_t count, cap;
	int64_t low, high; /* [low, high) covers all runs; valid if count > 0 */
	bool unplaced;	   /* there were accesses at unknown positions */
};

void regions_release(struct regions *regions);

/* Adds a run as it is, for regions that were saved. Returns false if it is invalid. */
bool regions_put(struct regions *regions, const struct region_run *run);

/* An invalid position (negative, or beyond 2^62) counts as unknown. */
void regions_add(struct regions *regions, int64_t offset, int64_t bytes, bool has_holes);
void regions_add_all(struct regions *regions, const struct regions *other);

/* Upper bound of the number of different bytes in the runs. */
uint64_t regions_bytes(const struct regions *regions);

/* How the regions of several ranks relate to each other. */
enum sharing {
	SHARING_NONE,	     /* no rank accessed any */
	SHARING_ONE,	     /* one rank did */
	SHARING_DISJOINT,    /* each rank has its own range */
	SHARING_INTERLEAVED, /* ranges interleave, but no byte belongs to two ranks */
	SHARING_OVERLAPPING, /* at least one byte belongs to two ranks */
	SHARING_UNKNOWN,
	SHARINGS
};
extern const char *const sharing_names[SHARINGS];

/* Compares the regions of all ranks. Empty regions are ignored. */
enum sharing regions_compare(const struct regions *const *each, size_t count);

#endif
