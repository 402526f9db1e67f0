/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/loop/importance.h"

#include <errno.h>
#include <math.h>

#include "base/mem.h"
#include "check.h"
#include "learn/math/random.h"
#include "toy_stack.h"

enum { TRIALS = 120 };

typedef double function(const size_t *point);

/* Random trials, with noise in the logarithm of their cost. */
static void ask(struct importance *importance, function *cost, double noise)
{
	AUTO_FREE size_t *points = xcalloc(TRIALS * TOY_DIMENSIONS, sizeof(*points));
	double costs[TRIALS];
	struct random random;
	struct space space;

	toy_space(&space);
	random_init(&random, 3);
	for (size_t i = 0; i < TRIALS; i++) {
		size_t *point = points + i * TOY_DIMENSIONS;

		space_point(&space, random_below(&random, TOY_POINTS), point);
		costs[i] = cost(point) * exp(noise * random_normal(&random));
	}
	REQUIRE(importance_init(importance, &space, points, costs, TRIALS, NULL) == 0);
	space_release(&space);
}

static double sum_of(const struct importance *importance)
{
	double sum = importance->together + importance->unexplained;

	for (size_t d = 0; d < importance->count; d++)
		sum += importance->parts[d].share;
	return sum;
}

static double one_dimension(const size_t *point)
{
	return exp(fabs((double)point[TOY_NODES] - 4) / 4);
}

static double two_dimensions(const size_t *point)
{
	double nodes = (double)point[TOY_NODES] / 11, alignment = (double)point[TOY_ALIGNMENT] / 13;

	return exp(2 * nodes + alignment);
}

/* Neither dimension has an effect on average. */
static double a_combination(const size_t *point)
{
	bool a = point[TOY_NODES] >= 6, b = point[TOY_UNIT] >= 4;

	return a == b ? 1 : 8;
}

static double nothing(const size_t *point)
{
	(void)point;
	return 1;
}

static void the_only_effective_parameter_has_all_importance(void)
{
	struct importance importance;

	ask(&importance, one_dimension, 0);
	CHECK(importance.parts[TOY_NODES].share > 0.95);
	CHECK_INT(importance.parts[TOY_NODES].best, 4);
	CHECK(fabs(log(importance.parts[TOY_NODES].factor) - 7.0 / 4) < 0.1);
	CHECK(importance.parts[TOY_UNIT].share < 0.02);
	CHECK(importance.unexplained < 0.03);
	CHECK(fabs(sum_of(&importance) - 1) < 1e-12);
	importance_release(&importance);
}

/* Uniform on 12 and on 14 values: variances 4 * 13/132 and 15/156. */
static void shares_are_shares_of_the_variance(void)
{
	double a = 4 * 13.0 / 132, b = 15.0 / 156;
	struct importance importance;

	ask(&importance, two_dimensions, 0);
	CHECK(fabs(importance.parts[TOY_NODES].share - a / (a + b)) < 0.03);
	CHECK(fabs(importance.parts[TOY_ALIGNMENT].share - b / (a + b)) < 0.03);
	CHECK(fabs(sum_of(&importance) - 1) < 1e-12);
	importance_release(&importance);
}

static void combinations_have_a_share_of_their_own(void)
{
	struct importance importance;

	ask(&importance, a_combination, 0);
	CHECK(importance.together > 0.6);
	CHECK(importance.parts[TOY_NODES].share < 0.1);
	CHECK(fabs(sum_of(&importance) - 1) < 1e-12);
	importance_release(&importance);
}

/* The noise equals the effect: half of the variance is unexplained. */
static void noise_is_not_explained(void)
{
	double a = 4 * 13.0 / 132, b = 15.0 / 156;
	struct importance importance;

	ask(&importance, two_dimensions, sqrt(a + b));
	CHECK(importance.unexplained > 0.35 && importance.unexplained < 0.75);
	CHECK(importance.parts[TOY_NODES].share > 0.15);
	importance_release(&importance);
	ask(&importance, nothing, 0);
	CHECK(importance.unexplained == 1);
	CHECK(fabs(sum_of(&importance) - 1) < 1e-12);
	importance_release(&importance);
}

static void the_toy_stack_is_explained(void)
{
	struct importance importance;

	ask(&importance, toy_cost, 0);
	CHECK(importance.parts[TOY_NODES].share > importance.parts[TOY_FACTOR].share);
	CHECK(importance.parts[TOY_NODES].share > 0.5);
	CHECK(importance.parts[TOY_ALIGNMENT].share < 0.05);
	importance_release(&importance);
}

static void few_trials_are_refused(void)
{
	size_t points[4 * TOY_DIMENSIONS] = { 0 };
	double costs[4] = { 1, 2, 3, INFINITY };
	struct importance importance = { 0 };
	struct space space;
	struct err err;

	toy_space(&space);
	CHECK_INT(importance_init(&importance, &space, points, costs, 4, &err), -ENODATA);
	CHECK(strstr(err.text, "3 good trials"));
	CHECK(!importance.parts);
	space_release(&space);
}

TESTS(TEST(the_only_effective_parameter_has_all_importance),
      TEST(shares_are_shares_of_the_variance), TEST(combinations_have_a_share_of_their_own),
      TEST(noise_is_not_explained), TEST(the_toy_stack_is_explained), TEST(few_trials_are_refused))
