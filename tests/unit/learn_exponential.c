/* SPDX-License-Identifier: BSD-3-Clause */
#include "learn/data/exponential.h"

#include <math.h>

#include "check.h"

static void it_is_right_to_the_last_digits(void)
{
	double worst = 0;

	for (double x = -699; x <= 699; x += 0.00917) {
		worst = fmax(worst, fabs(exponential(x) / exp(x) - 1));
		worst = fmax(worst, fabs(exponential(x / 700) / exp(x / 700) - 1));
	}
	CHECK(worst < 2e-14);
	CHECK(exponential(0) == 1);
}

static void beyond_its_range_it_is_tiny_or_huge_but_a_number(void)
{
	CHECK(exponential(-1e300) > 0 && exponential(-1e300) < 1e-300);
	CHECK(exponential(-INFINITY) < 1e-300);
	CHECK(exponential(NAN) < 1e-300);
	CHECK(isfinite(exponential(1e300)) && exponential(1e300) > 1e300);
}

TESTS(TEST(it_is_right_to_the_last_digits), TEST(beyond_its_range_it_is_tiny_or_huge_but_a_number))
