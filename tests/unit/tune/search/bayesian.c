/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "check.h"
#include "toy_search.h"
#include "tune/search/encoding.h"
#include "tune/search/surrogate.h"

static const char *const off_on[] = { "enable", "disable", NULL };
static const char *const enable[] = { "enable", NULL };
static const char *const few_nodes[] = { "", "1", "2", "4", NULL };
static const char *const few_units[] = { "1M", "2M", "4M", NULL };

static void mixed_space(struct space *space)
{
	struct err err = { 0 };

	*space = (struct space){ 0 };
	toy_require(space_add(space, "striping_unit", few_units, NULL, &err), &err);
	toy_require(space_add(space, "romio_cb_write", off_on, NULL, &err), &err);
	toy_require(space_add(space, "cb_nodes", few_nodes, NULL, &err), &err);
	toy_require(space_when(space, "cb_nodes", "romio_cb_write", enable, &err), &err);
}

static void encoding_is(const struct encoding *encoding, const size_t *point, const double *row)
{
	double made[4] = { NAN, NAN, NAN, NAN };

	encoding_row(encoding, point, made, 1);
	for (size_t i = 0; i < 4; i++)
		CHECK(made[i] == row[i]);
}

/* unit becomes a place, romio_cb_write a category, cb_nodes a place and a category. */
static void points_become_places_and_categories(void)
{
	static const size_t left_alone[] = { 0, 0, 0 }, first[] = { 2, 0, 1 }, last[] = { 1, 0, 3 };
	static const size_t not_counted[] = { 1, 1, 0 };
	struct encoding encoding;
	struct space space;

	mixed_space(&space);
	encoding_init(&encoding, &space);
	REQUIRE(encoding.width == 4);
	CHECK(!encoding.category[0] && encoding.category[1] && !encoding.category[2] &&
	      encoding.category[3]);
	encoding_is(&encoding, left_alone, (double[]){ 0, 0, 0.5, 1 });
	encoding_is(&encoding, first, (double[]){ 1, 0, 0, 0 });
	encoding_is(&encoding, last, (double[]){ 0.5, 0, 1, 0 });
	encoding_is(&encoding, not_counted, (double[]){ 0.5, 1, 0.5, 2 });
	encoding_release(&encoding);
	space_release(&space);
}

/* A sixth of the runs of the genetic search. bench/search.c tries 100 seeds. */
static void toy_stack_is_solved_in_a_hundred_runs(void)
{
	struct space space;

	toy_space(&space);
	for (uint64_t seed = 1; seed <= 3; seed++) {
		struct toy_course course = toy_search(&space, "bayesian", NULL, seed, 100, true);

		CHECK(course.near > 0);
	}
	space_release(&space);
}

/* The lowest cost of all points that do not fail. */
static double least_below(const struct space *space, size_t factor)
{
	size_t point[TOY_DIMENSIONS];
	double least = INFINITY;

	for (uint64_t i = 0; i < TOY_POINTS; i++) {
		space_point(space, i, point);
		if (point[TOY_FACTOR] < factor)
			least = fmin(least, toy_cost(point));
	}
	return least;
}

/* The better half of the space fails. The rest is searched up to the edge, where 24 of 32 stripes
 * cost 18 % more. */
static void failures_are_learned_and_avoided(void)
{
	size_t point[TOY_DIMENSIONS], failed = 0;
	double cost, best = INFINITY;
	struct search *search;
	struct space space;

	toy_space(&space);
	REQUIRE(search_new(&search, "bayesian", "runs=50", &space, 2, NULL) == 0);
	while (search_ask(search, point)) {
		bool fails = point[TOY_FACTOR] >= 5;

		failed += fails;
		cost = fails ? INFINITY : toy_cost(point);
		best = fmin(best, cost);
		search_tell(search, point, cost);
	}
	CHECK(failed <= 15);
	CHECK(best < 1.2 * least_below(&space, 5));
	search_free(search);
	space_release(&space);
}

/* The space is too large to evaluate each point: random points and neighbors are used. */
static void large_spaces_are_sampled(void)
{
	size_t point[6];
	double cost, best = INFINITY;
	struct search *search;
	struct space space;
	struct err err = { 0 };

	toy_space(&space);
	toy_require(space_add(&space, "ind_wr_buffer_size", toy_units, NULL, &err), &err);
	toy_require(space_add(&space, "ind_rd_buffer_size", toy_units, NULL, &err), &err);
	CHECK(space_points(&space) > 800000);
	REQUIRE(search_new(&search, "bayesian", "runs=40", &space, 2, NULL) == 0);
	while (search_ask(search, point)) {
		cost = toy_cost(point) * (1 + 0.1 * fabs((double)point[4] - 3));
		best = fmin(best, cost);
		search_tell(search, point, cost);
	}
	CHECK_INT(search_get_counts(search).asked, 40);
	CHECK_INT(search_get_counts(search).measured, 40);
	CHECK(best < 1.5 * TOY_BEST);
	search_free(search);
	space_release(&space);
}

/* Points that are known before are learned and not asked. */
static void known_points_are_learned(void)
{
	struct surrogate surrogate;
	struct space space;
	size_t good[3] = { 1, 0, 2 }, bad[3] = { 0, 1, 0 }, lost[3] = { 2, 1, 0 };
	double row[4], mean;

	mixed_space(&space);
	surrogate_init(&surrogate, &space);
	CHECK(surrogate_fit(&surrogate, 1, NULL) < 0);
	surrogate_add(&surrogate, good, 1);
	surrogate_add(&surrogate, bad, 8);
	surrogate_add(&surrogate, lost, INFINITY);
	CHECK(surrogate_has(&surrogate, good) && surrogate_has(&surrogate, lost));
	CHECK(!surrogate_has(&surrogate, (size_t[]){ 1, 0, 1 }));
	CHECK_INT(surrogate_best(&surrogate), 0);
	REQUIRE(surrogate_fit(&surrogate, 1, NULL) == 0);
	encoding_row(&surrogate.encoding, lost, row, 1);
	gaussian_predict(&surrogate.gaussian, row, &mean, NULL, false);
	CHECK(mean > log(4));
	surrogate_release(&surrogate);
	space_release(&space);
}

TESTS(TEST(points_become_places_and_categories), TEST(toy_stack_is_solved_in_a_hundred_runs),
      TEST(failures_are_learned_and_avoided), TEST(large_spaces_are_sampled),
      TEST(known_points_are_learned))
