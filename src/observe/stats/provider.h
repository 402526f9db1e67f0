/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A source of node statistics: one constant per kind in the list providers[]. Providers read /proc
 * and /sys. They never fail as a whole: a missing source has no statistics, and a value that cannot
 * be read this time is NAN.
 * Papers: SIOX-44.
 */
#ifndef SLUICE_OBSERVE_STATS_PROVIDER_H
#define SLUICE_OBSERVE_STATS_PROVIDER_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "observe/stats/series.h"

struct statistics;

struct statistic {
	char *name; /* topology path: "cpu/user", "io/vda/read" */
	const char *unit;
	enum reduction reduction;
	unsigned scale; /* decimals to keep: value * scale is stored as a whole number */
	double last;	/* value of the last poll; NAN if it could not be read */
	struct series series;
};

struct provider {
	const char *name, *help;
	/* root is the directory of /proc and /sys: "" except in tests. It outlives the provider. */
	int (*start)(void **state, struct statistics *statistics, const char *root);
	/*
	 * Sets new values with statistics_set(). Statistics are registered with statistics_add(),
	 * here or in start(). elapsed_ns is the time since the last poll; 0 in the first poll, in
	 * which counters have no value yet.
	 */
	void (*poll)(void *state, struct statistics *statistics, int64_t elapsed_ns);
	void (*stop)(void *state);
};

/* Number of polls between two searches for new mounts or clients. */
#define PROVIDER_LOOKS 100

/* A counter of the kernel, which only grows. Its increments are of interest. */
struct counter {
	uint64_t before;
	bool known;
};

/* Returns the increment since the last call; NAN in the first call and after a reset. */
static inline double counter_step(struct counter *counter, uint64_t now)
{
	double step = counter->known && now >= counter->before ? (double)(now - counter->before)
							       : (double)NAN;

	*counter = (struct counter){ now, true };
	return step;
}

extern const struct provider provider_cpu, provider_memory, provider_network, provider_io,
	provider_lustre, provider_utilization;
extern const struct provider *const providers[]; /* ends with NULL; utilization comes last */

#endif
