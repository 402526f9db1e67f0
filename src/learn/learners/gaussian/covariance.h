/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The kernel of a Gaussian process for numeric and categorical inputs: the covariance of a smooth
 * function at two points. Numeric inputs enter by their distance, each in units of its own scale
 * (ARD). For a categorical input only equality counts: a different value multiplies the covariance
 * by exp(-1 / scale), the exchangeable kernel.
 *
 *	k(a, b) = signal * g(r) * exp(-sum over categories with a != b of 1 / scale)
 *		  [ + slope * (1 + a . b) ]
 *	r^2 = sum over numbers of ((a - b) / scale)^2
 *
 * Here g(r) is exp(-r^2 / 2), or the Matern function of smoothness 3/2 or 5/2.
 */
#ifndef SLUICE_LEARN_LEARNERS_GAUSSIAN_COVARIANCE_H
#define SLUICE_LEARN_LEARNERS_GAUSSIAN_COVARIANCE_H

#include <stdbool.h>
#include <stddef.h>

enum covariance_family { COVARIANCE_RBF, COVARIANCE_MATERN32, COVARIANCE_MATERN52 };
#define COVARIANCE_FAMILIES "rbf|matern32|matern52"

struct covariance {
	enum covariance_family family;
	bool linear; /* include the last term */
	size_t width;
	const bool *category; /* per input */
	double signal, slope;
	const double *scales; /* per input */
};

/* Points, stored as one array per input: input i of point p is x[i * stride + p]. */
struct covariance_points {
	const double *x;
	size_t stride, count;
};

/* out[p] = k(point, point p of points) */
void covariance_values(const struct covariance *covariance, const struct covariance_points *points,
		       const double *point, double *out);

/* k(point, point) */
double covariance_self(const struct covariance *covariance, const double *point);

/*
 * Adds to sums the sum over p of weight[p] times the derivative of k(point, point p) with respect
 * to the logarithm of signal (sums[0]), slope (sums[1]) and the scale of input i (sums[2 + i]).
 */
void covariance_slopes(const struct covariance *covariance, const struct covariance_points *points,
		       const double *point, const double *weight, double *sums);

#endif
