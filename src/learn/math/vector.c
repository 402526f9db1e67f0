/* SPDX-License-Identifier: BSD-3-Clause */
#include "learn/math/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

typedef double lanes __attribute__((vector_size(16)));

/* Zero times a number is zero, unless the number is not finite. */
bool vector_all_finite(const double *values, size_t count)
{
	lanes sum[4] = { 0 }, all;
	size_t i = 0;

	for (; i + 8 <= count; i += 8) {
		lanes some[4];

		memcpy(some, values + i, sizeof(some));
		for (size_t l = 0; l < 4; l++)
			sum[l] += some[l] * 0;
	}
	for (; i < count; i++)
		sum[0][0] += values[i] * 0;
	all = (sum[0] + sum[1]) + (sum[2] + sum[3]);
	return all[0] + all[1] == 0;
}

double *vector_new_nan(size_t count)
{
	double *values = xmalloc(count * sizeof(*values));

	for (size_t i = 0; i < count; i++)
		values[i] = NAN;
	return values;
}

int vector_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void vector_sort(double *values, size_t count)
{
	if (count)
		qsort(values, count, sizeof(*values), vector_compare);
}

double vector_median(double *values, size_t count)
{
	vector_sort(values, count);
	/* Halve before adding: the sum may overflow. */
	return count % 2 ? values[count / 2] : values[count / 2 - 1] / 2 + values[count / 2] / 2;
}
