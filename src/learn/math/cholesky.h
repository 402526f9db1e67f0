/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Cholesky factorization of symmetric matrices: m = R'R. A matrix has n rows of n numbers; only its
 * upper triangle is read and written. For large matrices, LAPACK is faster (library.h).
 */
#ifndef SLUICE_LEARN_MATH_CHOLESKY_H
#define SLUICE_LEARN_MATH_CHOLESKY_H

#include <stddef.h>

/* Replaces m by R. Returns the number of pivots that are 0, except for rounding: their rows and
 * columns are left out, and solutions have zeros there. If it is not 0, m is not positive definite.
 */
size_t cholesky_factorize(double *m, size_t n);

/* Solve R'y = x and Ry = x in place; one after the other they solve my = x. */
void cholesky_solve_lower(const double *root, size_t n, double *x);
void cholesky_solve_upper(const double *root, size_t n, double *x);

#endif
