/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/loop/estimate.h"

#include <math.h>

#include "check.h"
#include "learn/math/random.h"
#include "toy_stack.h"

/* Points of the toy stack; all of their values are set. */
static const size_t good[TOY_DIMENSIONS] = { 1, 1, 1, 1 }, other[TOY_DIMENSIONS] = { 5, 5, 5, 5 };

static void add(struct estimate *e, const size_t *point, double cost, size_t time)
{
	estimate_add(e, point, cost, (double)time, false);
}

/* A single lucky run must not beat repeated good ones. */
static void few_runs_count_less(void)
{
	struct estimate e;
	struct space space;
	double ratio, lucky, deviation, more;

	toy_space(&space);
	estimate_init(&e, &space);
	for (size_t i = 0; i < 6; i++)
		add(&e, NULL, i % 2 ? 0.3 : -0.3, i);
	for (size_t i = 6; i < 12; i++)
		add(&e, good, -0.7 + (i % 2 ? 0.3 : -0.3), i);
	add(&e, other, -0.75, 12);
	estimate_fit(&e);
	ratio = estimate_ratio(&e, good, NULL, &deviation);
	lucky = estimate_ratio(&e, other, NULL, &more);
	CHECK(ratio < -0.35 && ratio > -0.75);
	CHECK(lucky > ratio);
	CHECK(more > deviation);
	CHECK(e.sigma > 0.15 && e.sigma < 0.6);
	estimate_release(&e);
	space_release(&space);
}

/* The machine becomes twice as slow, at once or little by little, and the second point runs only
 * when it is slow: it is not worse. */
static void check_drift(uint64_t seed, bool is_step, double tolerance)
{
	struct estimate e;
	struct space space;
	struct random random;
	double deviation;

	toy_space(&space);
	estimate_init(&e, &space);
	random_init(&random, seed);
	for (size_t i = 0; i < 40; i++) {
		double level = is_step ? (i < 20 ? 0 : 0.7) : 0.7 * (double)i / 39;
		double cost = level + 0.02 * random_normal(&random);
		const size_t *point = i < 20 ? good : other;

		add(&e, i % 4 ? point : NULL, cost - (i % 4 ? 0.3 : 0), i);
	}
	estimate_fit(&e);
	CHECK_NEAR(estimate_ratio(&e, good, other, &deviation), 0, tolerance);
	CHECK_NEAR(estimate_ratio(&e, good, NULL, &deviation), -0.3, tolerance);
	CHECK_NEAR(estimate_ratio(&e, other, NULL, &deviation), -0.3, tolerance);
	CHECK_NEAR(estimate_change(&e, 4, 36, &deviation), is_step ? 0.7 : 0.574, tolerance);
	CHECK_NEAR(estimate_level(&e, 4), is_step ? 0 : 0.072, tolerance);
	estimate_release(&e);
	space_release(&space);
}

static void the_baseline_follows_drift(void)
{
	for (uint64_t seed = 1; seed <= 10; seed++)
		check_drift(seed, false, 0.05);
}

/* Runs of the baseline are too far apart to tell exactly when the level changed, so the points,
 * which change at the same time, get a part of the step: up to a quarter. */
static void most_of_a_step_is_not_taken_for_an_effect(void)
{
	for (uint64_t seed = 1; seed <= 10; seed++)
		check_drift(seed, true, 0.7 / 4);
}

static void an_outlier_changes_little(void)
{
	struct estimate e;
	struct space space;

	toy_space(&space);
	estimate_init(&e, &space);
	for (size_t i = 0; i < 16; i++) {
		double noise = i / 2 % 2 ? 0.02 : -0.02;

		add(&e, i % 2 ? good : NULL, i == 9 ? 1.5 : noise - (i % 2 ? 0.5 : 0), i);
	}
	estimate_fit(&e);
	CHECK(estimate_ratio(&e, good, NULL, NULL) < -0.25);
	estimate_release(&e);
	space_release(&space);
}

/* Points that share a value with good ones are estimated without a run. */
static void values_share_information(void)
{
	size_t point[TOY_DIMENSIONS] = { 0 };
	struct estimate e;
	struct space space;
	struct random random;

	toy_space(&space);
	estimate_init(&e, &space);
	random_init(&random, 4);
	for (size_t i = 0; i < 60; i++) {
		for (size_t d = 0; d < TOY_DIMENSIONS; d++)
			point[d] = random_below(&random, 3) * 3;
		add(&e, i % 5 ? point : NULL,
		    (i % 5 && point[0] == 3 ? -0.7 : 0) + 0.1 * random_normal(&random), i);
	}
	estimate_fit(&e);
	point[1] = point[2] = point[3] = 6;
	point[0] = 3;
	CHECK(estimate_ratio(&e, point, NULL, NULL) < -0.35);
	point[0] = 0;
	CHECK(fabs(estimate_ratio(&e, point, NULL, NULL)) < 0.35);
	estimate_release(&e);
	space_release(&space);
}

/* Each of two values helps alone, and both together are terrible, whatever the other values are: so
 * they are with other values that were not run, too. */
static void pairs_of_values_interact(void)
{
	size_t point[TOY_DIMENSIONS] = { 0 };
	struct estimate e;
	struct space space;
	struct random random;

	toy_space(&space);
	estimate_init(&e, &space);
	random_init(&random, 5);
	for (size_t i = 0; i < 50; i++) {
		bool a = i & 1, b = i >> 1 & 1;

		point[0] = a ? 9 : 0;
		point[1] = b ? 7 : 0;
		point[2] = random_below(&random, 3) * 3;
		point[3] = random_below(&random, 3) * 3;
		add(&e, i % 5 ? point : NULL,
		    (!(i % 5) ? 0
		     : a && b ? 1.1
		     : a      ? -1
		     : b      ? -0.4
			      : 0) +
			    0.1 * random_normal(&random),
		    i);
	}
	estimate_fit(&e);
	point[2] = point[3] = 11;
	point[0] = 9;
	point[1] = 7;
	CHECK(estimate_ratio(&e, point, NULL, NULL) > 0.5);
	point[1] = 0;
	CHECK(estimate_ratio(&e, point, NULL, NULL) < -0.5);
	estimate_release(&e);
	space_release(&space);
}

static void many_runs_are_thinned(void)
{
	size_t point[TOY_DIMENSIONS] = { 0 };
	struct estimate e;
	struct space space;

	toy_space(&space);
	estimate_init(&e, &space);
	for (size_t i = 0; i < 2 * ESTIMATE_RUNS; i++) {
		point[3] = i % 14;
		point[2] = i / 14 % 12;
		add(&e, i % 5 ? point : NULL, i % 5 ? 1 + 0.01 * (double)(i % 7) : 0, i);
	}
	add(&e, good, -1, 2 * ESTIMATE_RUNS);
	estimate_fit(&e);
	CHECK_INT(e.used_count, ESTIMATE_RUNS);
	CHECK(estimate_knows(&e, good));
	CHECK(!estimate_knows(&e, other));
	CHECK(estimate_ratio(&e, good, NULL, NULL) < -0.5);
	estimate_release(&e);
	space_release(&space);
}

TESTS(TEST(few_runs_count_less), TEST(the_baseline_follows_drift),
      TEST(most_of_a_step_is_not_taken_for_an_effect), TEST(an_outlier_changes_little),
      TEST(values_share_information), TEST(pairs_of_values_interact), TEST(many_runs_are_thinned))
