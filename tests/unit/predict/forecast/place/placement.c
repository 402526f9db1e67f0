/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: WAN-35, WAN-36, WAN-AC-4.
 */
#include "predict/forecast/place/placement.h"

#include <errno.h>
#include <math.h>

#include "base/err.h"
#include "check.h"
#include "learn/math/random.h"

#define NEAR(actual, expected, off) CHECK(fabs((actual) - (expected)) <= (off))
enum { TITAN = 288 };

static struct err err;

static void fill(struct placement_target *targets, size_t idle, size_t busy, double idle_s,
		 double busy_s)
{
	for (size_t i = 0; i < idle + busy; i++)
		targets[i] = (struct placement_target){
			i < idle ? 0.1 : 0.9, idle_s, busy_s, 0.1, 0.5, true
		};
}

static const struct {
	size_t idle, busy;
	double idle_s, busy_s, alpha, idle_gb, busy_gb, seconds;
} golden[] = {
	{ 144, 144, 1.85, 2.7, 0.593407, 1.186813, 0.813187, 2.195604 },
	{ 200, 88, 1.85, 2.7, 0.768355, 1.106431, 0.758110, 2.046898 },
	{ 288, 0, 1.85, 2.7, 1, 1, NAN, 1.85 },
	{ 230, 58, 3.2, 4.0, 0.832127, 1.041968, 0.833575, 3.334298 },
};

static void golden_values_match_to_a_millionth(void)
{
	struct placement_target targets[TITAN];
	double shares[TITAN];

	for (size_t g = 0; g < sizeof(golden) / sizeof(golden[0]); g++) {
		size_t idle = golden[g].idle, busy = golden[g].busy;
		double idle_gb, busy_gb;

		fill(targets, idle, busy, golden[g].idle_s, golden[g].busy_s);
		NEAR(placement_alpha(idle, busy, golden[g].idle_s, golden[g].busy_s),
		     golden[g].alpha, 1e-6);
		REQUIRE(placement_shares(PLACEMENT_CLASSES, targets, TITAN, NULL, shares, &err) ==
			0);
		idle_gb = shares[0] * TITAN;
		NEAR(idle_gb, golden[g].idle_gb, 1e-6);
		NEAR(idle_gb * golden[g].idle_s, golden[g].seconds, 1e-6);
		if (!busy)
			continue;
		busy_gb = shares[TITAN - 1] * TITAN;
		NEAR(busy_gb, golden[g].busy_gb, 1e-6);
		/* Both classes finish at the same time. */
		NEAR(busy_gb * golden[g].busy_s, idle_gb * golden[g].idle_s, 1e-12);
	}
}

static void one_class_alone_gets_everything_in_equal_shares(void)
{
	struct placement_target targets[5];
	double shares[5];

	CHECK(placement_alpha(5, 0, 1.85, 2.7) == 1);
	CHECK(placement_alpha(0, 5, 1.85, 2.7) == 0);
	fill(targets, 0, 5, 1.85, 2.7);
	REQUIRE(placement_shares(PLACEMENT_CLASSES, targets, 5, NULL, shares, &err) == 0);
	for (int i = 0; i < 5; i++)
		NEAR(shares[i], 0.2, 1e-15);
}

static void threshold_moves_targets_between_classes(void)
{
	struct placement_target targets[2];
	struct placement_limits limits = { .busy_from = 0.05 };
	double shares[2];

	fill(targets, 1, 1, 1.85, 2.7);
	targets[0].busy = 0.06;
	CHECK(!placement_is_busy(&targets[0], NULL));
	CHECK(placement_is_busy(&targets[0], &limits));
	REQUIRE(placement_shares(PLACEMENT_CLASSES, targets, 2, &limits, shares, &err) == 0);
	NEAR(shares[0], 0.5, 1e-15);
}

static void expected_shares_finish_together_if_times_are_as_expected(void)
{
	struct placement_target targets[3] = { { 0, 2, 4, 0, 0, true },
					       { 0.5, 2, 4, 0, 0, true },
					       { 1, 2, 4, 0, 0, true } };
	double shares[3], sum = 0;

	REQUIRE(placement_shares(PLACEMENT_EXPECTED, targets, 3, NULL, shares, &err) == 0);
	for (int i = 0; i < 3; i++) {
		NEAR(shares[i] * placement_expected_s(&targets[i]),
		     shares[0] * placement_expected_s(&targets[0]), 1e-15);
		sum += shares[i];
	}
	NEAR(sum, 1, 1e-15);
	NEAR(shares[0] / shares[2], 2, 1e-12);
}

