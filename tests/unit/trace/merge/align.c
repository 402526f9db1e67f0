/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/merge/align.h"

#include "check.h"

#define SECOND INT64_C(1000000000)

static uint64_t seed = 42;

/* A random number from 0 to n - 1. */
static int64_t draw(int64_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (int64_t)((seed >> 33) % (uint64_t)n);
}

/*
 * A call whose last rank, on a random host, enters at true time t. The ranks of the other host
 * enter up to `early` before. All ranks leave within `late` after t. Clock b is behind clock a by
 * offset.
 */
static struct align_event event_make(int64_t t, int64_t early, int64_t late, int64_t offset)
{
	bool a_is_last = draw(2);

	return (struct align_event){
		.a = { t - (a_is_last ? 0 : draw(early)), t + draw(late) },
		.b = { t - (a_is_last ? draw(early) : 0) - offset, t + draw(late) - offset },
	};
}

static void no_event_gives_no_offset(void)
{
	struct align_offset out = { 1, 2 };

	CHECK(!align_clocks(NULL, 0, &out));
	CHECK_INT(out.offset_ns, 1);
	CHECK_INT(out.error_ns, 2);
}

static void one_event_bounds_from_both_sides(void)
{
	struct align_event e = { { 100, 140 }, { 10, 30 } };
	struct align_offset out;

	CHECK(align_clocks(&e, 1, &out));
	/* 100 - 30 = 70 <= offset <= 140 - 10 = 130 */
	CHECK_INT(out.offset_ns, 100);
	CHECK_INT(out.error_ns, 30);
}

static void known_skews_are_found_within_the_error(void)
{
	static const int64_t offsets[] = { 0, 5, -5, SECOND, -1000 * SECOND, 3600 * SECOND + 7 };

	for (size_t o = 0; o < sizeof(offsets) / sizeof(*offsets); o++) {
		struct align_event events[50];
		struct align_offset out;

		for (int i = 0; i < 50; i++)
			events[i] = event_make(i * SECOND, 50000000, 200000, offsets[o]);
		CHECK(align_clocks(events, 50, &out));
		CHECK(llabs(out.offset_ns - offsets[o]) <= out.error_ns);
		/* With 50 events the jitter of up to 200 us nearly cancels out. */
		CHECK(out.error_ns < 200000);
	}
}

static void more_events_never_widen_the_error(void)
{
	struct align_event events[200];
	int64_t before = INT64_MAX;

	for (int i = 0; i < 200; i++)
		events[i] = event_make(i * SECOND, 30000000, 1000000, 123456789);
	for (size_t n = 1; n <= 200; n++) {
		struct align_offset out;

		REQUIRE(align_clocks(events, n, &out));
		CHECK(out.error_ns <= before);
		CHECK(llabs(out.offset_ns - 123456789) <= out.error_ns);
		before = out.error_ns;
	}
}

static void a_drifting_clock_has_an_error_that_covers_the_drift(void)
{
	struct align_event events[2] = { event_make(0, 1000, 1000, 0),
					 event_make(1000 * SECOND, 1000, 1000, 50000000) };
	struct align_offset out;

	CHECK(align_clocks(events, 2, &out));
	CHECK(llabs(out.offset_ns - 25000000) <= 2000);
	/* The error covers the offsets at the first and at the last event. */
	CHECK(llabs(out.offset_ns - 0) <= out.error_ns);
	CHECK(llabs(out.offset_ns - 50000000) <= out.error_ns);
	CHECK(out.error_ns <= 25000000 + 4000);
}

static void times_at_the_ends_of_the_range_do_not_overflow(void)
{
	struct align_event events[2] = {
		{ { INT64_MIN, INT64_MAX }, { INT64_MIN, INT64_MAX } },
		{ { INT64_MAX, INT64_MAX }, { INT64_MIN, INT64_MIN } },
	};
	struct align_offset out;

	CHECK(align_clocks(events, 2, &out));
	CHECK(out.error_ns >= 0);
	CHECK(align_clocks(events, 1, &out));
	CHECK_INT(out.offset_ns, 0);
}

TESTS(TEST(no_event_gives_no_offset), TEST(one_event_bounds_from_both_sides),
      TEST(known_skews_are_found_within_the_error), TEST(more_events_never_widen_the_error),
      TEST(a_drifting_clock_has_an_error_that_covers_the_drift),
      TEST(times_at_the_ends_of_the_range_do_not_overflow))
