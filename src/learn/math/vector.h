/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Small loops over arrays of numbers that several methods share.
 */
#ifndef SLUICE_LEARN_MATH_VECTOR_H
#define SLUICE_LEARN_MATH_VECTOR_H

#include <stdbool.h>
#include <stddef.h>

/* The inner product in four independent sums, because the compiler may not reorder additions. */
static inline double vector_dot(const double *a, const double *b, size_t count)
{
	double sums[4] = { 0 };
	size_t i = 0;

	for (; i + 4 <= count; i += 4) {
		for (size_t k = 0; k < 4; k++)
			sums[k] += a[i + k] * b[i + k];
	}
	for (; i < count; i++)
		sums[0] += a[i] * b[i];
	return (sums[0] + sums[2]) + (sums[1] + sums[3]);
}

/* A new array that is all NAN; the caller frees it. */
double *vector_new_nan(size_t count);

bool vector_all_finite(const double *values, size_t count);

/* Compares two doubles for qsort() and bsearch(), ascending. */
int vector_compare(const void *a, const void *b);

/* Sorts in place, ascending; values must not be NAN. */
void vector_sort(double *values, size_t count);

/* Sorts values and returns their median; count must not be 0. */
double vector_median(double *values, size_t count);

#endif
