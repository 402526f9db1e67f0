/* SPDX-License-Identifier: BSD-3-Clause */
#include "learn/math/ratio.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "learn/math/vector.h"

/* Rounding errors of the sums must not exclude a level that just fits. */
#define ROUNDING (1 + 1e-9)

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

static void fill_exact(struct ratio_test *test, size_t half)
{
	AUTO_FREE double *chances = rank_probabilities(test->n, test->m);
	double sum = 0;

	for (size_t u = 0; u <= half; u++)
		test->at_most[u] = sum += chances[u];
}

static void fill_normal(struct ratio_test *test, size_t half)
{
	double n = (double)test->n, m = (double)test->m;
	double deviation = sqrt(n * m * (n + m + 1) / 12);

	for (size_t u = 0; u <= half; u++)
		test->at_most[u] = erfc((n * m / 2 - (double)u - 0.5) / deviation / M_SQRT2) / 2;
}

void ratio_test_init(struct ratio_test *test, size_t n, size_t m)
{
	size_t half = n * m / 2;

	*test = (struct ratio_test){ .n = n, .m = m };
	test->at_most = xcalloc(half + 1, sizeof(*test->at_most));
	if (!n || !m)
		test->at_most[0] = 1;
	else if (n * m <= RATIO_EXACT)
		fill_exact(test, half);
	else
		fill_normal(test, half);
}

void ratio_test_release(struct ratio_test *test)
{
	free(test->at_most);
	*test = (struct ratio_test){ 0 };
}

double ratio_test_least(const struct ratio_test *test)
{
	return 2 * test->at_most[0];
}

double ratio_test_chance(const struct ratio_test *test, const double *before, const double *after)
{
	size_t lower = 0, higher = 0, least, half = test->n * test->m / 2;

	for (size_t i = 0; i < test->n; i++) {
		for (size_t j = 0; j < test->m; j++) {
			lower += before[i] <= after[j];
			higher += before[i] >= after[j];
		}
	}
	least = lower < higher ? lower : higher;
	return least > half ? 1 : fmin(1, 2 * test->at_most[least]);
}

/* The number of the smallest, and of the largest, of all ratios that are outside; -1: none can be.
 */
static long count_outside(const struct ratio_test *test, double level)
{
	size_t half = test->n * test->m / 2;
	long outside = -1;

	for (size_t u = 0; u <= half && 2 * test->at_most[u] <= level * ROUNDING; u++)
		outside = (long)u;
	return outside;
}

bool ratio_test_interval(const struct ratio_test *test, const double *before, const double *after,
			 double level, struct ratio_interval *interval)
{
	size_t n = test->n, m = test->m;
	long outside = count_outside(test, level);
	AUTO_FREE double *ratios = NULL;

	if (outside < 0)
		return false;
	ratios = xcalloc(n * m, sizeof(*ratios));
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < m; j++)
			ratios[i * m + j] = before[i] / after[j];
	}
	interval->middle = vector_median(ratios, n * m); /* sorts them */
	interval->low = ratios[outside];
	interval->high = ratios[n * m - 1 - (size_t)outside];
	return true;
}

bool ratio_interval(const double *before, size_t n, const double *after, size_t m,
		    struct ratio_interval *interval)
{
	struct ratio_test test;
	bool known;

	ratio_test_init(&test, n, m);
	known = ratio_test_interval(&test, before, after, RATIO_LEVEL, interval);
	ratio_test_release(&test);
	return known;
}
