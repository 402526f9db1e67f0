/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Intervals that cover what they promise around any regressor.
 *
 * Split conformal: the quantile of absolute errors on rows that were not trained on, with the
 * finite-sample correction; coverage holds if the future resembles these rows. Errors may be
 * divided by an expected deviation per row (normalised), so that intervals are wide where the
 * model is unsure.
 *
 * Adaptive (Gibbs and Candes 2021): for a series. After each truth the level moves by
 * step * (promised - missed), so that long-run coverage is kept whatever drifts.
 */
#ifndef SLUICE_LEARN_JUDGE_CONFORMAL_H
#define SLUICE_LEARN_JUDGE_CONFORMAL_H

#include <stdbool.h>
#include <stddef.h>

struct blob;
struct buf;
struct err;

/* ---- split ---- */

struct conformal {
	double *errors; /* sorted */
	size_t count;
};

/*
 * spread NULL: not normalised; else positive. Truth and guess must be finite. conformal is
 * untouched on failure.
 */
int conformal_fit(struct conformal *conformal, const double *truth, const double *guess,
		  const double *spread, size_t count, struct err *err);
void conformal_release(struct conformal *conformal);

/*
 * Half the width of the interval, in units of the row's spread if normalised; INFINITY where there
 * are too few rows for the coverage (0.9 needs 9).
 */
double conformal_margin(const struct conformal *conformal, double coverage);

void conformal_save(const struct conformal *conformal, struct buf *buf);
int conformal_load(struct conformal *conformal, struct blob *blob, struct err *err);

/* ---- adaptive ---- */

struct adaptive {
	double coverage; /* promised, e.g. 0.9 */
	double step;	 /* how fast the level moves; 0.005 to 0.05 */
	double missing;	 /* the level now: the share of errors left outside; may leave [0, 1] */
	double *errors;	 /* the newest `window` errors, a ring */
	double *sorted;	 /* the same */
	size_t window, count, next;
	size_t seen, covered; /* so far */
};

/* coverage in (0, 1), window at least 1. */
void adaptive_init(struct adaptive *adaptive, double coverage, double step, size_t window);
void adaptive_release(struct adaptive *adaptive);

/* An error that is known beforehand, of a row that was not trained on; the level stays. */
void adaptive_seed(struct adaptive *adaptive, double error);

/*
 * Half the width for the next row; INFINITY where everything must be covered or where there are too
 * few errors yet. Costs nothing: errors are kept in order.
 */
double adaptive_margin(const struct adaptive *adaptive);

/*
 * The truth is known: was it inside the margin that was given for it? error is |truth - guess|, in
 * the units of the margin; NAN is not learnt. Truths may come late, and in any order.
 */
void adaptive_learn(struct adaptive *adaptive, double margin, double error);

#endif
