/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A source of statistics about the node: one constant per kind in the visible list providers[].
 * Providers read /proc and /sys and never fail as a whole: what is not there has no statistics, and
 * what cannot be read this time is NAN.
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
	unsigned scale; /* decimals that are kept: value * scale is stored as a whole number */
	double last;	/* of the last poll; NAN where it could not be had */
	struct series series;
};

struct provider {
	const char *name, *help;
	/* root is where files are read from: "" but in tests. It lives as long as the provider. */
	int (*start)(void **state, struct statistics *statistics, const char *root);
	/*
	 * Registers what there is, here or in start(), by statistics_add(), and sets new values by
	 * statistics_set(). elapsed_ns: since the last poll; 0 at the first, which counters only
	 * begin with: they have no value then.
	 */
	void (*poll)(void *state, struct statistics *statistics, int64_t elapsed_ns);
	void (*stop)(void *state);
};

/* Polls between two looks for what is not there yet: mounts, clients. */
#define PROVIDER_LOOKS 100

/* A number that only grows, as the kernel counts; what it grew by is of interest. */
struct counter {
	uint64_t before;
	bool known;
};

/* What came since the last time; NAN the first time, and when it was set back. */
static inline double counter_step(struct counter *counter, uint64_t now)
{
	double step = counter->known && now >= counter->before ? (double)(now - counter->before)
							       : (double)NAN;

	*counter = (struct counter){ now, true };
	return step;
}

extern const struct provider provider_cpu, provider_memory, provider_network, provider_io,
	provider_lustre, provider_utilisation;
extern const struct provider *const providers[]; /* ends with NULL; utilisation comes last */

#endif
