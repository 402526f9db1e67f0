/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The capture clock seen from the host: which source is safe on this machine, and what a tick is
 * worth.
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
	int64_t error_ns; /* the two were read within so long */
};

/* Is the CPU's counter steady and the same on all cores? *name gets what it is called. */
bool calibrate_counter_is_steady(const char **name);

/* Reads both clocks as close together as can be had. */
struct moment calibrate_moment(enum capture_clock source);

/* The clock of a run that began at `begin`, as far as it is known at `now`; source is not set. */
struct run_clock calibrate_run(enum capture_clock source, const struct moment *begin,
			       const struct moment *now);

#endif
