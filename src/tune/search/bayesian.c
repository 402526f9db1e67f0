/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Bayesian optimization (Jones, Schonlau and Welch 1998). After an initial design that fills the
 * space evenly, each point is the one with the highest expected improvement under a Gaussian
 * process fitted to all trials. In a small space all points are candidates; in a large one, random
 * points and the neighbors of the best trials. A prior is the mean of the process and determines
 * the first points.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "learn/math/library.h"
#include "learn/math/random.h"
#include "params/space.h"
#include "tune/search/draw.h"
#include "tune/search/search.h"
#include "tune/search/surrogate.h"

enum { RUNS, FIRST, EXPLORE };

static const struct search_setting bayesian_settings[] = {
	[RUNS] = { "runs", 100, 1, 1000, true, "most points to try" },
	[FIRST] = { "first", 0, 0, 1000, true,
		    "points of the initial design; 0: two per dimension and at least 6, or 3 with "
		    "a "
		    "model" },
	[EXPLORE] = { "explore", 2, 0, 1000, true,
		      "every N points, try one with a value not tried before; 0: never" },
	{ 0 }
};

/* Sizes of the pool of candidates. */
enum {
	POOL_MOST = 30000,     /* points of a space that is evaluated as a whole */
	POOL_NUMBERS = 300000, /* likewise, before equivalent points are merged */
	POOL_RANDOM = 3000,    /* random points of a larger space */
	POOL_BEST = 5,	       /* best trials whose neighbors are added */
	FIRST_MIN = 6,	       /* initial design without a prior */
	FIRST_INFORMED = 3,    /* and with one */
	DRAW_ATTEMPTS = 100,   /* for a design point that is new and allowed */
};

/* Candidates for the next point. */
struct pool {
	size_t count, cap, points_cap;
	size_t *points; /* count x dimensions */
	bool *is_known;
	double *x; /* width x count: input i of point p at x[i * count + p] */
	double *mean, *deviation;
	double *expected; /* logarithm of the prior; NULL: there is no prior */
};

struct bayesian {
	const struct space *space;
	struct surrogate surrogate;
	struct random random;
	uint64_t seed, runs, asked, explore;
	size_t first;	/* length of the design */
	size_t *design; /* first x dimensions; NULL: not made yet */
	struct pool pool;
	bool is_whole; /* the pool is the whole space */
	/* Per value of all dimensions, at firsts[d] + v. */
	bool *explored; /* it was tried because it was new */
	bool *tried;	/* explored, or part of a good trial */
	size_t firsts[SPACE_DIMENSIONS + 1];
	bool explores; /* the last point was chosen for a new value */
};

static void pool_release(struct pool *pool)
{
	free(pool->points);
	free(pool->is_known);
	free(pool->x);
	free(pool->mean);
	free(pool->deviation);
	free(pool->expected);
	*pool = (struct pool){ 0 };
}

static void pool_add(struct pool *pool, const size_t *point, size_t dimensions)
{
	pool->points = xgrow(pool->points, &pool->points_cap, (pool->count + 1) * dimensions,
			     sizeof(*pool->points));
	memcpy(pool->points + pool->count * dimensions, point, dimensions * sizeof(*point));
	pool->count++;
}

/* Call after the last point was added. */
static void pool_encode(struct pool *pool, const struct surrogate *surrogate)
{
	const struct encoding *encoding = &surrogate->encoding;
	size_t dimensions = encoding->space->count;

	pool->is_known = xcalloc(pool->count + 1, sizeof(bool));
	pool->x = xcalloc(pool->count * encoding->width + 1, sizeof(double));
	pool->mean = xcalloc(pool->count + 1, sizeof(double));
	pool->deviation = xcalloc(pool->count + 1, sizeof(double));
	if (surrogate->prior)
		pool->expected = xcalloc(pool->count + 1, sizeof(double));
	for (size_t p = 0; p < pool->count; p++) {
		const size_t *point = pool->points + p * dimensions;

		encoding_row(encoding, point, pool->x + p, pool->count);
		pool->is_known[p] = surrogate_has(surrogate, point);
		if (pool->expected)
			pool->expected[p] = surrogate_expects(surrogate, point);
	}
}

