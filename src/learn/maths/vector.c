/* SPDX-License-Identifier: BSD-3-Clause */
#include "learn/maths/vector.h"

#include <stdlib.h>

int vector_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void vector_sort(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), vector_compare);
}

double vector_median(double *values, size_t count)
{
	vector_sort(values, count);
	/* Halves before the sum: it may be too large for a number. */
	return count % 2 ? values[count / 2] : values[count / 2 - 1] / 2 + values[count / 2] / 2;
}
