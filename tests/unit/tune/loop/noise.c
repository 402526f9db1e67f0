/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/loop/noise.h"

#include <math.h>

#include "check.h"
#include "learn/math/random.h"

static double sigma_of(size_t group, double truth, uint64_t seed)
{
	struct noise noise = { 0 };
	struct random random;
	double costs[8], sigma;

	random_init(&random, seed);
	for (int i = 0; i < 300; i++) {
		double center = 1 + 10 * random_real(&random);

		for (size_t k = 0; k < group; k++)
			costs[k] = center * exp(truth * random_normal(&random));
		noise_add(&noise, costs, group);
	}
	sigma = noise_sigma(&noise);
	noise_release(&noise);
	return sigma;
}

static void noise_is_estimated_for_any_group_size(void)
{
	for (size_t group = 2; group <= 5; group++) {
		double sigma = sigma_of(group, 0.1, group);

		CHECK(sigma > 0.085 && sigma < 0.14);
	}
}

static void one_outlier_changes_little(void)
{
	static const double calm[] = { 1.00, 1.02, 0.98 };
	static const double disturbed[] = { 1.00, 1.02, 5.00 };
	struct noise noise = { 0 };

	noise_add(&noise, calm, 3);
	noise_add(&noise, calm, 3);
	noise_add(&noise, disturbed, 3);
	CHECK(noise_sigma(&noise) < 0.05);
	noise_release(&noise);
}

static void without_repetitions_the_minimum_is_used(void)
{
	struct noise noise = { 0 };

	CHECK(noise_sigma(&noise) == NOISE_LEAST);
	noise_add(&noise, &(double){ 3 }, 1);
	CHECK(noise_sigma(&noise) == NOISE_LEAST);
	noise_add(&noise, (double[]){ 3, 3 }, 2);
	CHECK(noise_sigma(&noise) == NOISE_LEAST);
	noise_release(&noise);
}

static void a_candidate_behind_by_more_than_noise_has_lost(void)
{
	CHECK(noise_is_lost(0.05, 1.2, 1, 1.0, 3));
	CHECK(!noise_is_lost(0.05, 1.01, 1, 1.0, 3));
	CHECK(!noise_is_lost(0.05, 0.8, 1, 1.0, 3));
	CHECK(!noise_is_lost(0.5, 1.2, 1, 1.0, 3)); /* too noisy to decide */
	CHECK(noise_is_lost(0.5, 1.7, 2, 1.0, 3));
}

static void drift_is_more_than_noise_in_both_directions(void)
{
	CHECK(!noise_is_drift(0.05, 1.1, 1.0));
	CHECK(noise_is_drift(0.05, 1.2, 1.0));
	CHECK(noise_is_drift(0.05, 0.8, 1.0));
	CHECK(!noise_is_drift(0.1, 1.2, 1.0));
}

static void useless_parameters_are_distinguished_from_useful_ones(void)
{
	CHECK_INT(noise_compare(0.01, 1.005, 2, 1.0, 2), NOISE_SAME);
	CHECK_INT(noise_compare(0.01, 0.7, 2, 1.0, 2), NOISE_SAME);
	CHECK_INT(noise_compare(0.01, 1.015, 2, 1.0, 2), NOISE_OPEN);
	CHECK_INT(noise_compare(0.01, 1.1, 1, 1.0, 2), NOISE_WORSE);
	/* The noise could hide a loss of 10 %: more runs are needed. */
	CHECK_INT(noise_compare(0.1, 1.0, 2, 1.0, 2), NOISE_OPEN);
	CHECK_INT(noise_compare(0.1, 1.0, 20, 1.0, 20), NOISE_SAME);
	CHECK_INT(noise_compare(0.1, 1.1, 20, 1.0, 20), NOISE_WORSE);
}

static void the_number_of_runs_for_a_noise_decides_most_cases(void)
{
	CHECK_INT(noise_runs(NOISE_LEAST), 2);
	for (double sigma = 0.02; sigma < 0.5; sigma += 0.03) {
		size_t runs = noise_runs(sigma);

		CHECK_INT(noise_compare(sigma, 1.0, runs, 1.0, runs), NOISE_SAME);
		CHECK(noise_compare(sigma, 1.1, runs, 1.0, runs) == NOISE_WORSE || runs == 2);
	}
}

TESTS(TEST(noise_is_estimated_for_any_group_size), TEST(one_outlier_changes_little),
      TEST(without_repetitions_the_minimum_is_used),
      TEST(a_candidate_behind_by_more_than_noise_has_lost),
      TEST(drift_is_more_than_noise_in_both_directions),
      TEST(useless_parameters_are_distinguished_from_useful_ones),
      TEST(the_number_of_runs_for_a_noise_decides_most_cases))