/* Adds all points of the space. False: there are too many, and the pool is empty. */
static bool pool_fill(struct pool *pool, const struct space *space)
{
	uint64_t points = space_points(space);
	size_t point[SPACE_DIMENSIONS];

	if (!points || points > POOL_NUMBERS)
		return false;
	for (uint64_t i = 0; i < points; i++) {
		space_point(space, i, point);
		space_settle(space, point);
		if (space_number(space, point) != i || !space_allows(space, point))
			continue;
		if (pool->count == POOL_MOST) {
			pool_release(pool);
			return false;
		}
		pool_add(pool, point, space->count);
	}
	return true;
}

static void pool_add_new(struct pool *pool, const struct surrogate *surrogate, const size_t *point)
{
	if (!surrogate_has(surrogate, point))
		pool_add(pool, point, surrogate->encoding.space->count);
}

/* Adds the points that differ in one value. */
static void pool_add_neighbors(struct pool *pool, const struct surrogate *surrogate,
			       const size_t *from)
{
	const struct space *space = surrogate->encoding.space;
	size_t point[SPACE_DIMENSIONS];

	for (size_t d = 0; d < space->count; d++) {
		for (size_t v = 0; v < space->dimensions[d].count; v++) {
			memcpy(point, from, space->count * sizeof(*point));
			point[d] = v;
			space_settle(space, point);
			if (space_allows(space, point))
				pool_add_new(pool, surrogate, point);
		}
	}
}

/* Finds the indices of the best trials, the best first. Returns their number. */
static size_t find_best_trials(const struct surrogate *surrogate, size_t *best, size_t most)
{
	size_t count = 0;

	for (size_t i = 0; i < surrogate->count; i++) {
		size_t at = count < most ? count++ : most;

		for (; at && surrogate->costs[best[at - 1]] > surrogate->costs[i]; at--)
			if (at < most)
				best[at] = best[at - 1];
		if (at < most)
			best[at] = i;
	}
	return count;
}

/* Draws a new sample of a large space. */
static void pool_sample(struct bayesian *bayesian)
{
	struct pool *pool = &bayesian->pool;
	size_t best[POOL_BEST], count = find_best_trials(&bayesian->surrogate, best, POOL_BEST);
	size_t point[SPACE_DIMENSIONS], dimensions = bayesian->space->count;

	pool_release(pool);
	for (size_t i = 0; i < POOL_RANDOM; i++) {
		draw_point(bayesian->space, &bayesian->random, point);
		pool_add_new(pool, &bayesian->surrogate, point);
	}
	for (size_t i = 0; i < count; i++)
		pool_add_neighbors(pool, &bayesian->surrogate,
				   bayesian->surrogate.points + best[i] * dimensions);
	pool_encode(pool, &bayesian->surrogate);
}

/* Latin hypercube: each dimension is cut into as many parts as there are points, and each part is
 * used once. */
static void fill_design_column(struct bayesian *bayesian, size_t dimension, size_t *order)
{
	size_t n = bayesian->first, values = bayesian->space->dimensions[dimension].count;

	for (size_t i = 0; i < n; i++)
		order[i] = i;
	random_shuffle(&bayesian->random, order, n);
	for (size_t i = 0; i < n; i++) {
		double part = ((double)order[i] + random_real(&bayesian->random)) / (double)n;

		bayesian->design[i * bayesian->space->count + dimension] =
			(size_t)(part * (double)values);
	}
}

