/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Compares learn/math/moments.h with long double for columns of all kinds.
 */
#include <math.h>
#include <stdbool.h>

#include "base/mem.h"
#include "check.h"
#include "learn/math/moments.h"
#include "learn/math/random.h"

enum { ROWS = 1003, KINDS = 12 };

static double value_of(int kind, size_t i, struct random *random)
{
	double normal = random_normal(random);

	switch (kind) {
	case 0:
		return normal;
	case 1:
		return 0.1; /* its sum divided by the rows is not 0.1 */
	case 2:
		return 0;
	case 3:
		return 1e9 + 1e-3 * normal;
	case 4:
		return 1e-300 * normal; /* squares underflow */
	case 5:
		return 1e300 * normal; /* squares overflow */
	case 6:
		return i % 32 ? normal : 1e6; /* the estimate of the mean uses only these */
	case 7:
		return i == ROWS - 2 ? 5 : 0; /* nothing to estimate the mean from */
	case 8:
		return 0x1p50 + 8 * (double)(i % 2);
	case 9:
		return exp(3 * normal);
	case 10:
		return (double)(i % 2);
	default:
		return i ? normal : 1e12;
	}
}

/*
 * long double can represent the squares of 1e300 and 1e-300. On x86_64 it has only 11 bits more
 * than double, so the error of the mean is corrected.
 */
static void truth_find(const double *x, size_t rows, size_t width, long double *mean,
		       long double *deviation)
{
	long double first = 0, sum = 0, squares = 0;

	for (size_t i = 0; i < rows; i++)
		first += x[i * width] / (long double)rows;
	for (size_t i = 0; i < rows; i++) {
		sum += x[i * width] - first;
		squares += (x[i * width] - first) * (x[i * width] - first);
	}
	*mean = first + sum / (long double)rows;
	squares -= sum * (sum / (long double)rows);
	*deviation = rows > 1 ? sqrtl(squares / (long double)(rows - 1)) : 0;
}

static bool column_constant(const double *x, size_t rows, size_t width)
{
	for (size_t i = 1; i < rows; i++) {
		if (x[i * width] != x[0])
			return false;
	}
	return true;
}

static void columns_check(const double *x, size_t rows, size_t width)
{
	double mean[KINDS], deviation[KINDS];

	moments_find(x, rows, width, mean, deviation);
	for (size_t j = 0; j < width; j++) {
		long double m, d;

		truth_find(x + j, rows, width, &m, &d);
		CHECK(fabsl(mean[j] - m) <= 1e-15L * (fabsl(m) + 8 * d));
		if (column_constant(x + j, rows, width))
			CHECK(deviation[j] == 0);
		else
			CHECK(fabsl(deviation[j] - d) <= 4e-15L * d);
	}
}

static void columns_of_all_kinds_are_measured(void)
{
	double x[ROWS];
	struct random random;

	random_init(&random, 1);
	for (int kind = 0; kind < KINDS; kind++) {
		for (size_t i = 0; i < ROWS; i++)
			x[i] = value_of(kind, i, &random);
		for (size_t rows = 1; rows <= ROWS; rows += rows < 70 ? 1 : 311)
			columns_check(x, rows, 1);
	}
}

static void extreme_column_does_not_affect_other_columns(void)
{
	AUTO_FREE double *x = xcalloc(ROWS * KINDS, sizeof(*x));
	struct random random;

	random_init(&random, 2);
	for (size_t i = 0; i < ROWS; i++) {
		for (int kind = 0; kind < KINDS; kind++)
			x[i * KINDS + (size_t)kind] = value_of(kind, i, &random);
	}
	columns_check(x, ROWS, KINDS);
}

static void a_constant_column_has_no_deviation(void)
{
	double x[3 * 50], mean[3], deviation[3];

	for (size_t i = 0; i < 50; i++) {
		x[3 * i] = 0.1;
		x[3 * i + 1] = -1e-170;
		x[3 * i + 2] = (double)i;
	}
	moments_find(x, 50, 3, mean, deviation);
	CHECK(mean[0] == 0.1);
	CHECK(deviation[0] == 0);
	CHECK(mean[1] == -1e-170);
	CHECK(deviation[1] == 0);
	CHECK(mean[2] == 24.5);
	CHECK(fabs(deviation[2] - 14.577379737113251) < 1e-14);
}

TESTS(TEST(columns_of_all_kinds_are_measured), TEST(extreme_column_does_not_affect_other_columns),
      TEST(a_constant_column_has_no_deviation))
