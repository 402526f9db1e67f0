/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How a program changed over its runs, which are comparable and in the order of time: for each
 * measure, at which runs its level shifted, and by how much.
 *
 * Times vary from run to run. A shift is claimed only if chance rarely causes it
 * (learn/math/level_shift.h): all measures of a series of runs together have the probability
 * RATIO_LEVEL of a shift that is none. Its size is estimated as `sluice compare` does it, by the
 * ratio of the runs before and after (learn/math/ratio.h), and a shift whose interval includes 1 is
 * dropped. A count is exact instead if it has one value before and another one after, each in at
 * least TREND_LEAST runs. With fewer runs on a side nothing is claimed.
 *
 * A shift of a time says that runs took longer from then on, not why: the machine may be busier.
 */
#ifndef SLUICE_OBSERVE_COMPARE_TREND_H
#define SLUICE_OBSERVE_COMPARE_TREND_H

#include <stdbool.h>
#include <stddef.h>

#include "learn/math/level_shift.h"

/* Runs on each side of a shift, and the latest runs of a series that are looked at. */
#define TREND_LEAST LEVEL_SHIFT_LEAST
#define TREND_RUNS_MAX 500

/* Smaller changes are neither a regression nor an improvement. */
#define TREND_RELEVANT 1.05

enum trend_measure {
	TREND_DURATION,
	TREND_IO_TIME,
	TREND_THROUGHPUT, /* bytes read and written by the time in I/O */
	TREND_CALLS,
	TREND_READ,
	TREND_WRITTEN,
	TREND_MEASURES
};

struct trend_measure_info {
	const char *name; /* in JSON */
	int sense;	  /* 1: more is worse, -1: less is worse, 0: neither */
	bool is_count;	  /* follows from the calls alone: it need not vary from run to run */
};
extern const struct trend_measure_info trend_measures[TREND_MEASURES];

struct trend_run {
	double values[TREND_MEASURES]; /* ns, bytes per second, calls, bytes; NAN: unknown */
};

enum trend_direction { TREND_OTHER, TREND_WORSE, TREND_BETTER };

struct trend_shift {
	enum trend_measure measure;
	size_t at;    /* the first run of the new level */
	size_t event; /* shifts of several measures at the same time have the same */
	size_t runs_before, runs_after; /* of the levels, up to their other ends */
	double before, after;		/* medians of the levels */
	double ratio;			/* estimate of after / before; INFINITY: before is 0 */
	double low, high;		/* 95 % interval of the ratio; NAN: none */
	bool is_exact;
	enum trend_direction direction;
};

struct trend {
	size_t runs;		    /* that were looked at: the last ones */
	struct trend_shift *shifts; /* by event, then measure */
	size_t count, cap;
	size_t *events; /* the first run of each event, in ascending order */
	size_t event_count;
	bool is_testable; /* there are enough runs to find a shift at all */
};

/* Positions count from the first of all n runs. A measure that a run lacks has no shifts. */
void trend_init(struct trend *trend, const struct trend_run *runs, size_t n);
void trend_release(struct trend *trend);

/*
 * What to say about a series in one word: the latest shift to the worse or to the better of a
 * measure that did not shift again since; NULL: there is none.
 */
const struct trend_shift *trend_latest(const struct trend *trend, enum trend_direction direction);

#endif
