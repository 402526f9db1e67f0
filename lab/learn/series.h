/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Learning in time: features of what came before, and a model that is fitted again as rows come.
 * Nothing here looks ahead: the prediction of a row uses rows whose outcome was known before its
 * time.
 */
#ifndef SLUICE_LAB_LEARN_SERIES_H
#define SLUICE_LAB_LEARN_SERIES_H

#include "learn/pipeline.h"

struct dataset;

/* Which features of the past to add to each row. Per group: a series of its own. */
struct series_lags {
	size_t time;	     /* column of the row's time */
	size_t known;	     /* column of the time when its value is known; same as time: at once */
	size_t value;	     /* column of the value */
	const double *group; /* per row, or NULL */
	size_t lags;	     /* the last 1 .. lags values */
	size_t window;	     /* mean and deviation of so many last values; 0: none */
	double half_life;    /* of an exponentially weighted mean, in rows; 0: none */
};

/*
 * Adds the columns value_lag1 .., value_mean, value_deviation (n - 1), value_ewm to the dataset,
 * which need not be sorted for it. The last value is the one that became known last. A value counts
 * for rows whose time is after it was known, which is never before its own row's time; a missing
 * one does not count. NAN where there is no past, no time or no group.
 */
int series_add_lags(struct dataset *dataset, const struct series_lags *lags, struct err *err);

struct series_plan {
	struct pipeline_plan pipeline;
	const double *time, *known; /* per row; known NULL: at its time */
	size_t first;		    /* rows in the first training set */
	size_t every;		    /* fit again after so many rows; 0: never (static) */
	size_t window;		    /* train on the newest so many rows; 0: on all */
	double coverage;	    /* of adaptive intervals; 0: none */
	double step;		    /* of these; 0: 0.02 */
	size_t memory;		    /* errors they remember, per group; 0: 500 */
	const double *group;	    /* widths learn from a group's own errors; NULL: all one */
	struct effort effort;
};

struct series_result {
	double *guess;	    /* per row; NAN for the first ones */
	double *low, *high; /* of the interval; NULL without coverage */
	size_t fits, predicted, covered;
	size_t unbounded; /* intervals without an end, of the covered ones */
};

/*
 * Rolling-origin evaluation over samples in any order of rows. Each fit uses the outcomes that were
 * known before the first row that it predicts. A target that is NAN is predicted and never known.
 * Intervals (of logarithms with log_target) start from the errors on the last quarter of the first
 * rows, which costs one fit more; their level is one for all groups. result is untouched on
 * failure.
 */
int series_roll(struct series_result *result, const struct series_plan *plan,
		const struct samples *samples, struct err *err);
void series_result_release(struct series_result *result);

#endif
