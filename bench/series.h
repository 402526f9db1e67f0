/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Learning in time: adds features of the past to a table, and refits a model as rows arrive.
 * Nothing here looks ahead: the prediction of a row uses only rows whose outcome was known before
 * its time.
 */
#ifndef SLUICE_BENCH_SERIES_H
#define SLUICE_BENCH_SERIES_H

#include "learn/pipeline.h"

struct dataset;

/* The features of the past to add to each row. Each group is a separate series. */
struct series_lags {
	size_t time; /* column of the row's time */
	/* Column of the time at which the value becomes known; same as time: immediately. */
	size_t known;
	size_t value;	     /* column of the value */
	const double *group; /* group of each row, or NULL */
	size_t lags;	     /* the last 1 .. lags values */
	size_t window;	     /* number of latest values for mean and deviation; 0: none */
	double half_life;    /* half-life of an exponentially weighted mean, in rows; 0: none */
};

/*
 * Adds the columns value_lag1 .., value_mean, value_deviation (n - 1) and value_ewm to the dataset,
 * in any order of rows. The latest value is the one that became known last. A value is used for
 * rows whose time is after the time at which it became known, which is never before the time of its
 * own row; a missing value is ignored. The features are NAN for rows without a past, a time or a
 * group.
 */
int series_add_lags(struct dataset *dataset, const struct series_lags *lags, struct err *err);

struct series_plan {
	struct pipeline_plan pipeline;
	/* Per row; known NULL: the outcome is known at the time of the row. */
	const double *time, *known;
	size_t first;	     /* number of rows in the first training set */
	size_t every;	     /* refit after this number of rows; 0: never */
	size_t window;	     /* train on this number of newest rows; 0: on all */
	double coverage;     /* coverage of adaptive prediction intervals; 0: none */
	double step;	     /* step size of these intervals; 0: 0.02 */
	size_t memory;	     /* errors kept for these intervals, per group; 0: 500 */
	const double *group; /* the width depends on the errors of the group; NULL: one group */
	struct effort effort;
};

struct series_result {
	double *guess;	    /* prediction of each row; NAN for the first ones */
	double *low, *high; /* ends of the interval; NULL without coverage */
	size_t fits, predicted, covered;
	size_t unbounded; /* number of infinite intervals among the covered ones */
};

/*
 * Rolling-origin evaluation over samples in any order of rows. Each fit uses the outcomes that were
 * known before the first row that it predicts. A row whose target is NAN is predicted, and its
 * outcome never becomes known. Intervals (of logarithms with log_target) start from the errors on
 * the last quarter of the first rows, which costs one more fit; all groups share one level. result
 * is untouched on failure.
 */
int series_roll(struct series_result *result, const struct series_plan *plan,
		const struct samples *samples, struct err *err);
void series_result_release(struct series_result *result);

#endif
