/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/ticks.h"

#include "trace_sample.h"

/* By plain division of magnitudes; unsigned, as clang's sanitizer has no signed 128-bit product. */
static int64_t floor_ns(const struct run_clock *clock, int64_t at)
{
	int64_t since = (int64_t)((uint64_t)at - clock->tick0);
	unsigned __int128 product, ns;

	if (since >= 0) {
		product = (unsigned __int128)since * clock->num;
		ns = product / clock->den;
		return ns > INT64_MAX ? INT64_MAX : (int64_t)ns;
	}
	product = (unsigned __int128)(0 - (uint64_t)since) * clock->num;
	ns = product / clock->den + (product % clock->den != 0);
	return ns > INT64_MAX ? INT64_MIN : -(int64_t)ns;
}

static void conversion_is_the_exact_floor(void)
{
	size_t wrong = 0;

	for (int i = 0; i < 200000; i++) {
		struct run_clock clock = { .tick0 = sample_random() >> 2,
					   .num = (sample_random() >> sample_random() % 63) | 1,
					   .den = (sample_random() >> sample_random() % 63) | 1 };
		int64_t at = (int64_t)(clock.tick0 + (sample_random() >> sample_random() % 64));
		struct ticks ticks;

		clock.num >>= 1; /* keeps the reference within 128 bits */
		clock.num += !clock.num;
		CHECK(ticks_init(&ticks, &clock));
		wrong += ticks_ns(&ticks, at) != floor_ns(&clock, at);
	}
	CHECK_INT(wrong, 0);
}

static void later_ticks_are_never_earlier_nanoseconds(void)
{
	struct run_clock clock = { .tick0 = 1u << 30, .num = 1000000007, .den = 3123456789 };
	struct ticks ticks;
	int64_t before = INT64_MIN, fell = 0;

	CHECK(ticks_init(&ticks, &clock));
	for (int64_t at = (1 << 30) - 5000; at < (1 << 30) + 100000; at++) {
		int64_t ns = ticks_ns(&ticks, at);

		fell += ns < before;
		before = ns;
	}
	CHECK_INT(fell, 0);
	CHECK_INT(ticks_ns(&ticks, 1 << 30), 0);
}

static void a_span_ends_where_its_end_is(void)
{
	struct run_clock clock = { .tick0 = 100, .num = 1000, .den = 122 };
	struct ticks ticks;

	CHECK(ticks_init(&ticks, &clock));
	for (int64_t start = 50; start < 500; start++)
		for (int64_t duration = 0; duration < 50; duration++) {
			int64_t ns = ticks_ns(&ticks, start);

			CHECK(ns + ticks_span_ns(&ticks, start, ns, duration) ==
			      ticks_ns(&ticks, start + duration));
		}
	CHECK(ticks_span_ns(&ticks, INT64_MAX, 0, INT64_MAX) > 0);
}

static void nanoseconds_stay_as_they_are(void)
{
	struct run_clock clock = { .num = 1, .den = 1 }, none = { .tick0 = 5 };
	struct ticks ticks;

	CHECK(ticks_init(&ticks, &clock));
	CHECK(ticks_ns(&ticks, INT64_MIN) == INT64_MIN);
	CHECK(ticks_ns(&ticks, INT64_MAX) == INT64_MAX);
	CHECK(ticks_span_ns(&ticks, 5, 5, INT64_MAX) == INT64_MAX);
	CHECK(!ticks_init(&ticks, &none));
	CHECK(ticks.identity);
}

TESTS(TEST(conversion_is_the_exact_floor), TEST(later_ticks_are_never_earlier_nanoseconds),
      TEST(a_span_ends_where_its_end_is), TEST(nanoseconds_stay_as_they_are))
