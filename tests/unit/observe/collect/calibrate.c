/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/collect/calibrate.h"

#include "base/clock.h"
#include "check.h"

static void long_interval_gives_the_measured_rate(void)
{
	struct moment begin = { .ticks = 1000, .monotonic_ns = 5000, .error_ns = 30 };
	struct moment now = { .ticks = 1000 + 2500000000,
			      .monotonic_ns = 5000 + NS_PER_S,
			      .error_ns = 12 };
	struct run_clock clock = calibrate_run(CLOCK_SOURCE_COUNTER, &begin, &now);

	CHECK_INT(clock.tick0, 1000);
	CHECK_INT(clock.num, NS_PER_S);
	CHECK_INT(clock.den, 2500000000);
	CHECK_INT(clock.error_ns, 42);
}

/* The quotient of the two short intervals would be wrong by a factor of 10. */
static void short_interval_gives_a_rate_near_the_real_one(void)
{
	struct moment one = calibrate_moment(CLOCK_SOURCE_COUNTER), other, begin, now;
	struct run_clock clock;
	double real, said;

	clock_sleep_ns(20 * NS_PER_MS);
	other = calibrate_moment(CLOCK_SOURCE_COUNTER);
	real = (double)(other.monotonic_ns - one.monotonic_ns) / (double)(other.ticks - one.ticks);
	begin = other;
	now = (struct moment){ other.ticks + (uint64_t)(1000 / real), other.monotonic_ns + 10000,
			       0 };
	clock = calibrate_run(CLOCK_SOURCE_COUNTER, &begin, &now);
	said = (double)clock.num / (double)clock.den;
	CHECK(said > 0.9 * real && said < 1.1 * real);
}

static void other_clocks_tick_in_nanoseconds(void)
{
	static const enum capture_clock clocks[] = { CLOCK_SOURCE_MONOTONIC, CLOCK_SOURCE_KERNEL };

	for (size_t i = 0; i < 2; i++) {
		struct moment begin = calibrate_moment(clocks[i]), now = begin;
		struct run_clock clock;

		CHECK_INT(begin.ticks, begin.monotonic_ns);
		now.monotonic_ns += NS_PER_S;
		now.ticks += 3 * NS_PER_S;
		clock = calibrate_run(clocks[i], &begin, &now);
		CHECK_INT(clock.num, 1);
		CHECK_INT(clock.den, 1);
	}
}

static void time_of_day_of_an_earlier_moment_is_earlier(void)
{
	const int64_t hour_ns = INT64_C(3600) * NS_PER_S;
	int64_t before_ns = clock_realtime_ns(), now_ns = (int64_t)clock_monotonic_ns();
	int64_t after_ns = clock_realtime_ns();
	int64_t found_ns = calibrate_time_of_day(now_ns - hour_ns) + hour_ns;

	/* The time of day may be adjusted meanwhile. */
	CHECK(found_ns > before_ns - (int64_t)NS_PER_S && found_ns < after_ns + (int64_t)NS_PER_S);
}

static void scaled_clock_has_the_same_rate(void)
{
	struct run_clock clock = { .num = UINT64_C(3600000000123),
				   .den = UINT64_C(10800000000456) };
	uint64_t den = 2999999999;
	double error = (double)calibrate_scale(&clock, den) / (double)den -
		       (double)clock.num / (double)clock.den;

	CHECK(error < 1e-9 && error > -1e-9);
	CHECK_INT(calibrate_scale(&(struct run_clock){ .num = 1, .den = 1 }, 1), 1);
}

TESTS(TEST(long_interval_gives_the_measured_rate),
      TEST(short_interval_gives_a_rate_near_the_real_one), TEST(other_clocks_tick_in_nanoseconds),
      TEST(time_of_day_of_an_earlier_moment_is_earlier), TEST(scaled_clock_has_the_same_rate))
