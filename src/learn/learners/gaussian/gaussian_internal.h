/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What gaussian.c and gaussian_fit.c share. For nobody else.
 */
#ifndef SLUICE_LEARN_LEARNERS_GAUSSIAN_GAUSSIAN_INTERNAL_H
#define SLUICE_LEARN_LEARNERS_GAUSSIAN_GAUSSIAN_INTERNAL_H

#include "learn/learners/gaussian/gaussian.h"

struct lapack;

/* As scikit-learn's alpha. */
#define GAUSSIAN_JITTER 1e-10

struct covariance parts_covariance(const struct gaussian *gaussian);
struct covariance_points parts_points(const struct gaussian *gaussian, size_t count); /* first */

void parts_get(const struct gaussian *gaussian, size_t p, double *row);
void parts_put(struct gaussian *gaussian, size_t p, const double *row);

/* Root, weights and likelihood with the jitter as it is; -EDOM where there is no root. */
int parts_root(struct gaussian *gaussian, const struct lapack *lapack);

/* `limit` of count numbers below count, rising; all, and fewer in limit, where there are fewer. */
size_t *parts_choose(size_t count, size_t *limit, uint64_t seed, uint64_t stream);

#endif
