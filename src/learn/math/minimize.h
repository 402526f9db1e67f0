/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Minimizes a smooth function of many variables by L-BFGS (Nocedal 1980) with a line search for the
 * strong Wolfe conditions. Optional bounds are enforced by stopping a step at the first bound it
 * reaches and by fixing variables that the gradient pushes against their bound.
 */
#ifndef SLUICE_LEARN_MATH_MINIMIZE_H
#define SLUICE_LEARN_MATH_MINIMIZE_H

#include <stddef.h>

/*
 * Returns the value at x and sets its gradient. A value that is not finite means that x is outside
 * of the domain; the step is then shortened.
 */
typedef double minimize_function(void *arg, const double *x, double *gradient);

/* A zero selects the default in brackets. */
struct minimize_plan {
	size_t rounds;	    /* maximum number of search directions [200] */
	size_t evaluations; /* approximate maximum number of evaluations [50 per round] */
	size_t memory;	    /* pairs of vectors that model the curvature [10] */
	double gradient;    /* stop if no component of the gradient exceeds it [1e-5] */
	/* Stop if a round gains less, relative to max(|value|, 1) [2e-9]; below 0: never. */
	double decrease;
	const double *low, *high; /* one bound per variable; NULL: unbounded */
};

struct minimize_result {
	/* At the end; gradient is the largest component of a free variable. */
	double value, gradient;
	size_t rounds, evaluations;
};

/*
 * Starts at x and replaces it by the best point found. Allocates 2 * memory + 5 numbers per
 * variable. Returns 0 if a tolerance was met; 1 if the limit of rounds or evaluations, or the
 * precision of the function, stopped it before; -EDOM if the value at the start is not finite (x is
 * untouched).
 */
int minimize(minimize_function *function, void *arg, double *x, size_t count,
	     const struct minimize_plan *plan, struct minimize_result *result);

#endif