/* Sorts the design by the prior, the best first; points without an estimate come last. */
static void sort_design_by_prior(struct bayesian *bayesian)
{
	size_t dimensions = bayesian->space->count, row[SPACE_DIMENSIONS];
	AUTO_FREE double *expected = xcalloc(bayesian->first + 1, sizeof(*expected));

	for (size_t i = 0; i < bayesian->first; i++) {
		size_t *at = bayesian->design + i * dimensions, to = i;
		double cost;

		space_settle(bayesian->space, at);
		cost = surrogate_expects(&bayesian->surrogate, at);
		cost = isnan(cost) ? INFINITY : cost;
		memcpy(row, at, sizeof(*row) * dimensions);
		for (; to && expected[to - 1] > cost; to--) {
			expected[to] = expected[to - 1];
			memcpy(bayesian->design + to * dimensions,
			       bayesian->design + (to - 1) * dimensions, sizeof(*row) * dimensions);
		}
		expected[to] = cost;
		memcpy(bayesian->design + to * dimensions, row, sizeof(*row) * dimensions);
	}
}

/* Replaces the first point of the design by the best candidate of the prior. */
static void start_design_at_best(struct bayesian *bayesian)
{
	const struct pool *pool = &bayesian->pool;
	size_t best = pool->count, dimensions = bayesian->space->count;

	if (!bayesian->is_whole)
		pool_sample(bayesian);
	for (size_t p = 0; p < pool->count; p++)
		if (!pool->is_known[p] && !isnan(pool->expected[p]) &&
		    (best == pool->count || pool->expected[p] < pool->expected[best]))
			best = p;
	if (best < pool->count)
		memcpy(bayesian->design, pool->points + best * dimensions,
		       dimensions * sizeof(size_t));
}

static void make_design(struct bayesian *bayesian)
{
	size_t dimensions = bayesian->space->count;
	AUTO_FREE size_t *order = xcalloc(bayesian->first + 1, sizeof(*order));

	bayesian->design = xcalloc(bayesian->first * dimensions + 1, sizeof(size_t));
	for (size_t d = 0; d < dimensions; d++)
		fill_design_column(bayesian, d, order);
	if (!bayesian->surrogate.prior)
		return;
	sort_design_by_prior(bayesian);
	start_design_at_best(bayesian);
}

/* The index of the unset value of a dimension, or the number of values. */
static size_t find_unset(const struct space_dimension *d)
{
	size_t v = 0;

	while (v < d->count && d->values[v])
		v++;
	return v;
}

/* Unsets one value, or if that is not enough several, so that the point is allowed. Which ones,
 * chance determines: a random point instead would rarely have values that others exclude. */
static void repair_point(struct bayesian *bayesian, size_t *point)
{
	const struct space *space = bayesian->space;
	size_t order[SPACE_DIMENSIONS], changed[SPACE_DIMENSIONS];

	for (size_t d = 0; d < space->count; d++)
		order[d] = d;
	random_shuffle(&bayesian->random, order, space->count);
	for (size_t i = 0; i < 2 * space->count && !space_allows(space, point); i++) {
		size_t d = order[i < space->count ? i : i - space->count];
		size_t unset = find_unset(&space->dimensions[d]);

		if (unset == space->dimensions[d].count || point[d] == unset)
			continue;
		memcpy(changed, point, space->count * sizeof(*point));
		changed[d] = unset;
		space_settle(space, changed);
		if (i >= space->count || space_allows(space, changed))
			memcpy(point, changed, space->count * sizeof(*point));
	}
}

/* The next point of the design, or a random one if that is known or not allowed. */
static bool next_design_point(struct bayesian *bayesian, size_t *point)
{
	const struct space *space = bayesian->space;

	memcpy(point, bayesian->design + bayesian->asked * space->count,
	       space->count * sizeof(*point));
	space_settle(space, point);
	repair_point(bayesian, point);
	for (int i = 0; i < DRAW_ATTEMPTS; i++) {
		if (space_allows(space, point) && !surrogate_has(&bayesian->surrogate, point))
			return true;
		draw_point(space, &bayesian->random, point);
	}
	return false;
}

/* Expected improvement over `best` of a normally distributed cost. */
static double expected_improvement(double best, double mean, double deviation)
{
	double gap = best - mean, z;

	if (!(deviation > 0))
		return gap > 0 ? gap : 0;
	z = gap / deviation;
	return gap * erfc(-z / M_SQRT2) / 2 +
	       deviation * exp(-z * z / 2) * (M_2_SQRTPI * M_SQRT1_2 / 2);
}

