/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Records polls of statistics as facts of a trace. It keeps every poll in the first minute of a run
 * and fewer samples later, so that a run of days does not produce too many. Polls between two
 * samples are combined by the statistic's reduction.
 */
#ifndef SLUICE_OBSERVE_STATS_RECORDER_H
#define SLUICE_OBSERVE_STATS_RECORDER_H

#include <stdint.h>

#include "trace/facts.h"

struct recorder;
struct statistics;

/* Receives one row: of fact_statistic before its first sample, or of fact_sample. */
typedef void (*recorder_sink)(void *arg, const struct fact *fact, const void *row);

/* Sampling interval until a time of the run. */
struct recorder_step {
	int64_t until_ns, every_ns;
};
extern const struct recorder_step recorder_steps[]; /* the last one has no end */

/* zero_ns is the start of the run by the clock of statistics_poll(). host is copied. */
struct recorder *recorder_new(const char *host, int64_t zero_ns, recorder_sink fact, void *arg);
void recorder_free(struct recorder *recorder);

/* For statistics_listen(). */
void recorder_listen(void *recorder, const struct statistics *statistics, int64_t now_ns);

/* At the end: writes a sample of the polls since the last one. */
void recorder_finish(struct recorder *recorder, const struct statistics *statistics);

#endif
