/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The flight recorder: keeps the latest activities in a ring of fixed size instead of writing them.
 * When an anomaly is signaled, the whole ring is shipped to the trace, oldest first, and emptied:
 * no activity is shipped twice, and without a signal none is shipped. If the collector is killed,
 * the ring is lost; only shipped activities can be recovered.
 * Papers: SIOX-30.
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
	uint64_t shipments; /* non-empty shipments */
};

/* At least one activity fits. Memory is allocated as needed, up to the size of the ring. */
struct flight *flight_new(size_t activities);
void flight_free(struct flight *flight);

void flight_add(struct flight *flight, const struct activity *batch, size_t n);

/*
 * Ships the activities in the order in which they were added, in up to two pieces. Returns their
 * number.
 */
typedef void (*flight_ship_to)(void *arg, const struct activity *batch, size_t n);
size_t flight_ship(struct flight *flight, flight_ship_to ship, void *arg);

struct flight_counts flight_counts(const struct flight *flight);

#endif