/* A trial that is worse than the best by more, in logarithms, says little about its values. */
#define GOOD_MOST 0.2

static void mark_values(const struct bayesian *bayesian, const size_t *point, bool *marks)
{
	for (size_t d = 0; d < bayesian->space->count; d++)
		if (space_is_active(bayesian->space, point, d))
			marks[bayesian->firsts[d] + point[d]] = true;
}

static void find_tried_values(struct bayesian *bayesian)
{
	const struct surrogate *surrogate = &bayesian->surrogate;
	double best = surrogate->costs[surrogate_best(surrogate)];

	memcpy(bayesian->tried, bayesian->explored,
	       bayesian->firsts[bayesian->space->count] * sizeof(bool));
	for (size_t i = 0; i < surrogate->count; i++)
		if (surrogate->costs[i] <= best + GOOD_MOST)
			mark_values(bayesian, surrogate->points + i * bayesian->space->count,
				    bayesian->tried);
}

/* Does the point have a value that was not tried yet? */
static bool has_new_value(const struct bayesian *bayesian, const size_t *point)
{
	for (size_t d = 0; d < bayesian->space->count; d++)
		if (!bayesian->tried[bayesian->firsts[d] + point[d]] &&
		    space_is_active(bayesian->space, point, d))
			return true;
	return false;
}

/* The new point with the highest expected improvement; count: there is none. */
static size_t choose_most_promising(const struct bayesian *bayesian)
{
	const struct pool *pool = &bayesian->pool;
	const struct surrogate *surrogate = &bayesian->surrogate;
	double best = surrogate->costs[surrogate_best(surrogate)], most = -1;
	size_t chosen = pool->count;

	for (size_t p = 0; p < pool->count; p++) {
		double gain = expected_improvement(best, pool->mean[p], pool->deviation[p]);

		if (pool->is_known[p] || !(gain > most))
			continue;
		most = gain;
		chosen = p;
	}
	return chosen;
}

/* The point with a new value that has the lowest predicted mean; count: there is none. */
static size_t choose_new_value(struct bayesian *bayesian)
{
	const struct pool *pool = &bayesian->pool;
	size_t chosen = pool->count, dimensions = bayesian->space->count;

	find_tried_values(bayesian);
	for (size_t p = 0; p < pool->count; p++)
		if (!pool->is_known[p] &&
		    (chosen == pool->count || pool->mean[p] < pool->mean[chosen]) &&
		    has_new_value(bayesian, pool->points + p * dimensions))
			chosen = p;
	return chosen;
}

/*
 * The process interpolates between values. But a value may behave unlike its neighbors, such as a
 * chunk size that equals what a rank writes. So each value is tried once, at the most promising
 * point that has it.
 */
static size_t choose_from_pool(struct bayesian *bayesian)
{
	struct pool *pool = &bayesian->pool;
	struct covariance_points points = { pool->x, pool->count, pool->count };
	size_t chosen = pool->count;

	gaussian_predict_points(&bayesian->surrogate.gaussian, &points, pool->mean,
				pool->deviation);
	for (size_t p = 0; pool->expected && p < pool->count; p++)
		pool->mean[p] += surrogate_offset(&bayesian->surrogate, pool->expected[p]);
	if (bayesian->explore && bayesian->asked % bayesian->explore == 0)
		chosen = choose_new_value(bayesian);
	bayesian->explores = chosen < pool->count;
	return bayesian->explores ? chosen : choose_most_promising(bayesian);
}

/* Without a fitted process: any new point. */
static size_t choose_any(struct bayesian *bayesian)
{
	struct pool *pool = &bayesian->pool;
	size_t free_points = 0, skip;

	for (size_t p = 0; p < pool->count; p++)
		free_points += !pool->is_known[p];
	if (!free_points)
		return pool->count;
	skip = random_below(&bayesian->random, free_points);
	for (size_t p = 0;; p++)
		if (!pool->is_known[p] && skip-- == 0)
			return p;
}

