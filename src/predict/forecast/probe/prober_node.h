/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The load of the node that probes: CPU and memory statistics of the kernel, once per round. A slow
 * probe on a busy node says little about the storage.
 */
#ifndef SLUICE_PREDICT_FORECAST_PROBE_PROBER_NODE_H
#define SLUICE_PREDICT_FORECAST_PROBE_PROBER_NODE_H

#include <stddef.h>

#include "predict/forecast/chronicle/chronicle.h"

/* The CPU times of the previous reading. Zero-initialized: there was none. */
struct node_watch {
	double total, idle, waiting;
};

/* Sets state->values; NAN for what the kernel does not report, and for CPU shares at first. */
void node_watch_read(struct node_watch *watch, struct node_state *state);

/* The same from the contents of /proc/loadavg, /proc/stat and /proc/meminfo. */
void node_watch_parse(struct node_watch *watch, struct node_state *state, const char *load,
		      const char *stat, const char *memory);

#endif
