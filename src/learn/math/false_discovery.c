/* SPDX-License-Identifier: BSD-3-Clause */
#include "learn/math/false_discovery.h"

#include "learn/math/vector.h"

double false_discovery_limit(double *chances, size_t count, double level)
{
	vector_sort(chances, count);
	for (size_t i = count; i-- > 0;) {
		double limit = level * (double)(i + 1) / (double)count;

		if (chances[i] <= limit)
			return limit;
	}
	return 0;
}
