/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The recent history of one statistic: five levels of ten samples each, from every poll to ten
 * minutes, so that 50 numbers cover 100 minutes. Each level is computed from the one below: ten
 * samples make one, except that six samples of 10 s make one of a minute.
 */
#ifndef SLUICE_OBSERVE_STATS_SERIES_H
#define SLUICE_OBSERVE_STATS_SERIES_H

#include <stdint.h>

#define SERIES_LEVELS 5
#define SERIES_SAMPLES 10

enum reduction {
	REDUCE_MEAN, /* a level, such as used memory */
	REDUCE_SUM,  /* increments of a counter */
	REDUCE_MIN,
	REDUCE_MAX,
	REDUCTIONS
};
extern const char *const reduction_names[REDUCTIONS];
/* Number of polls that one sample of a level covers: 1, 10, 100, 600, 6000. */
extern const uint32_t series_polls[SERIES_LEVELS];

struct series {
	uint64_t polls;
	double samples[SERIES_LEVELS][SERIES_SAMPLES]; /* ring buffers, see series_get() */
};

/* Reduces values to one, ignoring NAN; NAN if all are NAN. */
double series_reduce(enum reduction reduction, const double *values, unsigned count);

/* Adds a value. NAN stands for a poll that failed. */
void series_add(struct series *series, enum reduction reduction, double value);
/* Number of samples of a level: min(10, polls / series_polls[level]). */
unsigned series_count(const struct series *series, unsigned level);
/* Returns a sample by its age: 0 is the newest. back must be less than series_count(). */
double series_get(const struct series *series, unsigned level, unsigned back);

#endif
