/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The genetic search of H5Evolve (Behzad et al. 2013) with the numbers of the paper. Where the
 * paper gives none: tournaments of four, one-point crossover and one elite. The framework that the
 * paper used selects by rank in another way. A genome is the list of indices of a point.
 *
 * Points that are known before the start (the baseline) are individuals of the first population.
 * Papers: GA-1, GA-3, GA-5.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "learn/math/random.h"
#include "params/space.h"
#include "tune/search/draw.h"
#include "tune/search/search.h"

enum { POPULATION, GENERATIONS, MUTATION, PER_GENE, CROSSOVER, PRESSURE, ELITE };

static const struct search_setting genetic_settings[] = {
	[POPULATION] = { "population", 15, 2, 10000, true, "individuals per generation" },
	[GENERATIONS] = { "generations", 40, 1, 100000, true, "generations, including the first" },
	[MUTATION] = { "mutation", 0.15, 0, 1, false, "probability of a mutation" },
	[PER_GENE] = { "per_gene", 1, 0, 1, true, "1: mutation is per gene, 0: per individual" },
	[CROSSOVER] = { "crossover", 0.9, 0, 1, false, "probability that a pair exchanges genes" },
	[PRESSURE] = { "pressure", 4, 1, 100, true,
		       "tournament size: a parent is the best of this many drawn" },
	[ELITE] = { "elite", 1, 0, 100, true, "best individuals that survive" },
	{ 0 }
};

struct genetic {
	const struct space *space;
	double settings[SEARCH_SETTINGS];
	struct random random;
	size_t width, individuals, elite;
	size_t *genomes, *children; /* individuals x width */
	double *costs;		    /* per individual */
	size_t *order;		    /* individuals, the best first */
	size_t asked;		    /* the individual whose cost is awaited */
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
	size_t individuals = (size_t)settings[POPULATION];

	(void)prior;
	(void)err;
	genetic->space = space;
	genetic->width = space->count;
	genetic->individuals = individuals;
	genetic->elite = (size_t)fmin(settings[ELITE], (double)individuals - 1);
	memcpy(genetic->settings, settings, sizeof(genetic->settings));
	random_init(&genetic->random, seed);
	genetic->genomes = xcalloc(individuals * space->count + 1, sizeof(size_t));
	genetic->children = xcalloc(individuals * space->count + 1, sizeof(size_t));
	genetic->costs = xcalloc(individuals, sizeof(double));
	genetic->order = xcalloc(individuals, sizeof(size_t));
	for (size_t i = 0; i < individuals; i++)
		draw_point(space, &genetic->random, genome(genetic, i));
	*state = genetic;
	return 0;
}

static void sort_by_cost(struct genetic *genetic)
{
	const double *costs = genetic->costs;

	/* Insertion sort: equal costs keep their order, and populations are small. */
	for (size_t i = 0; i < genetic->individuals; i++) {
		size_t at = i;

		for (; at && costs[genetic->order[at - 1]] > costs[i]; at--)
			genetic->order[at] = genetic->order[at - 1];
		genetic->order[at] = i;
	}
}

/* Selects by rank only, not by the distance in cost: the best of a tournament. */
static const size_t *select_parent(struct genetic *genetic)
{
	size_t rank = genetic->individuals, draws = (size_t)genetic->settings[PRESSURE];

	for (size_t i = 0; i < draws; i++) {
		size_t drawn = random_below(&genetic->random, genetic->individuals);

		rank = drawn < rank ? drawn : rank;
	}
	return genome(genetic, genetic->order[rank]);
}

/* One-point crossover, at a point that gives both children genes of both parents. */
static void cross_pair(struct genetic *genetic, size_t *one, size_t *other)
{
	const size_t *mother = select_parent(genetic), *father = select_parent(genetic);
	size_t width = genetic->width, cut = width;

	if (width > 1 && random_real(&genetic->random) < genetic->settings[CROSSOVER])
		cut = 1 + random_below(&genetic->random, width - 1);
	for (size_t i = 0; i < width; i++) {
		one[i] = i < cut ? mother[i] : father[i];
		other[i] = i < cut ? father[i] : mother[i];
	}
}

static void mutate_child(struct genetic *genetic, size_t *child)
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

static void breed_generation(struct genetic *genetic)
{
	size_t width = genetic->width, *swap;
	size_t spare[SPACE_DIMENSIONS] = { 0 };

	sort_by_cost(genetic);
	for (size_t i = genetic->elite; i < genetic->individuals; i += 2) {
		size_t *one = genetic->children + i * width;
		size_t *other = i + 1 < genetic->individuals ? one + width : spare;

		cross_pair(genetic, one, other);
		mutate_child(genetic, one);
		mutate_child(genetic, other);
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
	if (genetic->asked < genetic->individuals)
		return;
	genetic->asked = 0;
	if (++genetic->generation < (uint64_t)genetic->settings[GENERATIONS])
		breed_generation(genetic);
}

/* Called before the first ask: fills the first population from its front. */
static void genetic_know(void *state, const size_t *point, double cost)
{
	struct genetic *genetic = state;

	if (genetic->generation)
		return;
	genetic_tell(state, point, cost);
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
	.help = "genetic algorithm of H5Evolve: crossover and mutation",
	.settings = genetic_settings,
	.start = genetic_start,
	.ask = genetic_ask,
	.tell = genetic_tell,
	.know = genetic_know,
	.stop = genetic_stop,
};
