/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The capture clock as the host sees it: which source is safe on this machine, and how long a tick
 * is.
 */
#ifndef SLUICE_OBSERVE_COLLECT_CALIBRATE_H
#define SLUICE_OBSERVE_COLLECT_CALIBRATE_H

#include <stdbool.h>

#include "contract/clock.h"
#include "trace/format.h"

/* One moment on both clocks. */
struct moment {
	uint64_t ticks;
	int64_t monotonic_ns;
	int64_t error_ns; /* time between the two readings */
};

/* Does the CPU's counter run at a constant rate and agree on all cores? *name receives its name. */
bool calibrate_counter_is_steady(const char **name);

/* Reads both clocks as close together as possible. */
struct moment calibrate_moment(enum capture_clock source);

/*
 * Returns the clock of a run that began at `begin`, as accurately as known at `now`. The source is
 * not set.
 */
struct run_clock calibrate_run(enum capture_clock source, const struct moment *begin,
			       const struct moment *now);

#endif
