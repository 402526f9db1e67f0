/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Two clocks brought together by what both have seen: calls that nobody can leave before all have
 * entered. With t_a = t_b + offset, whoever entered by clock a did so before the first left by
 * clock b, and the other way round; so each such call bounds the offset from both sides:
 *
 *	enter_a - exit_b <= offset <= exit_a - enter_b
 */
#ifndef SLUICE_TRACE_MERGE_ALIGN_H
#define SLUICE_TRACE_MERGE_ALIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One call as a clock saw it: the last of its processes to enter, and the first to leave. */
struct align_view {
	int64_t enter_ns, exit_ns;
};

struct align_event {
	struct align_view a, b;
	bool firm; /* synchronises without doubt: others count only as long as nothing objects */
};

struct align_offset {
	int64_t offset_ns; /* add it to times of clock b to get those of clock a */
	int64_t error_ns;  /* the true offset is no farther away at any of the events used */
	size_t used;	   /* how many events it rests on */
};

/*
 * The middle of what all events allow. If they contradict each other, of what the firm ones allow;
 * if those do, too (a clock that drifts), the offset that violates the worst of them least, with an
 * error that covers them all. False, with *out untouched, if there is no event.
 */
bool align_clocks(const struct align_event *events, size_t count, struct align_offset *out);

#endif
