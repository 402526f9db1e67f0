/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Prediction intervals with guaranteed coverage around any regressor.
 *
 * Split conformal: the quantile of absolute errors on rows that were not used for training, with
 * the finite-sample correction. Coverage holds if future rows resemble these rows. Errors may be
 * divided by an expected deviation per row (normalized), so that intervals are wide where the model
 * is uncertain.
 *
 * Adaptive (Gibbs and Candes 2021), for a series: after each truth the level moves by step *
 * (promised - missed), so that long-run coverage holds under any drift.
 */
#ifndef SLUICE_LEARN_JUDGE_CONFORMAL_H
#define SLUICE_LEARN_JUDGE_CONFORMAL_H

#include <stdbool.h>
#include <stddef.h>

struct blob;
struct buf;
struct err;

/* Split conformal intervals. */
struct conformal {
	double *errors; /* sorted */
	size_t count;
};

/*
 * Collects the errors of predictions. spread is positive per row; NULL: not normalized. truth and
 * guess must be finite. conformal is untouched on failure.
 */
int conformal_fit(struct conformal *conformal, const double *truth, const double *guess,
		  const double *spread, size_t count, struct err *err);
void conformal_release(struct conformal *conformal);

/*
 * Half the width of the interval, in units of the row's spread if normalized; INFINITY if there are
 * too few rows for the coverage (0.9 needs 9).
 */
double conformal_margin(const struct conformal *conformal, double coverage);

void conformal_save(const struct conformal *conformal, struct buf *buf);
int conformal_load(struct conformal *conformal, struct blob *blob, struct err *err);

/* Adaptive conformal intervals. */
struct adaptive {
	double coverage; /* promised coverage, e.g. 0.9 */
	double step;	 /* step size of the level; 0.005 to 0.05 */
	double missing;	 /* current level: the share of errors outside; may leave [0, 1] */
	double *errors;	 /* ring of the newest `window` errors */
	double *sorted;	 /* the same errors, sorted */
	size_t window, count, next;
	size_t seen, covered; /* rows so far */
};

/* coverage is in (0, 1), and window is at least 1. */
void adaptive_init(struct adaptive *adaptive, double coverage, double step, size_t window);
void adaptive_release(struct adaptive *adaptive);

/* Adds an initial error of a row that was not used for training; the level does not move. */
void adaptive_seed(struct adaptive *adaptive, double error);

/*
 * Half the width of the interval of the next row; INFINITY if the interval must cover everything or
 * if there are too few errors yet. It takes constant time, because the errors are kept sorted.
 */
double adaptive_margin(const struct adaptive *adaptive);

/*
 * Learns whether a truth was inside the margin that was given for it. error is |truth - guess| in
 * the units of the margin; NAN is ignored. Truths may arrive late and in any order.
 */
void adaptive_learn(struct adaptive *adaptive, double margin, double error);

#endif