static int next_point(struct bayesian *bayesian, size_t *point)
{
	struct pool *pool = &bayesian->pool;
	size_t chosen, dimensions = bayesian->space->count;

	if (!bayesian->is_whole)
		pool_sample(bayesian);
	if (surrogate_fit(&bayesian->surrogate, bayesian->seed, NULL) < 0)
		chosen = choose_any(bayesian);
	else
		chosen = choose_from_pool(bayesian);
	if (chosen == pool->count)
		return 0;
	memcpy(point, pool->points + chosen * dimensions, dimensions * sizeof(*point));
	return 1;
}

static int bayesian_start(void **state, const struct space *space, const struct search_prior *prior,
			  const double *settings, uint64_t seed, struct err *err)
{
	struct bayesian *bayesian;

	if (!library_lapack(err))
		return -ENOENT;
	bayesian = xcalloc(1, sizeof(*bayesian));
	bayesian->space = space;
	bayesian->seed = seed;
	bayesian->runs = (uint64_t)settings[RUNS];
	bayesian->first = (size_t)settings[FIRST];
	/* A prior replaces most of the design. */
	if (!bayesian->first && prior)
		bayesian->first = FIRST_INFORMED;
	else if (!bayesian->first)
		bayesian->first = 2 * space->count > FIRST_MIN ? 2 * space->count : FIRST_MIN;
	bayesian->explore = (uint64_t)settings[EXPLORE];
	for (size_t d = 0; d < space->count; d++)
		bayesian->firsts[d + 1] = bayesian->firsts[d] + space->dimensions[d].count;
	bayesian->explored = xcalloc(bayesian->firsts[space->count] + 1, sizeof(bool));
	bayesian->tried = xcalloc(bayesian->firsts[space->count] + 1, sizeof(bool));
	random_init(&bayesian->random, seed);
	surrogate_init(&bayesian->surrogate, space);
	surrogate_set_prior(&bayesian->surrogate, prior);
	bayesian->is_whole = pool_fill(&bayesian->pool, space);
	if (bayesian->is_whole)
		pool_encode(&bayesian->pool, &bayesian->surrogate);
	*state = bayesian;
	return 0;
}

static int bayesian_ask(void *state, size_t *point)
{
	struct bayesian *bayesian = state;

	if (bayesian->asked >= bayesian->runs)
		return 0;
	if (!bayesian->design)
		make_design(bayesian);
	if (bayesian->asked < bayesian->first && next_design_point(bayesian, point))
		return 1;
	return next_point(bayesian, point);
}

static void add_trial(struct bayesian *bayesian, const size_t *point, double cost)
{
	size_t dimensions = bayesian->space->count;

	surrogate_add(&bayesian->surrogate, point, cost);
	for (size_t p = 0; bayesian->is_whole && p < bayesian->pool.count; p++)
		if (memcmp(bayesian->pool.points + p * dimensions, point,
			   dimensions * sizeof(*point)) == 0)
			bayesian->pool.is_known[p] = true;
}

static void bayesian_tell(void *state, const size_t *point, double cost)
{
	struct bayesian *bayesian = state;

	bayesian->asked++;
	if (bayesian->explores)
		mark_values(bayesian, point, bayesian->explored);
	bayesian->explores = false;
	add_trial(bayesian, point, cost);
}

static void bayesian_know(void *state, const size_t *point, double cost)
{
	add_trial(state, point, cost);
}

static void bayesian_stop(void *state)
{
	struct bayesian *bayesian = state;

	surrogate_release(&bayesian->surrogate);
	pool_release(&bayesian->pool);
	free(bayesian->design);
	free(bayesian->explored);
	free(bayesian->tried);
	free(bayesian);
}

const struct search_ops search_bayesian = {
	.name = "bayesian",
	.help = "Bayesian optimization: where a Gaussian process expects most improvement",
	.settings = bayesian_settings,
	.takes_prior = true,
	.start = bayesian_start,
	.ask = bayesian_ask,
	.tell = bayesian_tell,
	.know = bayesian_know,
	.stop = bayesian_stop,
};
