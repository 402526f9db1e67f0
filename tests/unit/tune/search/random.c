/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The random, exhaustive and annealing searches.
 */
#include <math.h>

#include "base/mem.h"
#include "check.h"
#include "toy_search.h"

static void check_each_point_comes_once(const char *name, const char *settings, bool in_order)
{
	AUTO_FREE bool *seen = xcalloc(TOY_POINTS, sizeof(*seen));
	size_t point[TOY_DIMENSIONS], count = 0, rising = 0;
	uint64_t last = 0;
	struct search *search;
	struct space space;

	toy_space(&space);
	REQUIRE(search_new(&search, name, settings, &space, 9, NULL) == 0);
	for (; search_ask(search, point); count++) {
		uint64_t number = space_number(&space, point);

		CHECK(!seen[number]);
		seen[number] = true;
		rising += number > last;
		last = number;
		search_tell(search, point, 1);
	}
	CHECK_INT(count, TOY_POINTS);
	CHECK_INT(search_get_counts(search).asked, TOY_POINTS);
	if (in_order)
		CHECK_INT(rising, TOY_POINTS - 1);
	else
		CHECK(rising > TOY_POINTS * 0.47 && rising < TOY_POINTS * 0.53);
	search_free(search);
	space_release(&space);
}

static void exhaustive_tries_every_point_in_order(void)
{
	check_each_point_comes_once("exhaustive", NULL, true);
}

static void random_tries_every_point_out_of_order(void)
{
	check_each_point_comes_once("random", "draws=1000000", false);
}

/* The upper half of each dimension is drawn as often as the lower, within three deviations. */
static void draws_are_spread_evenly(void)
{
	size_t point[TOY_DIMENSIONS], upper[TOY_DIMENSIONS] = { 0 };
	struct search *search;
	struct space space;

	toy_space(&space);
	for (uint64_t seed = 0; seed < 20; seed++) {
		REQUIRE(search_new(&search, "random", "draws=500", &space, seed, NULL) == 0);
		while (search_ask(search, point)) {
			for (size_t d = 0; d < TOY_DIMENSIONS; d++)
				upper[d] += point[d] >= space.dimensions[d].count / 2;
			search_tell(search, point, 1);
		}
		CHECK_INT(search_get_counts(search).measured, 500);
		search_free(search);
	}
	for (size_t d = 0; d < TOY_DIMENSIONS; d++)
		CHECK(upper[d] > 5000 - 150 && upper[d] < 5000 + 150);
	space_release(&space);
}

static void replacement_draws_points_again(void)
{
	struct space space;
	struct toy_course course;

	toy_space(&space);
	course = toy_search(&space, "random", "draws=5000,replacement=1", 1, 5000, false);
	CHECK_INT(course.counts.asked, 5000);
	/* 13,440 * (1 - exp(-5000 / 13440)) = 4175 are expected. */
	CHECK(course.counts.measured > 4050 && course.counts.measured < 4300);
	space_release(&space);
}

static void annealing_solves_the_toy_stack(void)
{
	size_t near = 0;
	struct space space;

	toy_space(&space);
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct toy_course course = toy_search(&space, "annealing", NULL, seed, 600, false);

		near += course.near > 0;
		CHECK(course.counts.asked <= 600);
	}
	CHECK(near >= 38);
	space_release(&space);
}

/* A step changes one dimension; an ordered one by at most two places unless far steps are on. */
static void annealing_goes_to_neighbors(void)
{
	double settings[SEARCH_SETTINGS] = { 300, 0.5, 0.01, 0 };
	size_t here[TOY_DIMENSIONS] = { 0 }, point[TOY_DIMENSIONS];
	struct space space;
	void *state;

	toy_space(&space);
	space.dimensions[TOY_ALIGNMENT].is_ordered = false;
	REQUIRE(search_annealing.start(&state, &space, NULL, settings, 1, NULL) == 0);
	search_annealing.know(state, here, toy_cost(here));
	for (int i = 0; i < 300; i++) {
		size_t changed = 0;

		REQUIRE(search_annealing.ask(state, point) == 1);
		for (size_t d = 0; d < TOY_DIMENSIONS; d++) {
			size_t off = point[d] > here[d] ? point[d] - here[d] : here[d] - point[d];

			changed += off > 0;
			CHECK(off <= 2 || d == TOY_ALIGNMENT);
		}
		CHECK_INT(changed, 1);
		/* Each point is better, so each step is accepted. */
		search_annealing.tell(state, point, 1000 - i);
		memcpy(here, point, sizeof(here));
	}
	CHECK(search_annealing.ask(state, point) == 0);
	search_annealing.stop(state);
	space_release(&space);
}

TESTS(TEST(exhaustive_tries_every_point_in_order), TEST(random_tries_every_point_out_of_order),
      TEST(draws_are_spread_evenly), TEST(replacement_draws_points_again),
      TEST(annealing_solves_the_toy_stack), TEST(annealing_goes_to_neighbors))
