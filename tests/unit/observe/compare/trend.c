/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/compare/trend.h"

#include <math.h>

#include "check.h"
#include "learn/math/random.h"

enum { MOST = 700 };

static struct trend_run runs[MOST];

/* Runs of a program whose times vary and whose counts do not. */
static void fill_runs(size_t n, uint64_t seed)
{
	struct random random;

	random_init(&random, seed);
	for (size_t i = 0; i < n; i++) {
		double noise = exp(0.1 * random_normal(&random));

		runs[i] = (struct trend_run){ { [TREND_DURATION] = 1e9 * noise,
						[TREND_IO_TIME] = 5e8 * noise,
						[TREND_THROUGHPUT] = 1e8 / noise,
						[TREND_CALLS] = 1000,
						[TREND_READ] = 0,
						[TREND_WRITTEN] = 5e7 } };
	}
}

static void scale(enum trend_measure measure, size_t from, size_t to, double factor)
{
	for (size_t i = from; i < to; i++)
		runs[i].values[measure] *= factor;
}

static void a_steady_program_has_no_shift(void)
{
	struct trend trend;

	fill_runs(60, 5);
	trend_init(&trend, runs, 60);
	CHECK(trend.is_testable);
	CHECK_INT(trend.count, 0);
	CHECK(!trend_latest(&trend, TREND_WORSE));
	trend_release(&trend);
}

static void few_runs_are_not_judged(void)
{
	struct trend trend;

	fill_runs(7, 1);
	scale(TREND_CALLS, 4, 7, 10);
	trend_init(&trend, runs, 7);
	CHECK(!trend.is_testable);
	CHECK_INT(trend.count, 0);
	trend_release(&trend);
	/* The new value is not a level yet. */
	fill_runs(12, 1);
	scale(TREND_CALLS, 9, 12, 10);
	trend_init(&trend, runs, 12);
	CHECK(trend.is_testable);
	CHECK_INT(trend.count, 0);
	trend_release(&trend);
}

static void a_count_that_changes_is_exact(void)
{
	const struct trend_shift *shift;
	struct trend trend;

	fill_runs(8, 2);
	scale(TREND_CALLS, 4, 8, 3);
	scale(TREND_WRITTEN, 4, 8, 2);
	trend_init(&trend, runs, 8);
	REQUIRE(trend.count == 2);
	CHECK_INT(trend.event_count, 1);
	CHECK_INT(trend.events[0], 4);
	shift = trend_latest(&trend, TREND_WORSE);
	REQUIRE(shift);
	CHECK_INT(shift->measure, TREND_CALLS);
	CHECK(shift->is_exact);
	CHECK_NEAR(shift->ratio, 3, 1e-12);
	CHECK_INT(shift->runs_before, 4);
	CHECK_INT(shift->runs_after, 4);
	CHECK_NEAR(shift->before, 1000, 0);
	CHECK_NEAR(shift->after, 3000, 0);
	/* More bytes are a change, but neither good nor bad. */
	CHECK_INT(trend.shifts[1].measure, TREND_WRITTEN);
	CHECK_INT(trend.shifts[1].direction, TREND_OTHER);
	trend_release(&trend);
}

static void a_slower_program_is_found_and_estimated(void)
{
	struct trend trend;

	fill_runs(40, 3);
	scale(TREND_DURATION, 22, 40, 1.6);
	trend_init(&trend, runs, 40);
	REQUIRE(trend.count == 1);
	CHECK_INT(trend.shifts[0].measure, TREND_DURATION);
	CHECK_INT(trend.shifts[0].direction, TREND_WORSE);
	CHECK(!trend.shifts[0].is_exact);
	CHECK_NEAR(trend.shifts[0].ratio, 1.6, 0.16);
	CHECK(trend.shifts[0].low > 1.3 && trend.shifts[0].low < trend.shifts[0].ratio);
	CHECK(trend.shifts[0].high < 1.9 && trend.shifts[0].high > trend.shifts[0].ratio);
	CHECK_NEAR((double)trend.shifts[0].at, 22, 1);
	trend_release(&trend);
}

