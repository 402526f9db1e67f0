/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The genetic search of H5Evolve (Behzad et al. 2013) with the numbers of the paper and, where it
 * gives none, those of the framework it was built on: rank selection, one-point crossover, one
 * elite. A genome is the list of indices of a point.
 *
 * What is known before the start (the default configuration) takes places of the first population:
 * it was measured anyway.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "learn/maths/random.h"
#include "params/space.h"
#include "tune/search/draw.h"
#include "tune/search/search.h"

enum { POPULATION, GENERATIONS, MUTATION, PER_GENE, CROSSOVER, PRESSURE, ELITE };

static const struct search_setting genetic_settings[] = {
	[POPULATION] = { "population", 15, 2, 10000, true, "individuals of a generation" },
	[GENERATIONS] = { "generations", 40, 1, 100000, true, "generations, the first included" },
	[MUTATION] = { "mutation", 0.15, 0, 1, false, "chance of a change" },
	[PER_GENE] = { "per_gene", 1, 0, 1, true,
		       "1: that chance is of every gene, 0: of every individual" },
	[CROSSOVER] = { "crossover", 0.9, 0, 1, false, "chance that a pair exchanges genes" },
	[PRESSURE] = { "pressure", 4, 1, 100, true,
		       "a parent is the best in rank of so many that are drawn" },
	[ELITE] = { "elite", 1, 0, 100, true, "best individuals that live on" },
	{ 0 }
};

struct genetic {
	const struct space *space;
	double settings[SEARCH_SETTINGS];
	struct random random;
	size_t width, people, elite;
	size_t *genomes, *children; /* people x width */
	double *costs;		    /* per individual */
	size_t *order;		    /* individuals, the best first */
	size_t asked;		    /* the one whose cost is awaited */
	uint64_t generation;
};

static size_t *genome(const struct genetic *genetic, size_t individual)
{
	return genetic->genomes + individual * genetic->width;
}

static int genetic_start(void **state, const struct space *space, const struct search_prior *prior,
			 const double *settings, uint64_t seed, struct err *err)
{
	struct genetic *genetic = xcalloc(1, sizeof(*genetic));
	size_t people = (size_t)settings[POPULATION];

	(void)prior;
	(void)err;
	genetic->space = space;
	genetic->width = space->count;
	genetic->people = people;
	genetic->elite = (size_t)fmin(settings[ELITE], (double)people - 1);
	memcpy(genetic->settings, settings, sizeof(genetic->settings));
	random_init(&genetic->random, seed);
	genetic->genomes = xcalloc(people * space->count + 1, sizeof(size_t));
	genetic->children = xcalloc(people * space->count + 1, sizeof(size_t));
	genetic->costs = xcalloc(people, sizeof(double));
	genetic->order = xcalloc(people, sizeof(size_t));
	for (size_t i = 0; i < people; i++)
		draw_point(space, &genetic->random, genome(genetic, i));
	*state = genetic;
	return 0;
}

/* ---- the next generation ---- */

static void order_make(struct genetic *genetic)
{
	const double *costs = genetic->costs;

	/* By insertion: equal costs keep their order, and populations are small. */
	for (size_t i = 0; i < genetic->people; i++) {
		size_t at = i;

		for (; at && costs[genetic->order[at - 1]] > costs[i]; at--)
			genetic->order[at] = genetic->order[at - 1];
		genetic->order[at] = i;
	}
}

/* By rank only, whatever the distance in cost: the best of so many that are drawn. */
static const size_t *parent_select(struct genetic *genetic)
{
	size_t rank = genetic->people, draws = (size_t)genetic->settings[PRESSURE];

	for (size_t i = 0; i < draws; i++) {
		size_t drawn = random_below(&genetic->random, genetic->people);

		rank = drawn < rank ? drawn : rank;
	}
	return genome(genetic, genetic->order[rank]);
}

/* One point, so that both get genes of both. */
static void pair_make(struct genetic *genetic, size_t *one, size_t *other)
{
	const size_t *mother = parent_select(genetic), *father = parent_select(genetic);
	size_t width = genetic->width, cut = width;

	if (width > 1 && random_real(&genetic->random) < genetic->settings[CROSSOVER])
		cut = 1 + random_below(&genetic->random, width - 1);
	for (size_t i = 0; i < width; i++) {
		one[i] = i < cut ? mother[i] : father[i];
		other[i] = i < cut ? father[i] : mother[i];
	}
}

static void child_mutate(struct genetic *genetic, size_t *child)
{
	double chance = genetic->settings[MUTATION];

	if (genetic->settings[PER_GENE] == 0) {
		if (random_real(&genetic->random) < chance)
			draw_change(genetic->space, &genetic->random, false, child);
		return;
	}
	for (size_t i = 0; i < genetic->width; i++)
		if (random_real(&genetic->random) < chance)
			draw_value(genetic->space, &genetic->random, false, i, child);
}

static void generation_breed(struct genetic *genetic)
{
	size_t width = genetic->width, *swap;
	size_t spare[SPACE_DIMENSIONS] = { 0 };

	order_make(genetic);
	for (size_t i = genetic->elite; i < genetic->people; i += 2) {
		size_t *one = genetic->children + i * width;
		size_t *other = i + 1 < genetic->people ? one + width : spare;

		pair_make(genetic, one, other);
		child_mutate(genetic, one);
		child_mutate(genetic, other);
	}
	for (size_t i = 0; i < genetic->elite; i++)
		memcpy(genetic->children + i * width, genome(genetic, genetic->order[i]),
		       width * sizeof(size_t));
	swap = genetic->genomes;
	genetic->genomes = genetic->children;
	genetic->children = swap;
}

static int genetic_ask(void *state, size_t *point)
{
	struct genetic *genetic = state;

	if (genetic->generation >= (uint64_t)genetic->settings[GENERATIONS])
		return 0;
	memcpy(point, genome(genetic, genetic->asked), genetic->width * sizeof(*point));
	return 1;
}

static void genetic_tell(void *state, const size_t *point, double cost)
{
	struct genetic *genetic = state;

	memcpy(genome(genetic, genetic->asked), point, genetic->width * sizeof(*point));
	genetic->costs[genetic->asked++] = cost;
	if (genetic->asked < genetic->people)
		return;
	genetic->asked = 0;
	if (++genetic->generation < (uint64_t)genetic->settings[GENERATIONS])
		generation_breed(genetic);
}

/* Comes before the first question; the places from the front are taken in turn. */
static void genetic_know(void *state, const size_t *point, double cost)
{
	struct genetic *genetic = state;

	if (genetic->generation)
		return;
	genetic_tell(state, point, cost);
}

static uint64_t genetic_planned(const void *state)
{
	const struct genetic *genetic = state;

	return genetic->people * (uint64_t)genetic->settings[GENERATIONS];
}

static void genetic_stop(void *state)
{
	struct genetic *genetic = state;

	free(genetic->genomes);
	free(genetic->children);
	free(genetic->costs);
	free(genetic->order);
	free(genetic);
}

const struct search_ops search_genetic = {
	.name = "genetic",
	.help = "generations of points that are crossed and mutated, as H5Evolve does",
	.settings = genetic_settings,
	.start = genetic_start,
	.ask = genetic_ask,
	.tell = genetic_tell,
	.know = genetic_know,
	.planned = genetic_planned,
	.stop = genetic_stop,
};
