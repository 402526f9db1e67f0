/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The memory of one statistic: five levels of ten samples each, from every poll to ten minutes, so
 * that 100 minutes are remembered in 50 numbers (SIOX-45). Each level is made from the one below:
 * ten samples make one, but six of 10 s make one of a minute.
 */
#ifndef SLUICE_OBSERVE_STATS_SERIES_H
#define SLUICE_OBSERVE_STATS_SERIES_H

#include <stdint.h>

#define SERIES_LEVELS 5
#define SERIES_SAMPLES 10

enum reduction {
	REDUCE_MEAN, /* levels: a gauge */
	REDUCE_SUM,  /* increments: a counter */
	REDUCE_MIN,
	REDUCE_MAX,
	REDUCTIONS
};
extern const char *const reduction_names[REDUCTIONS];
/* Polls that one sample of a level stands for: 1, 10, 100, 600, 6000. */
extern const uint32_t series_polls[SERIES_LEVELS];

struct series {
	uint64_t polls;
	double samples[SERIES_LEVELS][SERIES_SAMPLES]; /* rings: see series_get() */
};

/* One value of many, NAN left out; NAN where nothing is left. */
double series_reduce(enum reduction reduction, const double *values, unsigned count);

/* A new value. NAN stands for a poll that failed: a sample of only such is NAN. */
void series_add(struct series *series, enum reduction reduction, double value);
/* How many samples a level has: min(10, polls / series_polls[level]). */
unsigned series_count(const struct series *series, unsigned level);
/* The sample `back` before the newest, which is 0. back < series_count(). */
double series_get(const struct series *series, unsigned level, unsigned back);

#endif
