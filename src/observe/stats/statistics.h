/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The statistics of a node: polls its providers, remembers, and tells listeners. No thread of its
 * own: whoever has it calls statistics_poll() when it is due.
 */
#ifndef SLUICE_OBSERVE_STATS_STATISTICS_H
#define SLUICE_OBSERVE_STATS_STATISTICS_H

#include <stdint.h>

#include "observe/stats/provider.h"

struct err;
struct statistics;

/* After each poll. */
typedef void (*statistics_listener)(void *arg, const struct statistics *statistics, int64_t now_ns);

/* names: providers, separated by blanks or commas; an unknown one is an error that lists them. */
int statistics_new(struct statistics **statistics, const char *names, const char *root,
		   struct err *err);
void statistics_free(struct statistics *statistics);
void statistics_listen(struct statistics *statistics, statistics_listener listen, void *arg);

/* For providers: the number of a new statistic; later, its new value. */
unsigned statistics_add(struct statistics *statistics, const char *name, const char *unit,
			enum reduction reduction, unsigned scale);
void statistics_set(struct statistics *statistics, unsigned number, double value);

/* One poll. now_ns of any monotonic clock. */
void statistics_poll(struct statistics *statistics, int64_t now_ns);

unsigned statistics_count(const struct statistics *statistics);
const struct statistic *statistics_get(const struct statistics *statistics, unsigned number);
const struct statistic *statistics_find(const struct statistics *statistics, const char *name);
/* Relative utilisation in percent: cpu, network, io, memory; NAN where unknown. */
void statistics_utilisation(const struct statistics *statistics, double percent[4]);
/* CPU time that polling has taken, of the calling thread. */
int64_t statistics_cost_ns(const struct statistics *statistics);

#endif
