/* SPDX-License-Identifier: BSD-3-Clause */
#include "learn/math/level_shift.h"

#include <math.h>

#include "check.h"
#include "learn/math/random.h"

#define LEVEL 0.05

enum { MOST = 200 };

static size_t positions[MOST];

/* Log-normal noise around 1, as run times have it. */
static void fill_noise(double *values, size_t n, uint64_t seed, double deviation)
{
	struct random random;

	random_init(&random, seed);
	for (size_t i = 0; i < n; i++)
		values[i] = exp(deviation * random_normal(&random));
}

static void scale(double *values, size_t from, size_t to, double factor)
{
	for (size_t i = from; i < to; i++)
		values[i] *= factor;
}

static void noise_has_no_shift_more_often_than_stated(void)
{
	static const size_t lengths[] = { 8, 12, 30, 100 };
	enum { TRIALS = 400 };

	for (size_t l = 0; l < sizeof(lengths) / sizeof(lengths[0]); l++) {
		double values[MOST];
		int found = 0;

		for (uint64_t seed = 0; seed < TRIALS; seed++) {
			fill_noise(values, lengths[l], 1000 * l + seed, 0.3);
			found += level_shift_find(values, lengths[l], LEVEL, positions) > 0;
		}
		/* Four standard deviations above the expected number. */
		CHECK(found <= LEVEL * TRIALS + 4 * sqrt(LEVEL * (1 - LEVEL) * TRIALS));
	}
}

static void a_shift_is_found_where_it_is(void)
{
	double values[40];

	for (uint64_t seed = 0; seed < 20; seed++) {
		fill_noise(values, 40, seed, 0.05);
		scale(values, 25, 40, 1.5);
		CHECK_INT(level_shift_find(values, 40, LEVEL / 6, positions), 1);
		CHECK_INT(positions[0], 25);
	}
}

static bool has_position(size_t count, size_t position)
{
	for (size_t i = 0; i < count; i++)
		if (positions[i] == position)
			return true;
	return false;
}

/* By chance there may be another one, at the level of each part. */
static void several_shifts_are_found_in_order(void)
{
	enum { TRIALS = 20 };
	double values[120];
	size_t more = 0;

	for (uint64_t seed = 0; seed < TRIALS; seed++) {
		size_t count;

		fill_noise(values, 120, seed, 0.02);
		scale(values, 30, 60, 2);
		scale(values, 60, 90, 0.5);
		scale(values, 90, 120, 3);
		count = level_shift_find(values, 120, LEVEL / 6, positions);
		CHECK(has_position(count, 30) && has_position(count, 60) &&
		      has_position(count, 90));
		for (size_t i = 1; i < count; i++)
			CHECK(positions[i - 1] < positions[i]);
		more += count - 3;
	}
	CHECK(more <= 3);
}

/* Ranks alone would put it nearer to the middle. */
static void a_shift_near_the_end_is_found_where_it_is(void)
{
	double values[43];

	for (uint64_t seed = 0; seed < 20; seed++) {
		fill_noise(values, 43, seed, 0.02);
		scale(values, 38, 43, 6);
		values[10] = 1000;
		CHECK_INT(level_shift_find(values, 43, LEVEL / 6, positions), 1);
		CHECK_INT(positions[0], 38);
	}
}

static void an_outlier_is_no_shift(void)
{
	double values[30];

	fill_noise(values, 30, 3, 0.05);
	values[14] = 50;
	values[22] = 80;
	CHECK_INT(level_shift_find(values, 30, LEVEL / 6, positions), 0);
}

static void constant_values_have_no_shift(void)
{
	double values[50];

	for (size_t i = 0; i < 50; i++)
		values[i] = 7;
	CHECK_INT(level_shift_find(values, 50, LEVEL, positions), 0);
}

static void ties_do_not_hide_a_shift(void)
{
	double values[20];

	for (size_t i = 0; i < 20; i++)
		values[i] = i < 9 ? 3 : 4;
	CHECK_INT(level_shift_find(values, 20, LEVEL / 6, positions), 1);
	CHECK_INT(positions[0], 9);
}

static void few_values_show_nothing(void)
{
	static const double values[] = { 1, 1.1, 1.2, 9, 9.1, 9.2, 9.3 };

	for (size_t n = 0; n <= 7; n++)
		CHECK_INT(level_shift_find(values, n, LEVEL, positions), 0);
}

static void four_on_each_side_are_enough_for_five_percent(void)
{
	static const double values[] = { 1, 1.1, 1.2, 1.3, 9, 9.1, 9.2, 9.3 };

	CHECK_INT(level_shift_find(values, 8, LEVEL, positions), 1);
	CHECK_INT(positions[0], 4);
	CHECK_INT(level_shift_find(values, 8, LEVEL / 6, positions), 0);
}

TESTS(TEST(noise_has_no_shift_more_often_than_stated), TEST(a_shift_is_found_where_it_is),
      TEST(several_shifts_are_found_in_order), TEST(a_shift_near_the_end_is_found_where_it_is),
      TEST(an_outlier_is_no_shift), TEST(constant_values_have_no_shift),
      TEST(ties_do_not_hide_a_shift), TEST(few_values_show_nothing),
      TEST(four_on_each_side_are_enough_for_five_percent))