static void less_throughput_is_worse(void)
{
	struct trend trend;

	fill_runs(40, 4);
	scale(TREND_THROUGHPUT, 20, 40, 0.5);
	trend_init(&trend, runs, 40);
	REQUIRE(trend.count == 1);
	CHECK_INT(trend.shifts[0].direction, TREND_WORSE);
	trend_release(&trend);
}

static void shifts_at_about_the_same_run_are_one_event(void)
{
	struct trend trend;

	fill_runs(40, 6);
	scale(TREND_CALLS, 20, 40, 2);
	scale(TREND_DURATION, 19, 40, 3);
	scale(TREND_IO_TIME, 21, 40, 3);
	trend_init(&trend, runs, 40);
	CHECK_INT(trend.count, 3);
	REQUIRE(trend.event_count == 1);
	CHECK_INT(trend.events[0], 20);
	trend_release(&trend);
}

static void what_was_mended_is_no_regression(void)
{
	struct trend trend;

	fill_runs(60, 8);
	scale(TREND_CALLS, 20, 40, 4);
	trend_init(&trend, runs, 60);
	CHECK_INT(trend.count, 2);
	CHECK(!trend_latest(&trend, TREND_WORSE));
	CHECK(trend_latest(&trend, TREND_BETTER));
	trend_release(&trend);
}

static void small_changes_are_no_regression(void)
{
	struct trend trend;

	fill_runs(20, 9);
	scale(TREND_CALLS, 10, 20, 1.01);
	trend_init(&trend, runs, 20);
	REQUIRE(trend.count == 1);
	CHECK_INT(trend.shifts[0].direction, TREND_OTHER);
	trend_release(&trend);
}

static void a_count_that_starts_from_nothing_is_worse(void)
{
	struct trend trend;

	fill_runs(20, 10);
	scale(TREND_CALLS, 0, 10, 0);
	trend_init(&trend, runs, 20);
	REQUIRE(trend.count == 1);
	CHECK(isinf(trend.shifts[0].ratio));
	CHECK_INT(trend.shifts[0].direction, TREND_WORSE);
	trend_release(&trend);
}

static void a_measure_that_a_run_lacks_is_left_out(void)
{
	struct trend trend;

	fill_runs(20, 11);
	scale(TREND_CALLS, 10, 20, 2);
	runs[3].values[TREND_CALLS] = NAN;
	trend_init(&trend, runs, 20);
	CHECK_INT(trend.count, 0);
	trend_release(&trend);
}

static void only_the_latest_runs_are_looked_at(void)
{
	struct trend trend;

	fill_runs(MOST, 12);
	scale(TREND_CALLS, 50, MOST, 2);
	scale(TREND_CALLS, 600, MOST, 2);
	trend_init(&trend, runs, MOST);
	CHECK_INT(trend.runs, TREND_RUNS_MAX);
	REQUIRE(trend.count == 1);
	CHECK_INT(trend.shifts[0].at, 600);
	trend_release(&trend);
}

static void no_runs_have_no_trend(void)
{
	struct trend trend;

	trend_init(&trend, runs, 0);
	CHECK_INT(trend.count, 0);
	trend_release(&trend);
}

TESTS(TEST(a_steady_program_has_no_shift), TEST(few_runs_are_not_judged),
      TEST(a_count_that_changes_is_exact), TEST(a_slower_program_is_found_and_estimated),
      TEST(less_throughput_is_worse), TEST(shifts_at_about_the_same_run_are_one_event),
      TEST(what_was_mended_is_no_regression), TEST(small_changes_are_no_regression),
      TEST(a_count_that_starts_from_nothing_is_worse), TEST(a_measure_that_a_run_lacks_is_left_out),
      TEST(only_the_latest_runs_are_looked_at), TEST(no_runs_have_no_trend))
