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

/*
 * names: providers, separated by blanks or commas; an unknown one is an error that lists them.
 * root: "" but in tests.
 */
int statistics_new(struct statistics **statistics, const char *names, const char *root,
		   struct err *err);
void statistics_free(struct statistics *statistics);
void statistics_listen(struct statistics *statistics, statistics_listener listen, void *arg);

/* For providers: the number of a new statistic; later, its new value. */
unsigned statistics_add(struct statistics *statistics, const char *name, const char *unit,
			enum reduction reduction, unsigned scale);
void statistics_set(struct statistics *statistics, unsigned number, double value);

/*
 * What the network can do, for those interfaces that do not tell: else it is the most that was
 * seen, or gigabit Ethernet. 0: not known.
 */
void statistics_network_set(struct statistics *statistics, double bytes_per_s);
double statistics_network(const struct statistics *statistics);

/* One poll. now_ns of any monotonic clock. The first is what counters begin with. */
void statistics_poll(struct statistics *statistics, int64_t now_ns);

/* Pointers are valid until the next poll, numbers for ever. NULL: no such. */
unsigned statistics_count(const struct statistics *statistics);
const struct statistic *statistics_get(const struct statistics *statistics, unsigned number);
const struct statistic *statistics_find(const struct statistics *statistics, const char *name);
/* Relative utilisation in percent, mean of the last ten polls: cpu, network, io, memory; NAN where
 * unknown. */
void statistics_utilisation(const struct statistics *statistics, double percent[4]);
/* CPU time that polling, listeners included, has taken of the calling thread, and how often. */
int64_t statistics_cost_ns(const struct statistics *statistics);
uint64_t statistics_polls(const struct statistics *statistics);

#endif
