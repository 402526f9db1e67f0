/* SPDX-License-Identifier: BSD-3-Clause */
#include "learn/judge/drift.h"

#include <math.h>

#include "check.h"
#include "learn/math/random.h"

enum { WINDOW = 100 };

/* Wilson's formula with z = scipy.stats.norm.ppf(0.99) */
static void band_is_that_of_wilson(void)
{
	struct drift drift;

	drift_init(&drift, 0.9, 0, WINDOW, 0.99);
	CHECK(fabs(drift.low - 0.8084541325714024) < 1e-12);
	drift_release(&drift);
	drift_init(&drift, 0.9, 0, WINDOW, 0.5);
	CHECK(fabs(drift.low - 0.9) < 1e-12);
	drift_release(&drift);
	/* The expectation was measured on as many rows as the window has: half the rows. */
	drift_init(&drift, 0.9, 100, WINDOW, 0.99);
	CHECK(fabs(drift.low - 0.7593646261348365) < 1e-12);
	drift_release(&drift);
	drift_init(&drift, 1, 0, WINDOW, 0.99);
	CHECK(drift.low < 1);
	CHECK(drift.low > 0.9);
	drift_release(&drift);
}

static void share_covers_the_window(void)
{
	struct drift drift;

	drift_init(&drift, 0.5, 0, 4, 0.99);
	CHECK(isnan(drift_share(&drift)));
	drift_learn(&drift, true);
	drift_learn(&drift, false);
	CHECK(drift_share(&drift) == 0.5);
	for (int i = 0; i < 4; i++)
		drift_learn(&drift, i > 0);
	CHECK(drift_share(&drift) == 0.75);
	drift_release(&drift);
}

static void drop_is_detected_within_a_window(void)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct random random;
		struct drift drift;
		int found = -1;

		random_init(&random, seed);
		drift_init(&drift, 0.9, 2000, WINDOW, 0.999);
		for (int i = 0; i < WINDOW; i++)
			CHECK(!drift_learn(&drift, random_real(&random) < 0.9));
		for (int i = 0; found < 0 && i < WINDOW; i++)
			found = drift_learn(&drift, random_real(&random) < 0.6) ? i : -1;
		CHECK(found >= 0);
		drift_release(&drift);
	}
}

/* The header states the expected rates; this runs 40 windows of 20 seeds at each confidence. */
static void false_alarms_are_few(void)
{
	static const double confidences[] = { 0.99, 0.999, 0.9999 };
	static const size_t most[] = { 800 / 17, 800 / 90, 800 / 500 };

	for (int c = 0; c < 3; c++) {
		size_t alarms = 0;

		for (uint64_t seed = 1; seed <= 20; seed++) {
			struct random random;
			struct drift drift;

			random_init(&random, seed);
			drift_init(&drift, 0.75, 0, WINDOW, confidences[c]);
			for (int i = 0; i < 40 * WINDOW; i++)
				alarms += drift_learn(&drift, random_real(&random) < 0.75);
			drift_release(&drift);
		}
		CHECK(alarms <= most[c]);
		CHECK(c || alarms > 0); /* otherwise the band would be too wide */
	}
}

static void drift_is_reported_once_until_it_recovers(void)
{
	struct drift drift;
	int told = 0;

	drift_init(&drift, 0.9, 0, WINDOW, 0.99);
	for (int i = 0; i < 5 * WINDOW; i++)
		told += drift_learn(&drift, i % 2);
	CHECK_INT(told, 1);
	CHECK(drift.drifted);
	for (int i = 0; i < WINDOW; i++)
		told += drift_learn(&drift, true);
	CHECK(!drift.drifted && told == 1);
	for (int i = 0; i < WINDOW; i++)
		told += drift_learn(&drift, false);
	CHECK_INT(told, 2);
	drift_release(&drift);
}

TESTS(TEST(band_is_that_of_wilson), TEST(share_covers_the_window),
      TEST(drop_is_detected_within_a_window), TEST(false_alarms_are_few),
      TEST(drift_is_reported_once_until_it_recovers))
