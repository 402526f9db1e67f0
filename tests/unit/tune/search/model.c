/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "check.h"
#include "toy_search.h"

static double toy_prior(void *arg, const size_t *point)
{
	size_t *questions = arg;

	*questions += 1;
	return toy_cost(point);
}

/* Ignores the alignment, and has no estimate for more than 96 stripes. */
static double half_prior(void *arg, const size_t *point)
{
	size_t alike[TOY_DIMENSIONS];

	(void)arg;
	memcpy(alike, point, sizeof(alike));
	alike[TOY_ALIGNMENT] = 0;
	return point[TOY_FACTOR] > 7 ? NAN : toy_cost(alike);
}

static double no_prior(void *arg, const size_t *point)
{
	(void)arg;
	return point[0] % 2 ? NAN : INFINITY;
}

static int double_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void only_the_best_points_are_asked_best_first(void)
{
	AUTO_FREE double *costs = xcalloc(TOY_POINTS, sizeof(*costs));
	size_t point[TOY_DIMENSIONS], questions = 0, count = 0;
	struct search_prior prior = { toy_prior, &questions };
	struct search *search;
	struct space space;

	toy_space(&space);
	for (uint64_t i = 0; i < TOY_POINTS; i++) {
		space_point(&space, i, point);
		costs[i] = toy_cost(point);
	}
	qsort(costs, TOY_POINTS, sizeof(*costs), double_compare);
	REQUIRE(search_new_with_prior(&search, "model", NULL, &space, &prior, 1, NULL) == 0);
	CHECK_INT(questions, TOY_POINTS);
	for (double last = 0; search_ask(search, point); count++) {
		double cost = toy_cost(point);

		CHECK(cost > last);
		CHECK(cost == costs[count]);
		last = cost;
		/* Reported costs change nothing. */
		search_tell(search, point, count % 2 ? INFINITY : 1);
	}
	CHECK_INT(count, 5);
	search_free(search);
	space_release(&space);
}

/* The prior ignores the alignment, so the points have the default alignment. */
static void parameters_unknown_to_the_prior_stay_at_their_defaults(void)
{
	struct search_prior prior = { half_prior, NULL };
	size_t point[TOY_DIMENSIONS], count = 0;
	struct search *search;
	struct space space;
	bool seen[10][8][12] = { { { false } } };

	toy_space(&space);
	REQUIRE(search_new_with_prior(&search, "model", "top=20", &space, &prior, 1, NULL) == 0);
	for (; search_ask(search, point); count++) {
		bool *was = &seen[point[TOY_FACTOR]][point[TOY_UNIT]][point[TOY_NODES]];

		CHECK_INT(point[TOY_ALIGNMENT], space.dimensions[TOY_ALIGNMENT].initial);
		CHECK(point[TOY_FACTOR] <= 7);
		CHECK(!*was);
		*was = true;
		search_tell(search, point, 1);
	}
	CHECK_INT(count, 20);
	search_free(search);
	space_release(&space);
}

/* The baseline is among the best and known before: it is not measured again. */
static void known_points_are_not_asked(void)
{
	struct search_prior prior = { half_prior, NULL };
	size_t point[TOY_DIMENSIONS], best[TOY_DIMENSIONS] = { 0 }, count = 0;
	struct search *search;
	struct space space;

	toy_space(&space);
	REQUIRE(search_new_with_prior(&search, "model", "top=3", &space, &prior, 1, NULL) == 0);
	REQUIRE(search_ask(search, best));
	search_free(search);
	REQUIRE(search_new_with_prior(&search, "model", "top=3", &space, &prior, 1, NULL) == 0);
	search_know(search, best, 7);
	for (; search_ask(search, point); count++) {
		CHECK(memcmp(point, best, sizeof(best)) != 0);
		search_tell(search, point, 8);
	}
	CHECK_INT(count, 2);
	search_free(search);
	space_release(&space);
}

static void errors_say_how_to_make_a_model(void)
{
	struct search_prior prior = { no_prior, NULL };
	struct search *search = NULL;
	struct space space;
	struct err err = { 0 };

	toy_space(&space);
	CHECK_INT(search_new(&search, "model", NULL, &space, 1, &err), -ENODATA);
	CHECK(strstr(err.text, "sluice model fit"));
	CHECK_INT(search_new_with_prior(&search, "model", NULL, &space, &prior, 1, &err), -ENODATA);
	CHECK(strstr(err.text, "no estimate"));
	CHECK_INT(search_new_with_prior(&search, "model", "top=0", &space, &prior, 1, &err),
		  -EINVAL);
	CHECK(search == NULL);
	space_release(&space);
}

static double far_prior(void *arg, const size_t *point)
{
	double sum = 1;

	(void)arg;
	for (size_t d = 0; d < SPACE_DIMENSIONS; d++)
		sum += fabs((double)point[d] - 7);
	return sum;
}

/* With 12^32 points it climbs to the best, which random points would never reach. */
static void large_spaces_are_climbed(void)
{
	struct search_prior prior = { far_prior, NULL };
	size_t point[SPACE_DIMENSIONS];
	struct space space = { 0 };
	struct search *search;
	struct err err = { 0 };

	for (int i = 0; i < SPACE_DIMENSIONS; i++) {
		AUTO_FREE char *file = xprintf("file%d", i);

		toy_require(space_add_for(&space, "cb_nodes", toy_nodes, NULL, file, NULL, &err),
			    &err);
	}
	REQUIRE(search_new_with_prior(&search, "model", NULL, &space, &prior, 1, NULL) == 0);
	REQUIRE(search_ask(search, point));
	for (size_t d = 0; d < SPACE_DIMENSIONS; d++)
		CHECK_INT(point[d], 7);
	search_free(search);
	space_release(&space);
}

TESTS(TEST(only_the_best_points_are_asked_best_first),
      TEST(parameters_unknown_to_the_prior_stay_at_their_defaults),
      TEST(known_points_are_not_asked), TEST(errors_say_how_to_make_a_model),
      TEST(large_spaces_are_climbed))
