/* SPDX-License-Identifier: BSD-3-Clause */
#include "learn/math/ratio.h"

#include "check.h"
#include "learn/math/false_discovery.h"
#include "learn/math/random.h"

/* Published tables of the test, two-sided 5 %: the largest U that is significant. */
static void distribution_matches_published_tables(void)
{
	static const struct {
		size_t n, m;
		int u;
	} rows[] = { { 3, 5, 0 },    { 4, 4, 0 },   { 4, 6, 2 },    { 5, 5, 2 },
		     { 5, 8, 6 },    { 6, 6, 5 },   { 7, 7, 8 },    { 8, 8, 13 },
		     { 10, 10, 23 }, { 9, 15, 34 }, { 20, 20, 127 } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ratio_test test, turned;

		ratio_test_init(&test, rows[i].n, rows[i].m);
		ratio_test_init(&turned, rows[i].m, rows[i].n);
		CHECK(2 * test.at_most[rows[i].u] <= RATIO_LEVEL);
		CHECK(2 * test.at_most[rows[i].u + 1] > RATIO_LEVEL);
		CHECK_NEAR(test.at_most[rows[i].u], turned.at_most[rows[i].u], 1e-12);
		ratio_test_release(&test);
		ratio_test_release(&turned);
	}
}

static void normal_approximation_continues_the_exact_distribution(void)
{
	struct ratio_test test;

	/* Published critical value of 50 and 51 runs would need the approximation; 50 and 50 not.
	 */
	ratio_test_init(&test, 50, 51);
	CHECK_NEAR(2 * test.at_most[985], 0.05, 0.001);
	ratio_test_release(&test);
}

static void too_few_costs_have_no_interval(void)
{
	static const double before[] = { 10, 11, 12, 13 }, after[] = { 1, 1, 1, 1 };
	struct ratio_interval interval;

	CHECK(!ratio_interval(before, 3, after, 3, &interval));
	CHECK(!ratio_interval(before, 0, after, 3, &interval));
	CHECK(ratio_interval(before, 4, after, 4, &interval));
	CHECK(interval.low == 10 && interval.middle == 11.5 && interval.high == 13);
}

/* One run can be compared with many earlier ones. */
static void one_run_can_be_compared_with_forty(void)
{
	double before[40], after[] = { 1 };
	struct ratio_interval interval;

	for (int i = 0; i < 40; i++)
		before[i] = 2 + i / 100.0;
	CHECK(!ratio_interval(before, 38, after, 1, &interval));
	CHECK(ratio_interval(before, 40, after, 1, &interval) && interval.low == 2);
}

static void equal_costs_are_no_difference(void)
{
	static const double costs[] = { 5, 5, 5, 5, 5 }, other[] = { 5, 5, 5, 5, 6 };
	struct ratio_interval interval;
	struct ratio_test test;

	ratio_test_init(&test, 5, 5);
	CHECK(ratio_test_chance(&test, costs, costs) == 1);
	CHECK(ratio_test_chance(&test, costs, other) == 1);
	CHECK(ratio_test_interval(&test, costs, costs, RATIO_LEVEL, &interval));
	CHECK(interval.low == 1 && interval.high == 1);
	ratio_test_release(&test);
}

/* Costs as on a real machine: noise that is skewed, and some outliers. */
static double draw_cost(struct random *random, double typical)
{
	double noise = exp(0.1 * random_normal(random));

	return typical * noise * (random_real(random) < 0.1 ? 2 : 1);
}

static void draw_costs(struct random *random, double typical, double *costs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		costs[i] = draw_cost(random, typical);
}

#define ROUNDS 2000

static void interval_covers_the_true_ratio(void)
{
	static const size_t sizes[] = { 4, 5, 10, 20 };

	for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
		size_t n = sizes[s], covered = 0;
		double before[20], after[20];
		struct random random;

		random_stream(&random, 1, s);
		for (int i = 0; i < ROUNDS; i++) {
			struct ratio_interval interval;

			draw_costs(&random, 1.3, before, n);
			draw_costs(&random, 1.0, after, n);
			REQUIRE(ratio_interval(before, n, after, n, &interval));
			covered += interval.low <= 1.3 && 1.3 <= interval.high;
		}
		/* Three standard deviations of 2000 draws below 95 %. */
		CHECK(covered >= 0.935 * ROUNDS);
	}
}

static void interval_excludes_one_exactly_if_the_test_rejects(void)
{
	struct ratio_test test;
	struct random random;

	random_init(&random, 2);
	ratio_test_init(&test, 6, 7);
	for (int i = 0; i < ROUNDS; i++) {
		double before[6], after[7];
		struct ratio_interval interval;
		bool excludes, rejects;

		draw_costs(&random, 1.2, before, 6);
		draw_costs(&random, 1.0, after, 7);
		before[0] = after[0]; /* a tie */
		ratio_test_interval(&test, before, after, RATIO_LEVEL, &interval);
		excludes = interval.low > 1 || interval.high < 1;
		rejects = ratio_test_chance(&test, before, after) <= RATIO_LEVEL;
		CHECK(excludes == rejects);
	}
	ratio_test_release(&test);
}

/* Twenty rows without a difference: a claim of any of them is false. */
static void equal_groups_are_rarely_called_different(void)
{
	enum { ROWS = 20, RUNS = 10 };
	struct ratio_test test;
	struct random random;
	size_t claims = 0;

	random_init(&random, 3);
	ratio_test_init(&test, RUNS, RUNS);
	for (int i = 0; i < ROUNDS; i++) {
		double chances[ROWS];

		for (int row = 0; row < ROWS; row++) {
			double before[RUNS], after[RUNS];

			draw_costs(&random, 1, before, RUNS);
			draw_costs(&random, 1, after, RUNS);
			chances[row] = ratio_test_chance(&test, before, after);
		}
		claims += false_discovery_limit(chances, ROWS, RATIO_LEVEL) > 0;
	}
	CHECK(claims <= 0.065 * ROUNDS);
	ratio_test_release(&test);
}

TESTS(TEST(distribution_matches_published_tables),
      TEST(normal_approximation_continues_the_exact_distribution),
      TEST(too_few_costs_have_no_interval), TEST(one_run_can_be_compared_with_forty),
      TEST(equal_costs_are_no_difference), TEST(interval_covers_the_true_ratio),
      TEST(interval_excludes_one_exactly_if_the_test_rejects),
      TEST(equal_groups_are_rarely_called_different))
