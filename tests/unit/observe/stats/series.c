/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: SIOX-45, SIOX-46, SIOX-AC-5.
 */
#include "observe/stats/series.h"

#include <math.h>

#include "check.h"

static struct series filled(uint64_t polls, enum reduction reduction, double (*value)(uint64_t))
{
	struct series series = { 0 };

	for (uint64_t i = 0; i < polls; i++)
		series_add(&series, reduction, value(i));
	return series;
}

static double one(uint64_t poll)
{
	(void)poll;
	return 1;
}

static double number(uint64_t poll)
{
	return (double)poll;
}

static double every_third(uint64_t poll)
{
	return poll % 3 ? (double)NAN : (double)poll;
}

static double nothing(uint64_t poll)
{
	(void)poll;
	return NAN;
}

/* The levels after certain numbers of polls. */
static void levels_fill_after_their_number_of_polls(void)
{
	static const struct {
		uint64_t polls;
		unsigned counts[SERIES_LEVELS];
	} points[] = {
		{ 0, { 0, 0, 0, 0, 0 } },	    { 1, { 1, 0, 0, 0, 0 } },
		{ 9, { 9, 0, 0, 0, 0 } },	    { 10, { 10, 1, 0, 0, 0 } },
		{ 99, { 10, 9, 0, 0, 0 } },	    { 100, { 10, 10, 1, 0, 0 } },
		{ 599, { 10, 10, 5, 0, 0 } },	    { 600, { 10, 10, 6, 1, 0 } },
		{ 5999, { 10, 10, 10, 9, 0 } },	    { 6000, { 10, 10, 10, 10, 1 } },
		{ 59999, { 10, 10, 10, 10, 9 } },   { 60000, { 10, 10, 10, 10, 10 } },
		{ 600000, { 10, 10, 10, 10, 10 } },
	};

	for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++) {
		struct series series = filled(points[i].polls, REDUCE_SUM, one);

		for (unsigned level = 0; level < SERIES_LEVELS; level++)
			CHECK_INT(series_count(&series, level), points[i].counts[level]);
	}
}

static void a_sum_of_ones_is_the_number_of_polls(void)
{
	struct series series = filled(60000, REDUCE_SUM, one);

	for (unsigned level = 0; level < SERIES_LEVELS; level++)
		for (unsigned back = 0; back < SERIES_SAMPLES; back++)
			CHECK_INT(series_get(&series, level, back), series_polls[level]);
}

/* Sample `back` of a level covers one range of polls; the newest covers the last ones. */
static void every_reduction_covers_its_polls(void)
{
	for (uint64_t polls = 59990; polls <= 60011; polls++) {
		struct series mean = filled(polls, REDUCE_MEAN, number);
		struct series sum = filled(polls, REDUCE_SUM, number);
		struct series min = filled(polls, REDUCE_MIN, number);
		struct series max = filled(polls, REDUCE_MAX, number);

		for (unsigned level = 0; level < SERIES_LEVELS; level++)
			for (unsigned back = 0; back < series_count(&sum, level); back++) {
				uint64_t n = series_polls[level];
				double first = (double)((polls / n - 1 - back) * n);
				double last = first + (double)n - 1;

				CHECK(fabs(series_get(&mean, level, back) - (first + last) / 2) <
				      1e-6);
				CHECK(series_get(&sum, level, back) ==
				      (first + last) / 2 * (double)n);
				CHECK(series_get(&min, level, back) == first);
				CHECK(series_get(&max, level, back) == last);
			}
	}
}

static void polls_that_failed_are_left_out(void)
{
	struct series mean = filled(60, REDUCE_MEAN, every_third);
	struct series sum = filled(60, REDUCE_SUM, every_third);

	/* Polls 50 to 59 include 51, 54 and 57. */
	CHECK(series_get(&mean, 1, 0) == 54);
	CHECK(series_get(&sum, 1, 0) == 162);
	CHECK(isnan(series_get(&mean, 0, 0)));
	CHECK(series_get(&mean, 0, 2) == 57);
}

static void a_sample_without_values_is_nan(void)
{
	struct series series = filled(6000, REDUCE_SUM, nothing);

	for (unsigned level = 0; level < SERIES_LEVELS; level++)
		CHECK(isnan(series_get(&series, level, 0)));
	CHECK(isnan(series_reduce(REDUCE_MIN, NULL, 0)));
}

TESTS(TEST(levels_fill_after_their_number_of_polls), TEST(a_sum_of_ones_is_the_number_of_polls),
      TEST(every_reduction_covers_its_polls), TEST(polls_that_failed_are_left_out),
      TEST(a_sample_without_values_is_nan))
