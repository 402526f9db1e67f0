/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The statistics of a node: polls the providers, keeps a history, and calls listeners. It has no
 * thread; its owner calls statistics_poll() when a poll is due.
 * Papers: SIOX-44, SIOX-67.
 */
#ifndef SLUICE_OBSERVE_STATS_STATISTICS_H
#define SLUICE_OBSERVE_STATS_STATISTICS_H

#include <stdint.h>

#include "observe/stats/provider.h"

struct err;
struct statistics;

/* Called after each poll. */
typedef void (*statistics_listener)(void *arg, const struct statistics *statistics, int64_t now_ns);

/*
 * names lists providers, separated by blanks or commas. An unknown name is an error that lists the
 * valid ones. root is "" except in tests.
 */
int statistics_new(struct statistics **statistics, const char *names, const char *root,
		   struct err *err);
void statistics_free(struct statistics *statistics);
void statistics_listen(struct statistics *statistics, statistics_listener listen, void *arg);

/* For providers: registers a statistic and returns its number; sets its new value. */
unsigned statistics_add(struct statistics *statistics, const char *name, const char *unit,
			enum reduction reduction, unsigned scale);
void statistics_set(struct statistics *statistics, unsigned number, double value);

/*
 * Link speed for interfaces that do not report one. 0: use the observed peak, or 1 Gbit/s if that
 * is higher.
 */
void statistics_network_set(struct statistics *statistics, double bytes_per_s);
double statistics_network(const struct statistics *statistics);

/*
 * Polls once. now_ns may come from any monotonic clock. The first poll only initializes counters.
 */
void statistics_poll(struct statistics *statistics, int64_t now_ns);

/* Pointers are valid until the next poll, numbers forever. NULL: no such statistic. */
unsigned statistics_count(const struct statistics *statistics);
const struct statistic *statistics_get(const struct statistics *statistics, unsigned number);
const struct statistic *statistics_find(const struct statistics *statistics, const char *name);
/*
 * Utilization in percent, averaged over the last ten polls: cpu, network, io, memory; NAN if
 * unknown.
 */
void statistics_utilization(const struct statistics *statistics, double percent[4]);
/* CPU time of the calling thread spent on polls, including listeners. */
int64_t statistics_cost_ns(const struct statistics *statistics);

#endif
