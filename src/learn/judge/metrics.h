/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Measures of the quality of predictions, computed from plain arrays. A measure that is undefined
 * for its input (only one class, constant truth) is NAN.
 */
#ifndef SLUICE_LEARN_JUDGE_METRICS_H
#define SLUICE_LEARN_JUDGE_METRICS_H

#include <stddef.h>

/* Regression. */
double metrics_rmse(const double *truth, const double *guess, size_t count);
double metrics_mae(const double *truth, const double *guess, size_t count);
double metrics_r2(const double *truth, const double *guess, size_t count); /* 1 - SSE/SST */
double metrics_median_error(const double *truth, const double *guess, size_t count); /* |g/t - 1| */
double metrics_kendall(const double *a, const double *b, size_t count); /* tau-b in O(n log n) */

/* Quantile q in [0, 1] of unsorted values, with linear interpolation (R's type 7). */
double metrics_quantile(const double *values, size_t count, double q);

/* Classification: truth holds class numbers, and chance is count x classes. */
double metrics_accuracy(const double *truth, const double *chance, size_t count, size_t classes);
double metrics_log_loss(const double *truth, const double *chance, size_t count, size_t classes);

/* Half the squared distance from certainty; for two classes this is the mean of (p - y)^2. */
double metrics_brier(const double *truth, const double *chance, size_t count, size_t classes);

/* Area under the ROC curve of score for truth == 1 against 0; ties count one half. */
double metrics_auc(const double *truth, const double *score, size_t count);

/* AUC for two classes; for more classes the mean over one class against the rest. */
double metrics_auc_classes(const double *truth, const double *chance, size_t count, size_t classes);

struct metrics_roc {
	double false_share, true_share; /* FPR, TPR */
	double threshold;		/* a score at or above it counts as positive */
};

/*
 * The corners of the ROC curve from (0, 0) to (1, 1), without points on a straight line between
 * their neighbors. The caller frees the array. Returns the number of points, or 0 if the curve is
 * undefined.
 */
size_t metrics_roc_points(const double *truth, const double *score, size_t count,
			  struct metrics_roc **points);

/*
 * Reliability: groups rows by the predicted probability of class 1 into bins of equal width and
 * computes the mean prediction, the share of class 1 and the row count of each bin (NAN, NAN and 0
 * for an empty bin). Returns the expected calibration error.
 */
struct metrics_bin {
	double predicted, observed;
	size_t count;
};
double metrics_reliability(const double *truth, const double *score, size_t count,
			   struct metrics_bin *bins, size_t bin_count);

#endif
