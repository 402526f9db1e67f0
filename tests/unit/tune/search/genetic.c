/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: GA-1, GA-3, GA-5, GA-13, GA-AC-1.
 */
#include <math.h>

#include "base/mem.h"
#include "learn/math/random.h"
#include "papers.h"
#include "toy_search.h"

/* Asks the method itself, so that repeated points are seen, too. */
static void six_hundred_points_are_asked_and_the_best_survives(void)
{
	double settings[SEARCH_SETTINGS] = { 0 }, best = INFINITY;
	struct space space;
	void *state;
	size_t point[TOY_DIMENSIONS];
	uint64_t asked = 0;

	toy_space(&space);
	for (size_t i = 0; search_genetic.settings[i].name; i++)
		settings[i] = search_genetic.settings[i].initial;
	REQUIRE(search_genetic.start(&state, &space, NULL, settings, 1, NULL) == 0);
	for (uint64_t generation = 0; generation < 40; generation++) {
		double least = INFINITY;

		for (int i = 0; i < 15; i++) {
			REQUIRE(search_genetic.ask(state, point) == 1);
			asked++;
			least = fmin(least, toy_cost(point));
			search_genetic.tell(state, point, toy_cost(point));
		}
		/* With an elite, the best of a generation is the best of all so far. */
		CHECK(least <= best);
		best = least;
	}
	CHECK(search_genetic.ask(state, point) == 0);
	CHECK_INT(asked, 600);
	search_genetic.stop(state);
	space_release(&space);
}

/* Was the point in the previous generation? */
static bool is_clone(const size_t *individuals, size_t count, const size_t *point)
{
	for (size_t i = 0; i < count; i++)
		if (memcmp(individuals + i * TOY_DIMENSIONS, point,
			   TOY_DIMENSIONS * sizeof(*point)) == 0)
			return true;
	return false;
}

/* Without crossover a child equals its parent unless it is mutated. Returns the share of children
 * that are not among the parents: a mutant rarely is. */
static double mutants_share(const char *settings_text, double per_gene)
{
	enum { PEOPLE = 200, GENERATIONS = 30 };
	double settings[SEARCH_SETTINGS] = { PEOPLE, GENERATIONS, 0.15, per_gene, 0, 1, 0 };
	AUTO_FREE size_t *individuals = xcalloc(PEOPLE * TOY_DIMENSIONS, sizeof(*individuals));
	AUTO_FREE size_t *children = xcalloc(PEOPLE * TOY_DIMENSIONS, sizeof(*children));
	size_t mutants = 0;
	struct random random;
	struct space space;
	void *state;

	CHECK_TEXT(search_genetic.settings[6].name, settings_text);
	toy_space(&space);
	random_init(&random, 5);
	REQUIRE(search_genetic.start(&state, &space, NULL, settings, 11, NULL) == 0);
	for (int g = 0; g < GENERATIONS; g++) {
		for (size_t i = 0; i < PEOPLE; i++) {
			size_t *child = children + i * TOY_DIMENSIONS;

			REQUIRE(search_genetic.ask(state, child) == 1);
			mutants += g && !is_clone(individuals, PEOPLE, child);
			/* Random costs, so that there is no selection. */
			search_genetic.tell(state, child, random_real(&random));
		}
		memcpy(individuals, children, PEOPLE * TOY_DIMENSIONS * sizeof(*individuals));
	}
	search_genetic.stop(state);
	space_release(&space);
	return (double)mutants / (PEOPLE * (GENERATIONS - 1));
}

/* Of 5,800 children: the standard deviation is 0.0047. */
static void mutation_touches_one_in_seven(void)
{
	double share = mutants_share("elite", 0);

	PAPER_HOLDS("GA-AC-6", share > 0.15 - 0.015 && share < 0.15 + 0.01, "%.1f %%", 100 * share);
	/* With four genes each: 1 - 0.85^4. */
	share = mutants_share("elite", 1);
	CHECK(share > 0.478 - 0.03 && share < 0.478 + 0.02);
}

/* The settings were chosen with the seeds up to 2000, so these are others. */
static void toy_stack_is_solved(void)
{
	size_t individual = 0, gene = 0, chance = 0;
	struct space space;

	toy_space(&space);
	for (uint64_t seed = 10001; seed <= 10100; seed++) {
		struct toy_course a = toy_search(&space, "genetic", "per_gene=0", seed, 600, false);
		struct toy_course b = toy_search(&space, "genetic", "per_gene=1", seed, 600, false);
		struct toy_course c =
			toy_search(&space, "random", "draws=600,replacement=1", seed, 600, false);

		individual += a.near > 0;
		gene += b.near > 0;
		chance += c.near > 0;
		CHECK(a.counts.asked <= 600 && b.counts.asked <= 600 && c.counts.asked == 600);
	}
	PAPER_HOLDS("GA-AC-3", individual >= 75 && gene >= 95 && chance < individual,
		    "toy stack, of 100 new seeds: per individual %zu, per gene %zu, random %zu",
		    individual, gene, chance);
	space_release(&space);
}

/* Known points are used, as nothing better may be found. */
static void known_points_are_in_the_first_generation(void)
{
	struct space space;
	struct search *search;
	size_t best[TOY_DIMENSIONS] = { 9, 5, 8, 0 }, point[TOY_DIMENSIONS], close = 0;

	toy_space(&space);
	REQUIRE(search_new(&search, "genetic", "per_gene=0,generations=3", &space, 1, NULL) == 0);
	search_know(search, best, toy_cost(best));
	for (size_t i = 0; search_ask(search, point); i++) {
		size_t alike = 0;

		for (size_t d = 0; d < TOY_DIMENSIONS; d++)
			alike += point[d] == best[d];
		close += alike >= 2;
		CHECK(i >= 14 || search_get_counts(search).asked == i + 1);
		search_tell(search, point, toy_cost(point));
	}
	CHECK(close >= 5);
	search_free(search);
	space_release(&space);
}

TESTS(TEST(six_hundred_points_are_asked_and_the_best_survives), TEST(mutation_touches_one_in_seven),
      TEST(toy_stack_is_solved), TEST(known_points_are_in_the_first_generation))
