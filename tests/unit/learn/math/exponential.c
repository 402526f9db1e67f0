/* SPDX-License-Identifier: BSD-3-Clause */
#include "learn/math/exponential.h"

#include <math.h>

#include "check.h"

static void result_is_accurate_to_the_last_digits(void)
{
	double worst = 0;

	for (double x = -699; x <= 699; x += 0.00917) {
		worst = fmax(worst, fabs(exponential(x) / exp(x) - 1));
		worst = fmax(worst, fabs(exponential(x / 700) / exp(x / 700) - 1));
	}
	CHECK(worst < 2e-14);
	CHECK(exponential(0) == 1);
}

static void result_is_finite_beyond_its_range(void)
{
	CHECK(exponential(-1e300) > 0);
	CHECK(exponential(-1e300) < 1e-300);
	CHECK(exponential(-INFINITY) < 1e-300);
	CHECK(exponential(NAN) < 1e-300);
	CHECK(isfinite(exponential(1e300)));
	CHECK(exponential(1e300) > 1e300);
}

static void sixteen_at_once_equal_one_by_one(void)
{
	static const double strange[] = { -1e300, -INFINITY, NAN, 1e300, -700.5, 700.5, 0, -0.0 };
	exponential_pair values[8];

	for (double x = -700; x <= 700 - 16; x += 3.71) {
		for (size_t i = 0; i < 16; i++)
			values[i / 2][i % 2] = x + (double)i;
		exponential_sixteen(values);
		for (size_t i = 0; i < 16; i++)
			CHECK(fabs(values[i / 2][i % 2] / exponential(x + (double)i) - 1) < 1e-14);
	}
	for (size_t i = 0; i < 16; i++)
		values[i / 2][i % 2] = strange[i / 2];
	exponential_sixteen(values);
	for (size_t i = 0; i < 16; i++)
		CHECK(values[i / 2][i % 2] == exponential(strange[i / 2]));
}

TESTS(TEST(result_is_accurate_to_the_last_digits), TEST(result_is_finite_beyond_its_range),
      TEST(sixteen_at_once_equal_one_by_one))
