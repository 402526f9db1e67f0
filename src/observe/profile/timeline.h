/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What happened when: equal bins over the run, per layer, per member and per file.
 *
 * If the length of the run is unknown or too short, the bins are made twice as wide as often as
 * necessary. The bytes and time of a call are spread evenly over the bins that it covers; its
 * count is in the bin of its start.
 */
#ifndef SLUICE_OBSERVE_PROFILE_TIMELINE_H
#define SLUICE_OBSERVE_PROFILE_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "contract/call.h"
#include "observe/profile/raster.h"
#include "trace/activity.h"

enum { TIMELINE_BINS = 256 };
/* Rows of the heat map. With more members, each row stands for several consecutive ones. */
enum { TIMELINE_ROWS = 256 };

/* Arrays of two are indexed by READING and WRITING. */
struct timeline_bin {
	uint64_t calls;
	uint64_t bytes[2];
	int64_t time_ns; /* in calls, summed over threads */
};

struct timeline_cell {
	uint64_t bytes[2]; /* that the program requested, see `io` in observe/tally/sums.h */
	int64_t time_ns;   /* in I/O, summed over threads */
};

struct timeline {
	int64_t from_ns; /* start of the first bin, since the start of the run */
	int64_t bin_ns;	 /* width of a bin; at least 1 */
	/* Calls that no other call of the same layer encloses. */
	struct timeline_bin layers[LAYER_COUNT][TIMELINE_BINS];
	/* Calls that no other I/O call encloses: what the program requested and waited for. */
	struct timeline_bin io[TIMELINE_BINS];
	struct timeline_cell *rows; /* row * TIMELINE_BINS + bin */
	size_t row_count;	    /* at most TIMELINE_ROWS */
	int64_t members; /* ranks, or processes of a serial run, that the rows stand for */
	struct rasters rasters;
};

/*
 * duration_ns is the expected length of the run; members is the size of the world, or the number of
 * processes.
 */
void timeline_init(struct timeline *timeline, int64_t duration_ns, int64_t members);
void timeline_release(struct timeline *timeline);

/* First member of a row, counted from 0; that of row row_count is `members`. */
int64_t timeline_row_first(const struct timeline *timeline, size_t row);

/* The bins that a time covers. It is valid until another time is looked up. */
struct timeline_span {
	int64_t start_ns, duration_ns;
	int first, last;
};

/* Finds the bins; makes them wider if necessary. */
struct timeline_span timeline_find(struct timeline *timeline, int64_t start_ns,
				   int64_t duration_ns);

/* Adds to bins of the timeline (one of its layers, or `io`), or to the row of a member. */
void timeline_add(const struct timeline *timeline, const struct timeline_span *span,
		  struct timeline_bin *bins, const struct timeline_bin *what);
void timeline_add_member(struct timeline *timeline, const struct timeline_span *span,
			 int64_t member, const struct timeline_bin *what);

/* Adds the timeline of another part. */
struct merged_map;
void timeline_merge(struct timeline *timeline, const struct timeline *other,
		    const struct merged_map *map, int32_t member_base);

#endif
