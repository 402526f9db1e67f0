/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Simulated steps with files that are placed one by one.
 */
#include "predict/forecast/place/adaptive.h"

#include "base/err.h"
#include "check.h"

enum { TARGETS = 8 };

static struct placement_target targets[TARGETS];
static double seconds[TARGETS], finish[TARGETS];
static struct err err;

static double step(const struct adaptive_plan *plan)
{
	double slowest = 0;

	REQUIRE(adaptive_simulate(plan, targets, seconds, TARGETS, NULL, finish, &err) == 0);
	for (int i = 0; i < TARGETS; i++)
		slowest = fmax(slowest, finish[i]);
	return slowest;
}

static void start(void)
{
	for (int i = 0; i < TARGETS; i++) {
		targets[i] = (struct placement_target){ 0.5, 1, 3, 0.1, 0.1, true };
		seconds[i] = 1;
	}
}

static void equal_targets_get_equal_shares(void)
{
	start();
	CHECK_NEAR(step(&(struct adaptive_plan){ 0 }), 1, 1e-6);
	for (int i = 0; i < TARGETS; i++)
		CHECK_NEAR(finish[i], 1, 1e-6);
}

/* Equal shares take 20 s, the fluid limit 8 / 7.05 s, a file on the slow target 20 / 16 s. */
static void slow_target_gets_few_files(void)
{
	double slowest;

	start();
	seconds[3] = 20;
	slowest = step(&(struct adaptive_plan){ 0 });
	CHECK(slowest > 8 / 7.05 && slowest < 3);
	/* More files per target come closer to the limit. */
	CHECK(step(&(struct adaptive_plan){ .files = 64 }) < slowest);
}

/* Half of the targets take 3 s instead of 1 s: the fluid limit is 1.5 s. */
static void wrong_forecast_is_corrected(void)
{
	double right;

	start();
	for (int i = 0; i < TARGETS; i++) {
		seconds[i] = i < TARGETS / 2 ? 3 : 1;
		targets[i].busy = i < TARGETS / 2;
	}
	right = step(&(struct adaptive_plan){ 0 });
	CHECK(right > 1.5 && right < 2.1);
	for (int i = 0; i < TARGETS; i++)
		targets[i].busy = i >= TARGETS / 2;
	CHECK(step(&(struct adaptive_plan){ 0 }) < 2.3);
	/* Also one that is certain and far off. */
	for (int i = 0; i < TARGETS; i++)
		targets[i].busy_s = 1000;
	CHECK(step(&(struct adaptive_plan){ 0 }) < 2.3);
}

static void forbidden_target_gets_nothing(void)
{
	start();
	targets[2].is_allowed = false;
	/* 56 files of 1/7 s on seven targets, eight at a time: one target has two at first. */
	CHECK_NEAR(step(&(struct adaptive_plan){ .files = 7 }), 10. / 7, 1e-6);
	CHECK_NEAR(finish[2], 0, 0);
}

static void feedback_slows_a_preferred_target(void)
{
	double without;

	start();
	seconds[0] = 0.2;
	without = step(&(struct adaptive_plan){ 0 });
	CHECK(step(&(struct adaptive_plan){ .feedback = 1 }) > without);
}

TESTS(TEST(equal_targets_get_equal_shares), TEST(slow_target_gets_few_files),
      TEST(wrong_forecast_is_corrected), TEST(forbidden_target_gets_nothing),
      TEST(feedback_slows_a_preferred_target))
