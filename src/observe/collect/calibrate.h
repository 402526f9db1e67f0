/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The capture clock as the host sees it: how long a tick is. cpu_counter.h says which
 * source is safe.
 */
#ifndef SLUICE_OBSERVE_COLLECT_CALIBRATE_H
#define SLUICE_OBSERVE_COLLECT_CALIBRATE_H

#include "contract/clock.h"
#include "trace/format.h"

/* One moment on both clocks. */
struct moment {
	uint64_t ticks;
	int64_t monotonic_ns;
	int64_t error_ns; /* time between the two readings */
};

/* Reads both clocks as close together as possible. */
struct moment calibrate_moment(enum capture_clock source);

/*
 * The time of day, in ns, at a moment of CLOCK_MONOTONIC that is not long ago. Both clocks are read
 * as close together as possible.
 */
int64_t calibrate_time_of_day(int64_t monotonic_ns);

/*
 * Returns the clock of a run that began at `begin`, as accurately as known at `now`. The source is
 * not set.
 */
struct run_clock calibrate_run(enum capture_clock source, const struct moment *begin,
			       const struct moment *now);

/* The numerator of the same clock for another denominator. */
uint64_t calibrate_scale(const struct run_clock *clock, uint64_t den);

#endif
