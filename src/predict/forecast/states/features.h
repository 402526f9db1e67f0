/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a forecast goes by (WAN-21 to WAN-23): 16 features of the paper, and more that can be asked
 * for, so that the paper's set stays what it is. A row is made from what was known at a moment: the
 * last snapshot at or before it and probes in (t - window, t]. Nothing looks ahead; the same
 * function serves training and the forecast of this minute.
 *
 * Decisions where the paper is silent:
 *  - a job whose nodes are unknown is extra-small; one without a limit, or whose used time is
 *    unknown, is new; so every job is in one class of each kind, and the classes sum to the jobs.
 *    Memory that is unknown adds nothing.
 *  - a fraction of exactly 1/3 or 2/3 is middle-aged.
 *  - a probe that timed out counts with the time after which it was given up; one that failed, or
 *    found no room, does not count.
 *  - standard deviations have n - 1 below; that of a single probe is unknown.
 */
#ifndef SLUICE_PREDICT_FORECAST_STATES_FEATURES_H
#define SLUICE_PREDICT_FORECAST_STATES_FEATURES_H

#include <stddef.h>

#include "predict/forecast/chronicle/chronicle.h"

struct err;
struct site;

/* Groups of features, one bit each. */
enum feature_group {
	FEATURE_STATUS = 1 << 0,     /* 1 .. 13: jobs */
	FEATURE_LATENCY = 1 << 1,    /* 14 .. 16: the target's own probes */
	FEATURE_EWM = 1 << 2,	     /* probes, exponentially weighted, of three half-lives */
	FEATURE_CLOCK = 1 << 3,	     /* time of day and of week (UTC), as sine and cosine */
	FEATURE_NEIGHBOURS = 1 << 4, /* what the probes of all other targets took */
	FEATURE_PAST = 1 << 5,	     /* the last writes of this very size that were known by then */
	FEATURE_NODE = 1 << 6,	     /* load of the node that asks: values of the chronicle's own */
};
#define FEATURE_GROUPS 7
#define FEATURE_WORDS "status|latency|ewm|clock|neighbours|past|node"
#define FEATURE_ALL ((1 << FEATURE_GROUPS) - 1)
#define FEATURE_PAPER (FEATURE_STATUS | FEATURE_LATENCY)
/* What storage itself did of late, whatever runs: holds better on days that come. */
#define FEATURE_RECENT (FEATURE_LATENCY | FEATURE_EWM | FEATURE_PAST)
#define FEATURES_MAX 48

struct features_plan {
	unsigned groups;
	double window_s;  /* 600 in the paper */
	double horizon_s; /* the label is that of h later; 0 in the paper */
};

void features_plan_init(struct features_plan *plan); /* the paper's */
/* "paper", "recent", "paper,ewm,clock", "all"; sets the groups and nothing else. */
int features_plan_parse(struct features_plan *plan, const char *text, struct err *err);

size_t features_width(const struct features_plan *plan);
/* Of its columns; "jobs", "jobs_batch", ... */
const char *features_name(const struct features_plan *plan, size_t column);

#define FEATURE_STATUS_COUNT 13

/*
 * With what is made once per chronicle, such as the 13 numbers of each snapshot. The chronicle may
 * grow afterwards (features_follow()); it and the site must outlive this. Used by many threads
 * that only read; following is for one.
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
/* Takes what has come to the chronicle, or was changed in it; cheap where there is little. */
void features_follow(struct features *features);

/* The 13 numbers of one snapshot: what FEATURE_STATUS is. */
void features_status(const struct jobs *jobs, const struct site *site,
		     double status[FEATURE_STATUS_COUNT]);

/*
 * The row of a target and a size for a forecast that is made at time_s. NAN where nothing is known.
 * Returns how many are known. Does not allocate.
 */
size_t features_at(const struct features *features, size_t target, size_t size, double time_s,
		   double *row);

/* Rows to learn from: one per write of the size that was done, or timed out, in [from_s, to_s). */
struct feature_rows {
	double *x; /* rows x width, as of time_s - horizon */
	double *time_s, *seconds;
	size_t *sample; /* its number in the series */
	size_t rows, width;
	size_t timeouts, gaps; /* rows of writes that timed out; values that are missing */
};
void features_rows(const struct features *features, size_t target, size_t size, double from_s,
		   double to_s, struct feature_rows *rows);
void feature_rows_release(struct feature_rows *rows);

#endif
