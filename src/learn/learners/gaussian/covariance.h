/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How alike the values of a smooth function are at two points: the kernel of a Gaussian process,
 * for inputs of both kinds. Numbers enter by their distance, each in units of its own scale
 * (ARD). Of a category only equal or not counts: another value multiplies by exp(-1 / scale), the
 * exchangeable kernel, whatever the value.
 *
 *	k(a, b) = signal * g(r) * exp(-sum over categories with a != b of 1 / scale)
 *		  [ + slope * (1 + a . b) ]
 *	r^2 = sum over numbers of ((a - b) / scale)^2
 *
 * with g(r) = exp(-r^2 / 2), or Matern's of smoothness 3/2 or 5/2.
 */
#ifndef SLUICE_LEARN_LEARNERS_GAUSSIAN_COVARIANCE_H
#define SLUICE_LEARN_LEARNERS_GAUSSIAN_COVARIANCE_H

#include <stdbool.h>
#include <stddef.h>

enum covariance_family { COVARIANCE_RBF, COVARIANCE_MATERN32, COVARIANCE_MATERN52 };
#define COVARIANCE_FAMILIES "rbf|matern32|matern52"

struct covariance {
	enum covariance_family family;
	bool linear; /* with the last term */
	size_t width;
	const bool *category; /* per input */
	double signal, slope;
	const double *scales; /* per input */
};

/* Points, one array per input: input i of point p is at x[i * stride + p]. */
struct covariance_points {
	const double *x;
	size_t stride, count;
};

/* out[p] = k(point, points p) */
void covariance_values(const struct covariance *covariance, const struct covariance_points *points,
		       const double *point, double *out);

/* k(point, point) */
double covariance_self(const struct covariance *covariance, const double *point);

/*
 * Adds sum over p of weight[p] * the derivative of k(point, points p) by the logarithm of: signal
 * (sums[0]), slope (sums[1]), scale of input i (sums[2 + i]).
 */
void covariance_slopes(const struct covariance *covariance, const struct covariance_points *points,
		       const double *point, const double *weight, double *sums);

#endif