static void targets_that_are_not_allowed_get_nothing(void)
{
	struct placement_target targets[4];
	double shares[4];

	for (int rule = 0; rule < PLACEMENT_RULES; rule++) {
		fill(targets, 2, 2, 1.85, 2.7);
		targets[1].is_allowed = false;
		REQUIRE(placement_shares((enum placement_rule)rule, targets, 4, NULL, shares,
					 &err) == 0);
		CHECK(shares[1] == 0);
		NEAR(shares[0] + shares[2] + shares[3], 1, 1e-12);
		CHECK(shares[2] == shares[3]);
	}
	for (int i = 0; i < 4; i++)
		targets[i].is_allowed = false;
	CHECK_INT(placement_shares(PLACEMENT_EQUAL, targets, 4, NULL, shares, &err), -EINVAL);
	CHECK(strstr(err.text, "no target"));
}

static void unknown_targets_count_as_the_mean_of_the_others(void)
{
	struct placement_target targets[3];
	double shares[3];

	for (int rule = 0; rule < PLACEMENT_RULES; rule++) {
		fill(targets, 1, 2, 1.85, 2.7);
		targets[1].busy = targets[0].busy;
		targets[2].idle_s = NAN;
		REQUIRE(placement_shares((enum placement_rule)rule, targets, 3, NULL, shares,
					 &err) == 0);
		NEAR(shares[2], 1.0 / 3, 1e-12);
		targets[0].busy = targets[1].busy_s = -1;
		REQUIRE(placement_shares((enum placement_rule)rule, targets, 3, NULL, shares,
					 &err) == 0);
		NEAR(shares[0], 1.0 / 3, 1e-12);
	}
}

static void limits_hold_and_the_sum_stays_one(void)
{
	struct placement_target targets[TITAN];
	struct placement_limits limits = { .most = 1.2, .least = 0.7 };
	double shares[TITAN];

	fill(targets, TITAN, 0, 1, 9);
	for (size_t i = 0; i < TITAN; i++)
		targets[i].busy = (double)i / TITAN;
	for (int rule = PLACEMENT_CLASSES; rule < PLACEMENT_RULES; rule++) {
		double sum = 0, least = 1, most = 0;

		REQUIRE(placement_shares((enum placement_rule)rule, targets, TITAN, &limits, shares,
					 &err) == 0);
		for (size_t i = 0; i < TITAN; i++) {
			sum += shares[i];
			least = fmin(least, shares[i] * TITAN);
			most = fmax(most, shares[i] * TITAN);
			CHECK(i == 0 || shares[i] <= shares[i - 1] * (1 + 1e-12));
		}
		NEAR(sum, 1, 1e-12);
		CHECK(least >= 0.7 - 1e-12 && most <= 1.2 + 1e-12);
	}
}

static void excess_over_a_limit_is_divided_in_proportion(void)
{
	static const double weights[] = { 8, 2, 1, 1, 0 };
	struct placement_limits limits = { .most = 2 };
	double shares[5];

	/* Four targets have a share, at most 0.5 each. The others keep 2 : 1 : 1. */
	placement_fill(weights, 5, &limits, shares);
	NEAR(shares[0], 0.5, 1e-12);
	NEAR(shares[1], 0.25, 1e-12);
	NEAR(shares[2], 0.125, 1e-12);
	CHECK(shares[4] == 0);
	limits = (struct placement_limits){ .least = 0.5 };
	placement_fill(weights, 5, &limits, shares);
	NEAR(shares[2], 0.125, 1e-12);
	NEAR(shares[0], 0.6, 1e-12);
	NEAR(shares[1], 0.15, 1e-12);
}

static void impossible_limits_are_refused(void)
{
	struct placement_target targets[2];
	double shares[2];

	fill(targets, 1, 1, 1, 2);
	CHECK_INT(placement_shares(PLACEMENT_EXPECTED, targets, 2,
				   &(struct placement_limits){ .most = 0.9 }, shares, &err),
		  -EINVAL);
	CHECK(strstr(err.text, "most_extra"));
	CHECK_INT(placement_shares(PLACEMENT_EXPECTED, targets, 2,
				   &(struct placement_limits){ .least = 1.1 }, shares, &err),
		  -EINVAL);
	CHECK_INT(placement_shares(PLACEMENT_EXPECTED, targets, 2,
				   &(struct placement_limits){ .least = NAN }, shares, &err),
		  -EINVAL);
	CHECK_INT(placement_shares(PLACEMENT_EXPECTED, targets, 2,
				   &(struct placement_limits){ .most = 1, .least = 1 }, shares,
				   &err),
		  0);
	NEAR(shares[0], 0.5, 1e-12);
}

