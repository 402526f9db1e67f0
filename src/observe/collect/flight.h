/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The flight recorder: keeps the latest activities in a ring of fixed size instead of writing them.
 * When an anomaly is signalled everything in it is shipped, oldest first, and the ring is empty
 * again: nothing is shipped twice, and without a signal nothing ever is (SIOX-30). What is killed
 * takes what is in its ring along: only what was shipped can be recovered.
 */
#ifndef SLUICE_OBSERVE_COLLECT_FLIGHT_H
#define SLUICE_OBSERVE_COLLECT_FLIGHT_H

#include <stddef.h>

#include "trace/activity.h"

struct flight;

struct flight_counts {
	uint64_t seen;
	uint64_t shipped;
	uint64_t overwritten; /* seen = shipped + overwritten + held */
	uint64_t held;
	uint64_t shipments; /* that were not empty */
};

/* At least one activity fits. Memory is taken as it is needed, up to that of the ring. */
struct flight *flight_new(size_t activities);
void flight_free(struct flight *flight);

void flight_add(struct flight *flight, const struct activity *batch, size_t n);

/* In the order in which they were added, in up to two pieces. Returns how many. */
typedef void (*flight_ship_to)(void *arg, const struct activity *batch, size_t n);
size_t flight_ship(struct flight *flight, flight_ship_to ship, void *arg);

struct flight_counts flight_counts(const struct flight *flight);

#endif
