/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The interface of the searches, and what all methods have in common.
 */
#include "tune/search/search.h"

#include <errno.h>
#include <math.h>

#include "base/mem.h"
#include "check.h"
#include "toy_stack.h"

static const char *const off_on[] = { "enable", "disable", NULL };
static const char *const enable[] = { "enable", NULL };
static const char *const few_nodes[] = { "", "1", "2", "4", NULL };
static const char *const few_units[] = { "1M", "2M", "4M", NULL };

/* 3 x (1 + 4) distinct points of 3 x 2 x 4 numbers. */
static void small_space(struct space *space)
{
	struct err err = { 0 };

	*space = (struct space){ 0 };
	toy_require(space_add(space, "striping_unit", few_units, NULL, &err), &err);
	toy_require(space_add(space, "romio_cb_write", off_on, NULL, &err), &err);
	toy_require(space_add(space, "cb_nodes", few_nodes, NULL, &err), &err);
	toy_require(space_when(space, "cb_nodes", "romio_cb_write", enable, &err), &err);
}

static double small_cost(const size_t *point)
{
	return 1 + fabs((double)point[0] - 1) + (double)point[1] + fabs((double)point[2] - 2);
}

static void toy_stack_has_the_expected_costs(void)
{
	struct space space;
	AUTO_FREE double *costs = xcalloc(TOY_POINTS, sizeof(*costs));
	size_t point[TOY_DIMENSIONS], below = 0;
	double least = INFINITY;

	toy_space(&space);
	CHECK_INT(space_points(&space), TOY_POINTS);
	for (uint64_t i = 0; i < TOY_POINTS; i++) {
		space_point(&space, i, point);
		CHECK(space_allows(&space, point));
		costs[i] = toy_cost(point);
		least = fmin(least, costs[i]);
		below += costs[i] < TOY_MEDIAN;
	}
	CHECK(fabs(least - TOY_BEST) < 5e-5);
	CHECK(below >= TOY_POINTS / 2 - 2 && below <= TOY_POINTS / 2 + 2);
	space_release(&space);
}

/* The model search needs a prior: here the true cost. */
static double small_prior(void *arg, const size_t *point)
{
	(void)arg;
	return small_cost(point);
}

static double toy_prior(void *arg, const size_t *point)
{
	(void)arg;
	return toy_cost(point);
}

static struct search *search_any(const char *name, const char *settings, const struct space *space,
				 double (*cost)(void *, const size_t *), uint64_t seed)
{
	static struct search_prior prior;
	bool wants = strcmp(name, "model") == 0;
	struct search *search;

	prior.cost = cost;
	REQUIRE(search_new_with_prior(&search, name, wants ? settings : NULL, space,
				      wants ? &prior : NULL, seed, NULL) == 0);
	return search;
}

/* Each point of each method is settled, allowed, and was not asked before. */
static void no_point_is_measured_twice(void)
{
	struct space space;

	small_space(&space);
	for (size_t m = 0; searches[m]; m++) {
		bool seen[24] = { false };
		size_t point[3], settled[3], measured = 0;
		struct search *search;

		search = search_any(searches[m]->name, NULL, &space, small_prior, 3);
		space_default(&space, point);
		search_know(search, point, small_cost(point));
		seen[space_number(&space, point)] = true;
		while (search_ask(search, point)) {
			uint64_t number = space_number(&space, point);

			memcpy(settled, point, sizeof(settled));
			space_settle(&space, settled);
			CHECK(memcmp(settled, point, sizeof(settled)) == 0);
			CHECK(space_allows(&space, point));
			CHECK(!seen[number]);
			seen[number] = true;
			measured++;
			search_tell(search, point, small_cost(point));
		}
		CHECK_INT(search_get_counts(search).measured, measured);
		CHECK(search_get_counts(search).asked >= measured);
		/* With 15 points every method finds the best. */
		CHECK(measured <= 14);
		double cost = 0;
		CHECK(search_best(search, point, &cost) && cost == 1);
		CHECK_INT(space_number(&space, point), 1 * 8 + 0 * 4 + 2);
		search_free(search);
	}
	space_release(&space);
}

/* The same course twice; then interrupted after 20 points and restored. */
static void course_check(const char *name, const struct space *space)
{
	enum { RUNS = 40 };
	uint64_t asked[RUNS], count = 0;

	for (int round = 0; round < 2; round++) {
		struct search *search;
		size_t point[TOY_DIMENSIONS];
		uint64_t at = 0;

		search = search_any(name, "top=40", space, toy_prior, 7);
		for (; at < RUNS && search_ask(search, point); at++) {
			uint64_t number = space_number(space, point);

			if (round)
				CHECK(at < count && asked[at] == number);
			asked[at] = number;
			/* Every fifth point fails. */
			search_tell(search, point, at % 5 == 4 ? INFINITY : toy_cost(point));
		}
		CHECK(!round || at == count);
		count = at;
		search_free(search);
	}
	CHECK_INT(count, RUNS);
}

