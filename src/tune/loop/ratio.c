/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/loop/ratio.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "learn/math/vector.h"

#define TAIL 0.025 /* probability outside the interval on each side */

/*
 * The distribution of the Mann-Whitney statistic without a difference, P(U = u) for u up to n m:
 * all rankings of n + m runs are equally likely. The largest run is one of the n and exceeds all m
 * others, or one of the m and exceeds none: P(n, m, u) = n/(n+m) P(n-1, m, u-m) + m/(n+m) P(n, m-1,
 * u).
 */
static double *rank_probabilities(size_t n, size_t m)
{
	size_t size = n * m + 1;
	/* One row per j, for the current i. */
	double *rows = xcalloc((m + 1) * size, sizeof(*rows));
	double *result = xcalloc(size, sizeof(*result));

	for (size_t i = 0; i <= n; i++) {
		for (size_t j = 0; j <= m; j++) {
			double *row = rows + j * size;

			if (!i || !j) {
				memset(row, 0, size * sizeof(*row));
				row[0] = 1;
				continue;
			}
			/* row still has the values of i - 1. Downwards, as u reads u - j. */
			for (size_t u = size; u-- > 0;) {
				double with = u >= j ? row[u - j] : 0;
				double without = rows[(j - 1) * size + u];

				row[u] = ((double)i * with + (double)j * without) / (double)(i + j);
			}
		}
	}
	memcpy(result, rows + m * size, size * sizeof(*result));
	free(rows);
	return result;
}

int ratio_outside(size_t n, size_t m)
{
	AUTO_FREE double *chances = NULL;
	double sum = 0;
	int outside = -1;

	if (!n || !m)
		return -1;
	chances = rank_probabilities(n, m);
	for (size_t u = 0; u <= n * m; u++) {
		sum += chances[u];
		if (sum > TAIL)
			break;
		outside = (int)u;
	}
	return outside;
}

bool ratio_interval(const double *before, size_t n, const double *after, size_t m, double *low,
		    double *high)
{
	AUTO_FREE double *ratios = xcalloc(n * m + 1, sizeof(*ratios));
	int outside = ratio_outside(n, m);

	if (outside < 0)
		return false;
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < m; j++)
			ratios[i * m + j] = before[i] / after[j];
	}
	vector_sort(ratios, n * m);
	*low = ratios[outside];
	*high = ratios[n * m - 1 - (size_t)outside];
	return true;
}
