/* SPDX-License-Identifier: BSD-3-Clause */
#include "learn/math/cholesky.h"

#include <math.h>

#include "learn/math/vector.h"

/* A pivot that is a smaller share of its diagonal element is a rounding error. */
#define PIVOT_LEAST 1e-14

/* Subtracts multiples of `count` rows from a row. Four at a time, as the row is loaded and stored
 * only once for all of them. */
static void subtract_rows(double *restrict row, const double *restrict rows, size_t count, size_t n,
			  size_t from)
{
	size_t i = 0;

	for (; i + 4 <= count; i += 4) {
		const double *restrict a = rows + i * n, *restrict b = a + n, *restrict c = b + n,
				       *restrict d = c + n;
		double p = a[from], q = b[from], r = c[from], s = d[from];

		for (size_t k = from; k < n; k++)
			row[k] -= (p * a[k] + q * b[k]) + (r * c[k] + s * d[k]);
	}
	for (; i < count; i++) {
		const double *restrict a = rows + i * n;
		double p = a[from];

		for (size_t k = from; k < n; k++)
			row[k] -= p * a[k];
	}
}

size_t cholesky_factorize(double *m, size_t n)
{
	size_t left_out = 0;

	for (size_t i = 0; i < n; i++) {
		double *row = m + i * n, diagonal = row[i], pivot;

		subtract_rows(row, m, i, n, i);
		pivot = row[i] > PIVOT_LEAST * diagonal ? sqrt(row[i]) : INFINITY;
		left_out += isinf(pivot);
		row[i] = pivot;
		for (size_t k = i + 1; k < n; k++)
			row[k] /= pivot;
	}
	return left_out;
}

void cholesky_solve_lower(const double *root, size_t n, double *x)
{
	for (size_t i = 0; i < n; i++) {
		const double *row = root + i * n;
		double value = x[i] /= row[i];

		for (size_t k = i + 1; k < n; k++)
			x[k] -= value * row[k];
	}
}

void cholesky_solve_upper(const double *root, size_t n, double *x)
{
	for (size_t i = n; i-- > 0;) {
		const double *row = root + i * n;

		x[i] = (x[i] - vector_dot(row + i + 1, x + i + 1, n - i - 1)) / row[i];
	}
}
