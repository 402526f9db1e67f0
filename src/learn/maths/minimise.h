/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The least value of a smooth function of many variables: L-BFGS (Nocedal 1980) with a line search
 * for the strong Wolfe conditions. Bounds, if any, are kept by stopping a step where it meets one
 * and leaving variables alone that press against theirs.
 */
#ifndef SLUICE_LEARN_MATHS_MINIMISE_H
#define SLUICE_LEARN_MATHS_MINIMISE_H

#include <stddef.h>

/*
 * The value at x, and its gradient. A value that is not finite means that x is out of bounds: the
 * step is shortened.
 */
typedef double minimise_function(void *arg, const double *x, double *gradient);

/* Zeros take the number in brackets. */
struct minimise_plan {
	size_t rounds;		  /* at most so many directions [200] */
	size_t evaluations;	  /* at most about so many values [50 per round] */
	size_t memory;		  /* pairs that model the curvature [10] */
	double gradient;	  /* stop: no component of the gradient above it [1e-5] */
	double decrease;	  /* stop: a round gains less, relative to max(|value|, 1) [2e-9];
				   * below 0: never */
	const double *low, *high; /* one bound per variable; NULL: none */
};

struct minimise_result {
	double value, gradient; /* at the end; gradient is the largest component that may move */
	size_t rounds, evaluations;
};

/*
 * x is the start and becomes the best point found. Holds 2 * memory + 5 numbers per variable.
 * Returns 0 where a tolerance was met, 1 where the rounds, the evaluations or the precision of the
 * function gave out before, -EDOM where the value at the start is not finite (x is untouched).
 */
int minimise(minimise_function *function, void *arg, double *x, size_t count,
	     const struct minimise_plan *plan, struct minimise_result *result);

#endif
