/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Turns polls of statistics into facts of a trace: a listener. Every poll is kept in the first
 * minute of a run, and less and less later, so that a run of days does not drown in samples: what
 * was polled between two samples is reduced to one, as the statistic says.
 */
#ifndef SLUICE_OBSERVE_STATS_RECORDER_H
#define SLUICE_OBSERVE_STATS_RECORDER_H

#include <stdint.h>

#include "trace/facts.h"

struct recorder;
struct statistics;

/* One row: of fact_statistic, before its first sample, or of fact_sample. */
typedef void (*recorder_sink)(void *arg, const struct fact *fact, const void *row);

/* Until this time of the run, a sample each. */
struct recorder_step {
	int64_t until_ns, every_ns;
};
extern const struct recorder_step recorder_steps[]; /* the last one has no end */

/* zero_ns: start of the run by the clock that statistics_poll() is given. host is copied. */
struct recorder *recorder_new(const char *host, int64_t zero_ns, recorder_sink fact, void *arg);
void recorder_free(struct recorder *recorder);

/* For statistics_listen(). */
void recorder_listen(void *recorder, const struct statistics *statistics, int64_t now_ns);

/* At the end: what was polled since the last sample. */
void recorder_finish(struct recorder *recorder, const struct statistics *statistics);

#endif
