/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Estimates the costs of points from all runs of a tuning at once. The logarithm of a cost is the
 * sum of
 * - the level of the machine at that time, which drifts and which the runs of the baseline and of
 *   all points determine together,
 * - an effect of each value that the point sets; neighboring numbers have similar effects,
 * - an effect of each pair of values that the point sets, as parameters interact,
 * - an effect of the point as a whole,
 * - noise.
 *
 * All are normally distributed with mean 0, so every estimate is shrunk towards "no effect", the
 * more so the fewer runs support it: one lucky run does not make the best point. Their variances
 * are those that make the runs most likely, unless they are implausible. Runs far from their
 * estimate are outliers and count less, as do those under foreign load.
 *
 * Deterministic. Takes time with the third power of the number of runs, so only ESTIMATE_RUNS runs
 * are used: of the baseline, evenly, and of the points with the lowest costs.
 */
#ifndef SLUICE_TUNE_LOOP_ESTIMATE_H
#define SLUICE_TUNE_LOOP_ESTIMATE_H

#include <stdbool.h>
#include <stddef.h>

struct space;

#define ESTIMATE_RUNS 160
/* Lower bound of the noise: two runs may agree by chance. */
#define ESTIMATE_SIGMA_LEAST 0.01

struct estimate_run {
	size_t *point;	   /* settled; NULL: the baseline. Owned. */
	double cost;	   /* logarithm */
	double time;	   /* in runs since the start */
	bool is_disturbed; /* by foreign load */
	double mean;	   /* of the costs of all runs of the point */
};

/* Standard deviations, in units of the noise. */
struct estimate_scale {
	double value, pair, point, drift, episode;
};

struct estimate {
	const struct space *space;
	struct estimate_run *runs;
	size_t count, cap;
	struct estimate_scale scale;
	size_t scaled; /* runs when the scale was determined */
	double sigma;  /* standard deviation of the noise */
	double center; /* median of the baseline */
	/* Of the last fit: indices of the runs used, their weights, and the solution. */
	size_t used[ESTIMATE_RUNS];
	size_t used_count;
	double weights[ESTIMATE_RUNS];
	double *root;	/* Cholesky factor of the covariance (learn/math/cholesky.h) */
	double *solved; /* covariance^-1 costs */
};

/* The space must outlive the estimate. */
void estimate_init(struct estimate *estimate, const struct space *space);
void estimate_release(struct estimate *estimate);

/* Adds a run of a settled point, which is copied; NULL: of the baseline. Call estimate_fit() before
 * the next question. */
void estimate_add(struct estimate *estimate, const size_t *point, double cost, double time,
		  bool is_disturbed);
void estimate_fit(struct estimate *estimate);

/* Was the point run, and are its runs among those that are used? */
bool estimate_knows(const struct estimate *estimate, const size_t *point);

/* The estimate of log(cost of a / cost of b), and its standard deviation. NULL: the baseline. The
 * points need not have been run. */
double estimate_ratio(const struct estimate *estimate, const size_t *a, const size_t *b,
		      double *deviation);

/* The estimate of the logarithm of the baseline's cost at a time, and its standard deviation
 * relative to another time. */
double estimate_level(const struct estimate *estimate, double time);
double estimate_change(const struct estimate *estimate, double from, double to, double *deviation);

#endif
