/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Aligns two clocks by synchronizing calls that both have seen, that is, calls that no process can
 * leave before all have entered. Calls that only may do so must not be among them: their bounds can
 * be wrong without contradicting the others. With t_a = t_b + offset, the last process to enter by
 * clock a entered before the first process left by clock b, and vice versa. Each such call bounds
 * the offset from both sides:
 *
 *	enter_a - exit_b <= offset <= exit_a - enter_b
 */
#ifndef SLUICE_TRACE_MERGE_ALIGN_H
#define SLUICE_TRACE_MERGE_ALIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A call as seen by one clock: when its last process entered and its first process left. */
struct align_view {
	int64_t enter_ns, exit_ns;
};

struct align_event {
	struct align_view a, b;
};

struct align_offset {
	int64_t offset_ns; /* time of clock a minus time of clock b */
	int64_t error_ns;  /* maximum error of the offset at any of the events */
};

/*
 * Returns the middle of the offsets that all events allow. If the events contradict each other,
 * because a clock drifts, the result minimizes the largest violation, and the error covers all
 * events. Returns false, with *out untouched, if there is no event.
 */
bool align_clocks(const struct align_event *events, size_t count, struct align_offset *out);

#endif
