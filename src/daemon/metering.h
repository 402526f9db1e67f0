/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Brings what the daemon counts into the metrics that Prometheus reads (metrics/metrics.h).
 */
#ifndef SLUICE_DAEMON_METERING_H
#define SLUICE_DAEMON_METERING_H

#include "daemon/load_table.h"
#include "daemon/status.h"

struct metrics;
struct sums_table;

/* What was passed to the metrics before: their counters only grow by what is new. */
struct metering {
	struct status_view last;
	uint64_t refusals[REFUSAL_COUNT];
};

/* Adds the sums of a table, and empties it. */
void metering_add_sums(struct metrics *metrics, struct sums_table *table);

/* Adds the load of a job, or forgets a job that is gone. */
void metering_add_load(struct metrics *metrics, const struct load_sum *load, const char *user,
		       const char *filesystem);

/* Sets gauges, and adds what was counted since the last call. */
void metering_update(struct metering *metering, struct metrics *metrics,
		     const struct status_view *view);

#endif
