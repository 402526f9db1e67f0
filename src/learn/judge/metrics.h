/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How good predictions are. Plain functions of plain arrays; a measure that is not defined for
 * what it is given (one class only, constant truth) is NAN.
 */
#ifndef SLUICE_LEARN_JUDGE_METRICS_H
#define SLUICE_LEARN_JUDGE_METRICS_H

#include <stddef.h>

/* ---- numbers ---- */
double metrics_rmse(const double *truth, const double *guess, size_t count);
double metrics_mae(const double *truth, const double *guess, size_t count);
double metrics_r2(const double *truth, const double *guess, size_t count); /* 1 - SSE/SST */
double metrics_correlation(const double *truth, const double *guess,
			   size_t count); /* Pearson's r */
double metrics_median_error(const double *truth, const double *guess, size_t count); /* |g/t - 1| */
double metrics_kendall(const double *a, const double *b, size_t count); /* tau-b, O(n log n) */

/* Quantile q in [0, 1] of values in any order, linear between neighbours (R's type 7). */
double metrics_quantile(const double *values, size_t count, double q);

/* ---- classes: truth holds class numbers, chance is count x classes ---- */
double metrics_accuracy(const double *truth, const double *chance, size_t count, size_t classes);
double metrics_log_loss(const double *truth, const double *chance, size_t count, size_t classes);

/* Half the squared distance from certainty; for two classes that is the mean of (p - y)^2. */
double metrics_brier(const double *truth, const double *chance, size_t count, size_t classes);

/* Area under the ROC of score for truth == 1 against 0; ties count half. */
double metrics_auc(const double *truth, const double *score, size_t count);

/* AUC for two classes; for more the mean over classes of one against the rest. */
double metrics_auc_classes(const double *truth, const double *chance, size_t count, size_t classes);

struct metrics_roc {
	double false_share, true_share; /* FPR, TPR */
	double threshold;		/* score at or above it is called positive */
};

/*
 * The corners of the ROC curve from (0, 0) to (1, 1); points that lie on a line between their
 * neighbours are left out. The array is the caller's. Returns the number of points, 0 where it is
 * not defined.
 */
size_t metrics_roc_points(const double *truth, const double *score, size_t count,
			  struct metrics_roc **points);

/* counts[truth * classes + guess] of the most probable class. */
void metrics_confusion(const double *truth, const double *chance, size_t count, size_t classes,
		       size_t *counts);

/*
 * Reliability: rows by predicted chance of class 1 in equal bins; mean prediction, share of class 1
 * and rows of each bin (NAN, NAN and 0 where it is empty). Returns the expected calibration error.
 */
struct metrics_bin {
	double predicted, observed;
	size_t count;
};
double metrics_reliability(const double *truth, const double *score, size_t count,
			   struct metrics_bin *bins, size_t bin_count);

#endif
