/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which parameters explain what the trials of a tuning cost. The logarithm of the cost is modelled
 * by a Gaussian process, as in the Bayesian search, and the variance of the model over the whole
 * space is taken apart (functional ANOVA, Hutter et al. 2014): what each dimension does by itself,
 * and the rest, which only combinations do. What the model fails to foresee of a trial that is left
 * out is "not explained". All shares sum to 1.
 *
 * Deterministic; needs LAPACK; a second or less for hundreds of trials.
 */
#ifndef SLUICE_TUNE_LOOP_IMPORTANCE_H
#define SLUICE_TUNE_LOOP_IMPORTANCE_H

#include <stddef.h>

struct err;
struct space;

/* One dimension by itself. */
struct importance_part {
	double share;
	size_t best;   /* the value with the least cost on average over all others */
	double factor; /* cost with the worst value over that with the best */
};

struct importance {
	struct importance_part *parts; /* per dimension of the space */
	size_t count;
	double together;    /* share of combinations */
	double unexplained; /* share that is noise, or that the trials are too few for */
};

/*
 * points: count x dimensions, settled. costs above 0; INFINITY: failed, as bad as the worst.
 * -ENODATA with a sentence where the trials are too few, -ENOENT without LAPACK.
 */
int importance_init(struct importance *importance, const struct space *space, const size_t *points,
		    const double *costs, size_t count, struct err *err);
void importance_release(struct importance *importance);

#endif
