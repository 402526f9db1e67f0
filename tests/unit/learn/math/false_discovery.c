/* SPDX-License-Identifier: BSD-3-Clause */
#include "learn/math/false_discovery.h"

#include "check.h"

/* The example of Benjamini and Hochberg (1995): four of fifteen are rejected. */
static void published_example_has_four_discoveries(void)
{
	double chances[] = { 0.4262, 0.0001, 0.0095, 0.0278, 0.0004, 0.0344, 0.0201, 0.0298,
			     0.0459, 0.3240, 0.0019, 0.5719, 0.6528, 0.7590, 1.0000 };

	CHECK_NEAR(false_discovery_limit(chances, 15, 0.05), 0.05 * 4 / 15, 1e-12);
	CHECK(chances[3] == 0.0095);
}

static void a_weaker_test_is_carried_by_stronger_ones(void)
{
	double chances[] = { 0.05, 0.04, 0.03 };

	CHECK_NEAR(false_discovery_limit(chances, 3, 0.05), 0.05, 1e-12);
}

static void no_test_gives_no_discovery(void)
{
	double chance = 0.051;

	CHECK(false_discovery_limit(NULL, 0, 0.05) == 0);
	CHECK(false_discovery_limit(&chance, 1, 0.05) == 0);
}

TESTS(TEST(published_example_has_four_discoveries), TEST(a_weaker_test_is_carried_by_stronger_ones),
      TEST(no_test_gives_no_discovery))
