/* SPDX-License-Identifier: BSD-3-Clause */
#include "learn/math/random.h"

#include <math.h>
#include <stdbool.h>

#include "check.h"

/* splitmix64 of seed 1234567 (rosettacode.org) and xoshiro256** of 1, 2, 3, 4 (Rust's
 * rand_xoshiro). */
static void numbers_are_those_of_the_published_generators(void)
{
	static const uint64_t seeds[] = { 6457827717110365317u, 3203168211198807973u,
					  9817491932198370423u, 4593380528125082431u };
	static const uint64_t draws[] = { 11520u,
					  0u,
					  1509978240u,
					  1215971899390074240u,
					  1216172134540287360u,
					  607988272756665600u,
					  16172922978634559625u,
					  8476171486693032832u,
					  10595114339597558777u,
					  2904607092377533576u };
	struct random random;

	random_init(&random, 1234567);
	for (size_t i = 0; i < 4; i++)
		CHECK(random.state[i] == seeds[i]);
	random = (struct random){ .state = { 1, 2, 3, 4 }, .spare = NAN };
	for (size_t i = 0; i < sizeof(draws) / sizeof(draws[0]); i++)
		CHECK(random_u64(&random) == draws[i]);
}

static double correlation(const double *a, const double *b, size_t count)
{
	double ab = 0, aa = 0, bb = 0;

	for (size_t i = 0; i < count; i++) {
		ab += (a[i] - 0.5) * (b[i] - 0.5);
		aa += (a[i] - 0.5) * (a[i] - 0.5);
		bb += (b[i] - 0.5) * (b[i] - 0.5);
	}
	return ab / sqrt(aa * bb);
}

/* Adjacent streams and seeds, and a stream of one seed against that of another. */
static void streams_are_unrelated(void)
{
	enum { COUNT = 4096, STREAMS = 24 };
	static double draws[STREAMS][COUNT];

	for (size_t s = 0; s < STREAMS; s++) {
		struct random random;

		random_stream(&random, s % 4, s / 4);
		for (size_t i = 0; i < COUNT; i++)
			draws[s][i] = random_real(&random);
	}
	for (size_t s = 0; s < STREAMS; s++) {
		for (size_t t = 0; t < s; t++) {
			/* Within five deviations, also if shifted by one position. */
			CHECK(fabs(correlation(draws[s], draws[t], COUNT)) < 5 / sqrt(COUNT));
			CHECK(fabs(correlation(draws[s], draws[t] + 1, COUNT - 1)) <
			      5 / sqrt(COUNT));
		}
	}
}

static void same_seed_and_stream_give_the_same(void)
{
	struct random a, b, c;
	bool differ = false;

	random_stream(&a, 7, 3);
	random_stream(&b, 7, 3);
	random_stream(&c, 7, 4);
	for (int i = 0; i < 100; i++) {
		uint64_t draw = random_u64(&a);

		CHECK(draw == random_u64(&b));
		differ |= draw != random_u64(&c);
	}
	CHECK(differ);
}

/*
 * Two thirds of the range of 64 bits: a plain remainder would draw from its lower half twice as
 * often as from the upper.
 */
static void below_has_no_bias(void)
{
	const size_t most = SIZE_MAX / 3 * 2;
	size_t lower = 0, counts[6] = { 0 };
	struct random random;
	double squares = 0;

	random_init(&random, 11);
	for (int i = 0; i < 30000; i++) {
		size_t draw = random_below(&random, most);

		CHECK(draw < most);
		lower += draw < most / 2;
	}
	CHECK(fabs((double)lower - 15000) < 5 * sqrt(30000 * 0.25));
	for (int i = 0; i < 60000; i++)
		counts[random_below(&random, 6)]++;
	for (int i = 0; i < 6; i++)
		squares += pow((double)counts[i] - 10000, 2) / 10000;
	/* For chi-squared with 5 degrees of freedom, 25.7 has a probability of 1e-4. */
	CHECK(squares < 25.7);
	CHECK_INT(random_below(&random, 1), 0);
}

static void reals_fill_the_unit_interval_evenly(void)
{
	size_t counts[10] = { 0 };
	struct random random;

	random_init(&random, 5);
	for (int i = 0; i < 100000; i++) {
		double draw = random_real(&random);

		CHECK(draw >= 0);
		CHECK(draw < 1);
		counts[(size_t)(draw * 10)]++;
	}
	for (int i = 0; i < 10; i++)
		CHECK(fabs((double)counts[i] - 10000) < 5 * sqrt(9000));
}

static void normal_draws_have_the_moments_of_a_normal(void)
{
	enum { COUNT = 200000 };
	double sums[5] = { 0 };
	struct random random;

	random_init(&random, 6);
	for (int i = 0; i < COUNT; i++) {
		double draw = random_normal(&random), power = 1;

		for (int k = 0; k < 5; k++, power *= draw)
			sums[k] += power / COUNT;
	}
	CHECK(fabs(sums[1]) < 5 / sqrt(COUNT));
	CHECK(fabs(sums[2] - 1) < 5 * sqrt(2.0 / COUNT));
	CHECK(fabs(sums[3]) < 5 * sqrt(15.0 / COUNT));
	CHECK(fabs(sums[4] - 3) < 5 * sqrt(96.0 / COUNT));
}

/* The 24 permutations of four items. */
static void shuffles_are_even(void)
{
	size_t counts[256] = { 0 }, orders = 0;
	struct random random;

	random_init(&random, 8);
	for (int i = 0; i < 24000; i++) {
		size_t items[4] = { 0, 1, 2, 3 };

		random_shuffle(&random, items, 4);
		counts[items[0] | items[1] << 2 | items[2] << 4 | items[3] << 6]++;
	}
	for (int i = 0; i < 256; i++) {
		orders += counts[i] > 0;
		CHECK(!counts[i] || fabs((double)counts[i] - 1000) < 5 * sqrt(1000));
	}
	CHECK_INT(orders, 24);
	random_shuffle(&random, NULL, 0);
}

TESTS(TEST(numbers_are_those_of_the_published_generators), TEST(streams_are_unrelated),
      TEST(same_seed_and_stream_give_the_same), TEST(below_has_no_bias),
      TEST(reals_fill_the_unit_interval_evenly), TEST(normal_draws_have_the_moments_of_a_normal),
      TEST(shuffles_are_even))
