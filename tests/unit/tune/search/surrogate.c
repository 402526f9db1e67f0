/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/search/surrogate.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "check.h"
#include "learn/math/random.h"
#include "toy_search.h"

static double constant_prior(void *arg, const size_t *point)
{
	(void)point;
	return *(double *)arg;
}

/* Wrong by a factor and by noise at every point; or inverted. */
struct rough {
	double factor, power, blur;
};

static double rough_prior(void *arg, const size_t *point)
{
	const struct rough *rough = arg;
	struct random random;
	uint64_t number = 0;

	for (size_t d = 0; d < TOY_DIMENSIONS; d++)
		number = number * 64 + point[d];
	random_init(&random, number);
	return rough->factor * pow(toy_cost(point), rough->power) *
	       exp(rough->blur * random_normal(&random));
}

static double unknown_prior(void *arg, const size_t *point)
{
	(void)arg;
	(void)point;
	return NAN;
}

/* Adds random points with their costs. */
static void add_trials(struct surrogate *surrogate, const struct space *space, size_t count)
{
	size_t point[TOY_DIMENSIONS];
	struct random random;

	random_init(&random, 5);
	for (size_t i = 0; i < count; i++) {
		space_point(space, random_below(&random, TOY_POINTS), point);
		surrogate_add(surrogate, point, toy_cost(point));
	}
}

/* The error of the predicted mean at other points, in logarithms. */
static double mean_error(const struct surrogate *surrogate, const struct space *space)
{
	AUTO_FREE double *row = xcalloc(surrogate->encoding.width, sizeof(*row));
	size_t point[TOY_DIMENSIONS];
	struct random random;
	double sum = 0, mean;

	random_init(&random, 77);
	for (int i = 0; i < 200; i++) {
		space_point(space, random_below(&random, TOY_POINTS), point);
		encoding_row(&surrogate->encoding, point, row, 1);
		gaussian_predict(&surrogate->gaussian, row, &mean, NULL, false);
		mean += surrogate_offset(surrogate, surrogate_expects(surrogate, point));
		sum += pow(mean - log(toy_cost(point)), 2);
	}
	return sqrt(sum / 200);
}

static double error_with_prior(const struct search_prior *prior, size_t trials, double *slope)
{
	struct surrogate surrogate;
	struct space space;
	double error;

	toy_space(&space);
	surrogate_init(&surrogate, &space);
	surrogate_set_prior(&surrogate, prior);
	add_trials(&surrogate, &space, trials);
	REQUIRE(surrogate_fit(&surrogate, 1, NULL) == 0);
	error = mean_error(&surrogate, &space);
	*slope = surrogate.slope;
	surrogate_release(&surrogate);
	space_release(&space);
	return error;
}

static void prior_is_the_mean_and_its_factor_does_not_matter(void)
{
	struct rough right = { 1000, 1, 0 };
	struct search_prior prior = { rough_prior, &right };
	double slope, without = error_with_prior(NULL, 8, &slope);

	CHECK(slope == 0);
	CHECK(error_with_prior(&prior, 8, &slope) < 0.01);
	CHECK(slope > 0.99 && slope < 1.01);
	CHECK(without > 0.3);
}

static void rough_prior_is_better_than_none(void)
{
	struct rough rough = { 0.01, 1, 0.3 };
	struct search_prior prior = { rough_prior, &rough };
	double slope, without = error_with_prior(NULL, 8, &slope);

	CHECK(error_with_prior(&prior, 8, &slope) < 0.7 * without);
}

/* The slope falls to 0, as if there were no prior. */
static void inverted_prior_is_ignored(void)
{
	struct rough inverted = { 1, -1, 0 };
	struct search_prior prior = { rough_prior, &inverted };
	double slope, without = error_with_prior(NULL, 12, &slope);

	CHECK(error_with_prior(&prior, 12, &slope) < 1.001 * without);
	CHECK(slope == 0);
}

static void prior_without_estimates_has_no_effect(void)
{
	double same = 42, slope, without = error_with_prior(NULL, 12, &slope);
	struct search_prior constant = { constant_prior, &same }, unknown = { unknown_prior, NULL };

	CHECK(fabs(error_with_prior(&constant, 12, &slope) - without) < 1e-6);
	CHECK(fabs(error_with_prior(&unknown, 12, &slope) - without) < 1e-6);
}

/* Runs until a point is close to the best of the toy stack. */
static uint64_t near_after(struct rough *rough, uint64_t seed)
{
	struct search_prior prior = { rough_prior, rough };
	size_t point[TOY_DIMENSIONS];
	struct search *search;
	struct space space;
	uint64_t run = 1;

	toy_space(&space);
	REQUIRE(search_new_with_prior(&search, "bayesian", NULL, &space, rough ? &prior : NULL,
				      seed, NULL) == 0);
	for (; search_ask(search, point) && toy_cost(point) > 1.05 * TOY_BEST; run++)
		search_tell(search, point, toy_cost(point));
	search_free(search);
	space_release(&space);
	return run;
}

static void search_starts_where_the_prior_is_best(void)
{
	struct rough rough = { 3, 1, 0.1 }, exact = { 3, 1, 0 };
	uint64_t with = 0, without = 0;

	CHECK_INT(near_after(&exact, 1), 1);
	for (uint64_t seed = 1; seed <= 3; seed++) {
		with += near_after(&rough, seed);
		without += near_after(NULL, seed);
	}
	CHECK(2 * with < without);
}

static void search_survives_an_inverted_prior(void)
{
	struct rough inverted = { 1, -1, 0 };

	for (uint64_t seed = 1; seed <= 2; seed++)
		CHECK(near_after(&inverted, seed) <= 100);
}

/* The same points in the same order, as when a tuning is resumed. */
static void same_prior_gives_the_same_course(void)
{
	struct rough rough = { 3, 1, 0.3 };
	struct search_prior prior = { rough_prior, &rough };
	struct search *searches_of[2];
	struct space space;

	toy_space(&space);
	for (int i = 0; i < 2; i++)
		REQUIRE(search_new_with_prior(&searches_of[i], "bayesian", NULL, &space, &prior, 9,
					      NULL) == 0);
	for (int run = 0; run < 15; run++) {
		size_t points[2][TOY_DIMENSIONS];

		for (int i = 0; i < 2; i++) {
			REQUIRE(search_ask(searches_of[i], points[i]));
			search_tell(searches_of[i], points[i], toy_cost(points[i]));
		}
		CHECK(memcmp(points[0], points[1], sizeof(points[0])) == 0);
	}
	for (int i = 0; i < 2; i++)
		search_free(searches_of[i]);
	space_release(&space);
}

TESTS(TEST(prior_is_the_mean_and_its_factor_does_not_matter), TEST(rough_prior_is_better_than_none),
      TEST(inverted_prior_is_ignored), TEST(prior_without_estimates_has_no_effect),
      TEST(search_starts_where_the_prior_is_best), TEST(search_survives_an_inverted_prior),
      TEST(same_prior_gives_the_same_course))
