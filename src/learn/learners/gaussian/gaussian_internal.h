/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Functions shared by gaussian.c, fit.c and batch.c only.
 */
#ifndef SLUICE_LEARN_LEARNERS_GAUSSIAN_GAUSSIAN_INTERNAL_H
#define SLUICE_LEARN_LEARNERS_GAUSSIAN_GAUSSIAN_INTERNAL_H

#include "learn/learners/gaussian/gaussian.h"

struct lapack;

/* The same as scikit-learn's default of alpha. */
#define GAUSSIAN_JITTER 1e-10

struct covariance gaussian_covariance(const struct gaussian *gaussian);
/* The first `count` points. */
struct covariance_points gaussian_points(const struct gaussian *gaussian, size_t count);

void gaussian_get_point(const struct gaussian *gaussian, size_t p, double *row);
void gaussian_put_point(struct gaussian *gaussian, size_t p, const double *row);

/*
 * Computes root, weights and likelihood with the current jitter; -EDOM if the matrix has no root.
 */
int gaussian_factorize(struct gaussian *gaussian, const struct lapack *lapack);

/*
 * Draws `*limit` of the numbers 0 .. count - 1, ascending. If count is lower, takes all and lowers
 * *limit.
 */
size_t *gaussian_sample_indices(size_t count, size_t *limit, uint64_t seed, uint64_t stream);

#endif
