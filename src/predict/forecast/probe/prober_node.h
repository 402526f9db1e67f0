/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How loaded the node is that probes: what the kernel tells of processors and memory, once per
 * round. A probe that was slow on a busy node says little of the storage.
 */
#ifndef SLUICE_PREDICT_FORECAST_PROBE_PROBER_NODE_H
#define SLUICE_PREDICT_FORECAST_PROBE_PROBER_NODE_H

#include <stddef.h>

#include "predict/forecast/chronicle/chronicle.h"

/* Zero-initialised has not looked yet. Shares of time are those since the last look. */
struct node_watch {
	double total, idle, waiting;
};

/* values[] of the state; NAN where the kernel does not tell, and shares at the first look. */
void node_watch_read(struct node_watch *watch, struct node_state *state);

/* The same from the texts of /proc/loadavg, /proc/stat and /proc/meminfo. */
void node_read(struct node_watch *watch, struct node_state *state, const char *load,
	       const char *stat, const char *memory);

#endif
