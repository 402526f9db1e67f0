/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which bytes of a file somebody accessed, in bounded memory: blocks that follow each other or keep
 * a constant stride are one run. What does not fit is kept as the range that covers it, and the
 * bytes inside are then not known.
 */
#ifndef SLUICE_OBSERVE_PLUGINS_REGIONS_H
#define SLUICE_OBSERVE_PLUGINS_REGIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REGIONS_RUNS_MAX 32

/* `count` blocks of `bytes`, from start to start `stride` apart. */
struct region_run {
	int64_t from, bytes, stride;
	uint64_t count;
	bool has_holes; /* a view: not all of these bytes */
};

/* Zeroed is empty. */
struct regions {
	struct region_run *runs;
	size_t count, cap;
	int64_t low, high; /* [low, high) covers all; valid with count */
	bool unplaced;	   /* there were accesses whose place is not known */
};

void regions_release(struct regions *regions);

/* Positions that no file has (negative, or beyond 2^62) make it unplaced. */
void regions_add(struct regions *regions, int64_t offset, int64_t bytes, bool has_holes);
void regions_add_all(struct regions *regions, const struct regions *other);

/* How the regions of several (ranks) lie to each other. */
enum sharing {
	SHARING_NONE,	     /* nobody has any */
	SHARING_ONE,	     /* one has */
	SHARING_DISJOINT,    /* each has a range of its own */
	SHARING_INTERLEAVED, /* ranges mesh, but no byte belongs to two */
	SHARING_OVERLAPPING, /* at least one byte does */
	SHARING_UNKNOWN,
	SHARINGS
};
extern const char *const sharing_names[SHARINGS];

/* The regions of each; empty ones do not take part. */
enum sharing regions_compare(const struct regions *const *each, size_t count);

#endif
