/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Maps the parts of a merged trace to a common time line: finds out which parts share a clock and
 * aligns the clocks of different hosts (trace/merge/align.h).
 */
#ifndef SLUICE_TRACE_MERGE_MERGE_TIME_H
#define SLUICE_TRACE_MERGE_MERGE_TIME_H

#include "trace/format.h"
#include "trace/merge/merge.h"

/* Times come from files and may be any number: results saturate. */
static inline int64_t ns_add(int64_t a, int64_t b)
{
	int64_t s;

	if (__builtin_add_overflow(a, b, &s))
		s = a < 0 ? INT64_MIN : INT64_MAX;
	return s;
}

static inline int64_t ns_subtract(int64_t a, int64_t b)
{
	int64_t d;

	if (__builtin_sub_overflow(a, b, &d))
		d = a < 0 ? INT64_MIN : INT64_MAX;
	return d;
}

/* The clock of a host. */
struct merge_clock {
	size_t first;	   /* the first part of this clock; its time 0 is that of the clock */
	int64_t offset_ns; /* time of the reference clock minus time of this clock */
	int64_t error_ns;  /* maximum error of the offset; -1: unknown */
	const char *method;
};

struct merge_times {
	struct merge_clock *clocks;
	size_t clock_count;
	size_t reference;   /* index of the clock that the others are aligned with */
	size_t *clock_of;   /* clock of each part */
	int64_t *shift_ns;  /* per part: added to its times; the smallest is 0 */
	int64_t started_ns; /* time of day at the merged time 0, by the reference clock */
};

/* heads[i] belongs to the trace at paths[i]. Reads the traces if there is more than one clock.
 * corrections may be NULL. */
int merge_times_find(struct merge_times *times, const struct trace_head *const *heads,
		     const char *const *paths, size_t count,
		     const struct merge_corrections *corrections, struct err *err);
void merge_times_release(struct merge_times *times);

/* The correction of a host's time of day. */
int64_t merge_times_correction_ns(const struct merge_times *times,
				  const struct trace_head *const *heads, size_t clock);

#endif
