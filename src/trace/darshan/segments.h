/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The modules DXT_POSIX and DXT_MPIIO: one segment per read or write. They become activities in the
 * order of their start, although a log has them file by file. Memory is bounded: the log is read
 * once to count the segments in equal periods, and then once for each group of periods with up to
 * SEGMENTS_WINDOW segments.
 *
 * A POSIX segment that a thread made during one of its MPI-IO segments is a child of it.
 */
#ifndef SLUICE_TRACE_DARSHAN_SEGMENTS_H
#define SLUICE_TRACE_DARSHAN_SEGMENTS_H

#include <sys/types.h>

#include "trace/darshan/import.h"

#define SEGMENTS_WINDOW (2u << 20)
enum { SEGMENTS_PERIODS = 1 << 14 };

struct segment;
struct enclosing;

struct segments {
	uint64_t in_period[SEGMENTS_PERIODS]; /* number of segments that start in it */
	int64_t period_ns;
	uint64_t total;	      /* without those of damaged parts */
	size_t window_max;    /* SEGMENTS_WINDOW; tests set less */
	unsigned next_period; /* the first one after the window */
	struct segment *window;
	size_t count, used, cap;
	struct enclosing *enclosing; /* per process, the latest MPI-IO segment */
};

/*
 * Counts all segments, and enters them into import->coverage. Damaged modules are noted. Call it
 * after import_job().
 */
void segments_count(struct segments *segments, struct import *import);

/* Returns up to cap activities, 0 at the end, -errno if the log cannot be read any more. */
ssize_t segments_next(struct segments *segments, struct import *import, struct activity *batch,
		      size_t cap, struct err *err);

void segments_release(struct segments *segments);

#endif
