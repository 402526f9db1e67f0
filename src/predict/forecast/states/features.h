/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The inputs of a forecast (WAN-21 to WAN-23): the 16 features of the paper, and optional groups
 * beyond it. A row describes what was known at a time t: the last snapshot of jobs up to t, and the
 * probes in (t - window, t]. No feature uses later data; training and the forecast for the current
 * minute use the same function.
 *
 * Decisions that the paper leaves open:
 *  - A job with an unknown number of nodes is extra-small. A job without a time limit, or with an
 *    unknown used time, is new. So each job is in exactly one size class and one age class.
 *    Unknown memory adds nothing.
 *  - A job that has used exactly 1/3 or 2/3 of its time is middle-aged.
 *  - A probe that timed out counts with the duration of the timeout; failed probes, and those that
 *    found no space, do not count.
 *  - Standard deviations divide by n - 1; that of a single probe is unknown.
 * Papers: WAN-16.
 */
#ifndef SLUICE_PREDICT_FORECAST_STATES_FEATURES_H
#define SLUICE_PREDICT_FORECAST_STATES_FEATURES_H

#include <stdbool.h>
#include <stddef.h>

#include "predict/forecast/chronicle/chronicle.h"

struct borders;
struct chains;
struct err;
struct site;

/* Groups of features, one bit each. */
enum feature_group {
	FEATURE_STATUS = 1 << 0,    /* 1 to 13: jobs */
	FEATURE_LATENCY = 1 << 1,   /* 14 to 16: the target's own probes */
	FEATURE_EWM = 1 << 2,	    /* exponentially weighted means of probes, three half-lives */
	FEATURE_CLOCK = 1 << 3,	    /* time of day and of week (UTC), as sine and cosine */
	FEATURE_NEIGHBORS = 1 << 4, /* the probes of all other targets */
	FEATURE_PAST = 1 << 5,	    /* the last completed reference writes of the same size */
	FEATURE_NODE = 1 << 6,	    /* the load of the probing node */
	FEATURE_STATE = 1 << 7,	    /* probability of busy of a hidden Markov filter on probes */
	FEATURE_SHARE = 1 << 8,	    /* share of busy among the last reference writes of the size */
};
#define FEATURE_GROUPS 9
#define FEATURE_WORDS "status|latency|ewm|clock|neighbors|past|node|state|share"
#define FEATURE_ALL ((1 << FEATURE_GROUPS) - 1)
#define FEATURE_PAPER (FEATURE_STATUS | FEATURE_LATENCY)
/* Recent durations only, without jobs: these models stay accurate for more days. */
#define FEATURE_RECENT (FEATURE_LATENCY | FEATURE_EWM | FEATURE_PAST)
#define FEATURES_MAX 48

struct features_plan {
	unsigned groups;
	double window_s;  /* 600 in the paper */
	double horizon_s; /* how far ahead the forecast is; 0 in the paper */
	/*
	 * Rows of writes use only the probes of earlier rounds, so that a probe has its real age:
	 * the probe of the round of a write ends after the write has begun. false in the paper.
	 */
	bool earlier_rounds;
	bool ignores_programs; /* rows of programs (SAMPLE_PROGRAM) are neither labels nor inputs */
	/* For FEATURE_STATE, fitted to the training range; must outlive the plan. NULL: unknown */
	const struct chains *chains;
	/* For FEATURE_SHARE, the same: what is busy. */
	const struct borders *borders;
};

/*
 * FEATURE_SHARE is the mean posterior of busy of the writes that had ended, weighted by
 * 0.5 ^ (writes since / FEATURE_SHARE_HALF). The share of busy writes in the training range counts
 * like FEATURE_SHARE_PRIOR writes. Unknown without a fitted mixture.
 */
#define FEATURE_SHARE_HALF 12
#define FEATURE_SHARE_PRIOR 2

void features_plan_init(struct features_plan *plan); /* the plan of the paper */
/* Parses groups such as "paper", "recent", "paper,ewm,clock" or "all". Sets only plan->groups. */
int features_plan_parse(struct features_plan *plan, const char *text, struct err *err);

/* The name of a group by the number of its bit, such as "latency". */
const char *features_group(size_t group);

/* The time up to which a forecast for a write at time_s uses probe data. */
double features_known_until(const struct features_plan *plan, double time_s);

size_t features_width(const struct features_plan *plan);
/* The name of a column, such as "jobs_batch"; NULL after the last. */
const char *features_name(const struct features_plan *plan, size_t column);

/*
 * Copies the columns of some groups of the plan from a row with all of them. Returns their number.
 */
size_t features_select(const struct features_plan *plan, unsigned wanted, const double *row,
		       double *selected);

#define FEATURE_STATUS_COUNT 13

/*
 * Features of a chronicle, with a cache of values such as the 13 numbers of each snapshot. The
 * chronicle and the site must outlive it. The chronicle may grow; then call features_update(), from
 * one thread. Several threads may call the other functions.
 */
struct features {
	const struct chronicle *chronicle;
	const struct site *site;
	struct features_plan plan;
	struct features_cache *cache;
};

void features_init(struct features *features, const struct chronicle *chronicle,
		   const struct site *site, const struct features_plan *plan);
void features_release(struct features *features);
/* Updates the cache after changes of the chronicle. Cheap if only a little was appended. */
void features_update(struct features *features);

/* Computes the 13 numbers of a snapshot, which are FEATURE_STATUS. */
void features_status(const struct jobs *jobs, const struct site *site,
		     double status[FEATURE_STATUS_COUNT]);

/*
 * Computes the row of a target and a size for a forecast made at time_s. Unknown values are NAN.
 * Returns the number of known values. Does not allocate memory.
 */
size_t features_at(const struct features *features, size_t target, size_t size, double time_s,
		   double *row);

/* Training rows: one per reference write in [from_s, to_s) that completed or timed out, and one per
 * row of a program unless the plan ignores them. */
struct feature_rows {
	double *x; /* rows x width: features at time_s - horizon */
	double *time_s, *seconds;
	double *age_s; /* time from the newest probe that the row may use to the write; NAN: none */
	size_t *sample; /* index of the write in its series */
	size_t rows, width;
	size_t timeouts, gaps; /* rows of writes that timed out; number of unknown values */
};
void features_rows(const struct features *features, size_t target, size_t size, double from_s,
		   double to_s, struct feature_rows *rows);
void feature_rows_release(struct feature_rows *rows);

#endif
