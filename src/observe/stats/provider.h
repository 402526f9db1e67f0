/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A source of statistics about the node: one constant per kind in the visible list providers[].
 * Providers read /proc and /sys and never fail as a whole: what is not there has no statistics, and
 * what cannot be read this time is NAN.
 */
#ifndef SLUICE_OBSERVE_STATS_PROVIDER_H
#define SLUICE_OBSERVE_STATS_PROVIDER_H

#include <stddef.h>

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
	/* Where files are read from: "" but in tests. Registers what there is by statistics_add().
	 */
	int (*start)(void **state, struct statistics *statistics, const char *root);
	/* Sets new values by statistics_set(). elapsed_ns: since the last poll. */
	void (*poll)(void *state, struct statistics *statistics, int64_t elapsed_ns);
	void (*stop)(void *state);
};

extern const struct provider provider_cpu, provider_memory, provider_network, provider_io,
	provider_lustre, provider_utilisation;
extern const struct provider *const providers[]; /* ends with NULL; utilisation comes last */

#endif
