/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The importance of parameters: how much of the variance in the cost of a tuning's trials each one
 * explains. A Gaussian process models the logarithm of the cost, as in the Bayesian search, and its
 * variance over the whole space is decomposed (functional ANOVA, Hutter et al. 2014) into the share
 * of each dimension alone and the share of combinations. The leave-one-out error of the model is
 * the unexplained share. All shares sum to 1.
 *
 * Deterministic. Needs LAPACK, and takes a second or less for hundreds of trials.
 */
#ifndef SLUICE_TUNE_LOOP_IMPORTANCE_H
#define SLUICE_TUNE_LOOP_IMPORTANCE_H

#include <stddef.h>

struct err;
struct space;

/* One dimension alone. */
struct importance_part {
	double share;
	size_t best; /* index of the value with the lowest cost, averaged over all other dimensions
		      */
	double factor; /* average cost with the worst value / with the best */
};

struct importance {
	struct importance_part *parts; /* one per dimension of the space */
	size_t count;
	double together;    /* share of combinations of dimensions */
	double unexplained; /* share of noise, or of effects that the trials are too few to show */
};

/*
 * points: count x dimensions, settled. costs are above 0; INFINITY: failed, which counts as the
 * worst cost. -ENODATA if there are too few trials, -ENOENT without LAPACK.
 */
int importance_init(struct importance *importance, const struct space *space, const size_t *points,
		    const double *costs, size_t count, struct err *err);
void importance_release(struct importance *importance);

#endif