static void units_sum_to_the_total_and_remainders_are_spread(void)
{
	static const double shares[] = { 0.5, 0.25, 0.125, 0.125, 0 };
	uint64_t units[5];

	placement_units(shares, 5, 10, units);
	CHECK_INT(units[0], 5);
	CHECK_INT(units[1] + units[2] + units[3], 5);
	/* 2.5, 1.25 and 1.25: the first has the largest remainder. */
	CHECK_INT(units[1], 3);
	CHECK_INT(units[4], 0);
	placement_units(shares, 5, 0, units);
	CHECK_INT(units[0] + units[1] + units[2] + units[3] + units[4], 0);
}

static void any_total_is_placed_to_the_last_byte(void)
{
	static const uint64_t totals[] = {
		1, 999, 1 << 20, 309237645312, 309237645313, 1ULL << 62
	};
	struct placement_target targets[TITAN];
	double shares[TITAN];
	uint64_t bytes[TITAN];

	fill(targets, 200, 88, 1.85, 2.7);
	REQUIRE(placement_shares(PLACEMENT_CLASSES, targets, TITAN, NULL, shares, &err) == 0);
	for (size_t t = 0; t < sizeof(totals) / sizeof(totals[0]); t++) {
		uint64_t sum = 0;
		size_t odd = 0;

		placement_bytes(shares, TITAN, totals[t], 1 << 20, bytes);
		for (size_t i = 0; i < TITAN; i++) {
			sum += bytes[i];
			odd += bytes[i] % (1 << 20) != 0;
			if (t == 3)
				NEAR((double)bytes[i], shares[i] * (double)totals[t], 1 << 20);
		}
		CHECK(sum == totals[t]);
		CHECK_INT(odd, totals[t] % (1 << 20) != 0);
	}
}

static void results_have_group_percentile_and_slowest(void)
{
	static const double shares[] = { 0.25, 0.25, 0.25, 0.25 }, seconds[] = { 1, 2, 3, 8 };
	static const bool busy[] = { false, false, true, true };
	static const double more[] = { 0.5, 0.25, 0.25, 0 };
	struct placement_result result;

	placement_evaluate(shares, busy, seconds, 4, 0, &result);
	NEAR(result.slower_group, 5.5, 1e-12);
	NEAR(result.slowest, 8, 1e-12);
	NEAR(result.late, 3 + 0.85 * 5, 1e-12); /* type 7: position 2.85 */
	/* Twice the equal share is slower by 2 ^ 0.5; a smaller one is not faster. */
	placement_evaluate(more, busy, seconds, 4, 0.5, &result);
	NEAR(result.slowest, 3, 1e-12);
	NEAR(result.slower_group, (2 * sqrt(2) + 2) / 2, 1e-12);
}

static void predicted_result_follows_the_forecasts(void)
{
	struct placement_target targets[4];
	double shares[4] = { 0.25, 0.25, 0.25, 0.25 };
	struct placement_result result, again;

	fill(targets, 2, 2, 1, 3);
	for (int i = 0; i < 4; i++)
		targets[i].busy = i >= 2, targets[i].idle_sd = targets[i].busy_sd = 0;
	/* With certain states of zero width, the result is exact. */
	placement_predict(shares, targets, 4, NULL, &result);
	NEAR(result.slower_group, 3, 1e-9);
	NEAR(result.slowest, 3, 1e-9);
	targets[2].busy_sd = targets[3].busy_sd = 1;
	placement_predict(shares, targets, 4, NULL, &result);
	placement_predict(shares, targets, 4, NULL, &again);
	NEAR(result.slower_group, 3, 0.2);
	CHECK(result.slowest > 3.2 && result.slowest < 4.5);
	CHECK(memcmp(&result, &again, sizeof(result)) == 0);
}

/* Generated data with forecasts that are right on average: states are drawn from them. */
static void draw_world(struct random *random, struct placement_target *targets, double *seconds,
		       double idle_s, double busy_s, double held)
{
	for (size_t i = 0; i < TITAN; i++) {
		double u = random_real(random), p = u * u * u, mean, s;
		bool is_busy = random_real(random) < p;

		targets[i] = (struct placement_target){ p, 1.85, 2.7, 0, 0, true };
		targets[i].idle_sd = 1.85 * sqrt(expm1(idle_s * idle_s));
		targets[i].busy_sd = 2.7 * sqrt(expm1(busy_s * busy_s));
		mean = is_busy ? 2.7 : 1.85;
		s = is_busy ? busy_s : idle_s;
		seconds[i] = mean * exp(s * random_normal(random) - s * s / 2);
		if (random_real(random) < held)
			seconds[i] /= 0.05 + 0.95 * random_real(random);
	}
}

