/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where the parts of a trace lie on one line of time: which of them share a clock, and how far the
 * clocks of different hosts are apart (trace/merge/align.h).
 */
#ifndef SLUICE_TRACE_MERGE_MERGE_TIME_H
#define SLUICE_TRACE_MERGE_MERGE_TIME_H

#include "trace/format.h"

/* Times come from files: what does not fit stays at the end of the range. */
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

/* A clock that one or more parts were recorded by: a host's. */
struct merge_clock {
	size_t first;	   /* its first part, whose time 0 is that of the clock */
	int64_t offset_ns; /* added to the clock's times to get those of the reference clock */
	int64_t error_ns;
	const char *method;
};

struct merge_times {
	struct merge_clock *clocks;
	size_t clock_count;
	size_t reference;   /* index of the clock that others are brought to */
	size_t *clock_of;   /* by part */
	int64_t *shift_ns;  /* by part: added to its times; the least is 0 */
	int64_t started_ns; /* time of day at the merged time 0, by the reference clock */
};

/* heads[i] is that of the trace at paths[i]; the traces are read if there is more than one clock.
 */
int merge_times_find(struct merge_times *times, const struct trace_head *const *heads,
		     const char *const *paths, size_t count, struct err *err);
void merge_times_release(struct merge_times *times);

/* By how much a host's time of day had to be corrected. */
int64_t merge_times_correction_ns(const struct merge_times *times,
				  const struct trace_head *const *heads, size_t clock);

#endif