static void same_seed_and_costs_give_the_same_course(void)
{
	struct space space;

	toy_space(&space);
	for (size_t m = 0; searches[m]; m++)
		course_check(searches[m]->name, &space);
	space_release(&space);
}

static void other_seeds_give_other_courses(void)
{
	static const char *const names[] = { "genetic", "random", "annealing", "bayesian" };
	struct space space;

	toy_space(&space);
	for (size_t m = 0; m < sizeof(names) / sizeof(names[0]); m++) {
		size_t first[2][TOY_DIMENSIONS];

		for (uint64_t seed = 0; seed < 2; seed++) {
			struct search *search;

			REQUIRE(search_new(&search, names[m], NULL, &space, seed, NULL) == 0);
			REQUIRE(search_ask(search, first[seed]));
			search_free(search);
		}
		CHECK(memcmp(first[0], first[1], sizeof(first[0])) != 0);
	}
	space_release(&space);
}

static void failures_are_never_the_best(void)
{
	struct space space;

	small_space(&space);
	for (size_t m = 0; searches[m]; m++) {
		size_t point[3];
		struct search *search;
		double cost;

		search = search_any(searches[m]->name, NULL, &space, small_prior, 3);
		while (search_ask(search, point))
			search_tell(search, point, searches[m]->name[0] == 'r' ? NAN : INFINITY);
		CHECK(!search_best(search, point, &cost));
		CHECK(search_get_counts(search).measured > 0);
		search_free(search);
	}
	space_release(&space);
}

static void errors_list_the_valid_names(void)
{
	struct space space;
	struct search *search = NULL;
	struct err err;

	small_space(&space);
	CHECK_INT(search_new(&search, "clever", NULL, &space, 1, &err), -ENOENT);
	CHECK_WORDS(err.text, "'clever'|bayesian|genetic|annealing|random|exhaustive|model");
	CHECK_INT(search_new(&search, "random", "draw=3", &space, 1, &err), -EINVAL);
	CHECK_WORDS(err.text, "random|'draw'|draws|replacement");
	CHECK_INT(search_new(&search, "exhaustive", "draws=3", &space, 1, &err), -EINVAL);
	CHECK_WORDS(err.text, "exhaustive|'draws'");
	CHECK_INT(search_new(&search, "genetic", "population=15,mutation", &space, 1, &err),
		  -EINVAL);
	CHECK_WORDS(err.text, "genetic|mutation|number|mutation=0.15");
	CHECK_INT(search_new(&search, "genetic", "population=1.5", &space, 1, &err), -EINVAL);
	CHECK_WORDS(err.text, "genetic|population|whole number|2 to 10000");
	CHECK_INT(search_new(&search, "genetic", "mutation=", &space, 1, &err), -EINVAL);
	CHECK_INT(search_new(&search, "genetic", "mutation=nan", &space, 1, &err), -EINVAL);
	CHECK_INT(search_new(&search, "genetic", "mutation=0.1x,elite=1", &space, 1, &err),
		  -EINVAL);
	CHECK_WORDS(err.text, "genetic|mutation|number|0 to 1");
	CHECK(search == NULL);
	space_release(&space);
}

/* 12^32 points cannot be numbered. */
static void uncountable_spaces_are_searched(void)
{
	static const char *const names[] = { "genetic", "random", "annealing", "bayesian" };
	struct space space = { 0 };
	struct err err = { 0 };
	struct search *search;

	for (int i = 0; i < SPACE_DIMENSIONS; i++) {
		AUTO_FREE char *file = xprintf("file%d", i);

		toy_require(space_add_for(&space, "cb_nodes", toy_nodes, NULL, file, NULL, &err),
			    &err);
	}
	CHECK_INT(space_points(&space), 0);
	CHECK_INT(search_new(&search, "exhaustive", NULL, &space, 1, &err), -E2BIG);
	CHECK(strstr(err.text, "too many points"));
	for (size_t m = 0; m < sizeof(names) / sizeof(names[0]); m++) {
		const char *settings = m == 3 ? "first=8,runs=10" : NULL;
		size_t point[SPACE_DIMENSIONS], count = 0;

		REQUIRE(search_new(&search, names[m], settings, &space, 1, NULL) == 0);
		for (; count < 10 && search_ask(search, point); count++) {
			double sum = 1;

			for (size_t d = 0; d < space.count; d++)
				sum += (double)point[d];
			search_tell(search, point, sum);
		}
		CHECK_INT(count, 10);
		search_free(search);
	}
	space_release(&space);
}

TESTS(TEST(toy_stack_has_the_expected_costs), TEST(no_point_is_measured_twice),
      TEST(same_seed_and_costs_give_the_same_course), TEST(other_seeds_give_other_courses),
      TEST(failures_are_never_the_best), TEST(errors_list_the_valid_names),
      TEST(uncountable_spaces_are_searched))