/* The mean gain on the slowest target over all steps. */
static double slowest_gain(enum placement_rule rule, double idle_s, double busy_s, double held,
			   double *losing)
{
	struct placement_target targets[TITAN];
	double shares[TITAN], seconds[TITAN], gain = 0;
	struct random random;
	enum { STEPS = 24 };

	random_init(&random, 7);
	*losing = 0;
	for (int step = 0; step < STEPS; step++) {
		double slowest = 0, equal = 0;

		draw_world(&random, targets, seconds, idle_s, busy_s, held);
		REQUIRE(placement_shares(rule, targets, TITAN, NULL, shares, &err) == 0);
		for (size_t i = 0; i < TITAN; i++) {
			slowest = fmax(slowest, shares[i] * TITAN * seconds[i]);
			equal = fmax(equal, seconds[i]);
		}
		gain += (equal / slowest - 1) / STEPS;
		*losing += (slowest > equal * (1 + 1e-9)) / (double)STEPS;
	}
	return gain;
}

static void hedged_rule_gains_on_the_slowest_target(void)
{
	double losing, others;
	double hedged = slowest_gain(PLACEMENT_HEDGED, 0.115, 0.23, 0, &losing);
	double classes = slowest_gain(PLACEMENT_CLASSES, 0.115, 0.23, 0, &others);

	CHECK(hedged > 0.03);
	CHECK(hedged > classes);
	CHECK(losing < others);
}

static void hedged_rule_does_not_lose_where_other_rules_do(void)
{
	double losing, others;

	/* States of zero width: a busy target predicted idle is always the slowest. */
	CHECK(slowest_gain(PLACEMENT_CLASSES, 0.001, 0.001, 0, &others) < -0.05);
	CHECK(others > 0.9);
	CHECK(slowest_gain(PLACEMENT_EXPECTED, 0.001, 0.001, 0, &others) < -0.05);
	CHECK(slowest_gain(PLACEMENT_HEDGED, 0.001, 0.001, 0, &losing) >= 0);
	CHECK(losing < 0.1);
	/* Writes that are held up in any state, which no forecast contains. */
	CHECK(slowest_gain(PLACEMENT_HEDGED, 0.115, 0.23, 0.01, &losing) >= 0);
}

static void hedged_rule_is_reproducible_and_monotonic(void)
{
	struct placement_target targets[TITAN];
	double first[TITAN], again[TITAN], seconds[TITAN], sum = 0;
	struct random random;

	random_init(&random, 3);
	draw_world(&random, targets, seconds, 0.115, 0.23, 0);
	targets[5] = targets[9];
	CHECK(placement_hedge(targets, TITAN, NULL, first) > 0);
	CHECK(placement_hedge(targets, TITAN, NULL, again) > 0);
	CHECK(memcmp(first, again, sizeof(first)) == 0);
	CHECK(first[5] == first[9]);
	for (size_t i = 0; i < TITAN; i++)
		sum += first[i];
	NEAR(sum, 1, 1e-12);
	/* A target that is more likely busy never gets more. */
	for (size_t i = 0; i < TITAN; i++)
		for (size_t j = 0; j < TITAN; j++)
			CHECK(targets[i].busy <= targets[j].busy ||
			      first[i] <= first[j] * (1 + 1e-4));
}

static void hedged_rule_uses_equal_shares_without_information(void)
{
	struct placement_target targets[8];
	double shares[8];

	fill(targets, 8, 0, 1.85, 2.7);
	CHECK(placement_hedge(targets, 8, NULL, shares) == 0);
	for (int i = 0; i < 8; i++)
		CHECK(shares[i] == 0.125);
	CHECK(placement_hedge(targets, 1, NULL, shares) == 0);
	CHECK(shares[0] == 1);
}

TESTS(TEST(golden_values_match_to_a_millionth),
      TEST(one_class_alone_gets_everything_in_equal_shares),
      TEST(threshold_moves_targets_between_classes),
      TEST(expected_shares_finish_together_if_times_are_as_expected),
      TEST(targets_that_are_not_allowed_get_nothing),
      TEST(unknown_targets_count_as_the_mean_of_the_others),
      TEST(limits_hold_and_the_sum_stays_one), TEST(excess_over_a_limit_is_divided_in_proportion),
      TEST(impossible_limits_are_refused), TEST(units_sum_to_the_total_and_remainders_are_spread),
      TEST(any_total_is_placed_to_the_last_byte), TEST(results_have_group_percentile_and_slowest),
      TEST(predicted_result_follows_the_forecasts), TEST(hedged_rule_gains_on_the_slowest_target),
      TEST(hedged_rule_does_not_lose_where_other_rules_do),
      TEST(hedged_rule_is_reproducible_and_monotonic),
      TEST(hedged_rule_uses_equal_shares_without_information))
