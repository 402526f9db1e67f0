/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The simplify phase of a tuning: parameters that do not contribute to the gain are removed from
 * the best point, so that the winner changes as little as possible.
 */
#include "tune/loop/tuning_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* With an exact runner, a parameter must bring more than this factor. */
#define TRIFLE 1.001
/* Importances that differ by less are equal, and parameters are ordered by name. */
#define SHARE_STEP 0.001

/* A parameter that may be removed. */
struct part {
	size_t dimension;
	double share; /* importance, in steps of SHARE_STEP */
	const char *name;
};

struct cutting {
	struct part parts[SPACE_DIMENSIONS];
	size_t count;
	size_t wanted; /* most runs per point */
	double sigma;
	double cost; /* reference that must not become worse, and its number of runs */
	size_t runs;
};

/* The index of the unset value, or the number of values if there is none. */
static size_t find_unset(const struct space_dimension *d)
{
	size_t i = 0;

	while (i < d->count && d->values[i])
		i++;
	return i;
}

static size_t count_parameters(const struct space *space, const size_t *point)
{
	struct param_set set = { 0 };
	size_t count;

	space_set(space, point, &set);
	count = set.count;
	param_set_release(&set);
	return count;
}

/* The point without one parameter and those that depend on it. False: that is not a simpler point
 * of the space, or it is the baseline. */
static bool point_without(const struct space *space, const size_t *point, size_t dimension,
			  size_t *without)
{
	const struct space_dimension *d = &space->dimensions[dimension];
	size_t count;

	if (find_unset(d) == d->count || !space_is_active(space, point, dimension) ||
	    !d->values[point[dimension]])
		return false;
	memcpy(without, point, space->count * sizeof(*without));
	without[dimension] = find_unset(d);
	space_settle(space, without);
	count = count_parameters(space, without);
	return count && count < count_parameters(space, point) && space_allows(space, without);
}

static int part_compare(const void *a, const void *b)
{
	const struct part *x = a, *y = b;
	int names = strcmp(x->name, y->name);

	if (x->share != y->share)
		return x->share < y->share ? -1 : 1;
	return names ? names : x->dimension < y->dimension ? -1 : 1;
}

/* Finds the parameters that may be removed, the least important first. */
static void find_parts(const struct tuning *t, const size_t *point, struct cutting *cutting)
{
	const struct space *space = &t->plan.space;
	AUTO_FREE size_t *without = xcalloc(space->count + 1, sizeof(*without));
	struct importance importance = { 0 };
	bool known;

	for (size_t d = 0; d < space->count; d++)
		if (point_without(space, point, d, without))
			cutting->parts[cutting->count++] = (struct part){
				.dimension = d,
				.name = space->dimensions[d].tunable->name,
			};
	/* With too few trials the order is by name. */
	known = cutting->count > 1 && tuning_importance(t, &importance, NULL) >= 0;
	for (size_t i = 0; known && i < cutting->count; i++)
		cutting->parts[i].share =
			round(importance.parts[cutting->parts[i].dimension].share / SHARE_STEP);
	importance_release(&importance);
	qsort(cutting->parts, cutting->count, sizeof(cutting->parts[0]), part_compare);
}

/* The most runs per point: the phase takes at most half as many runs as the search, but at least
 * two per point. */
static size_t max_runs(const struct tuning_plan *plan, size_t parts)
{
	size_t most = 2 * (size_t)plan->repeat, share = plan->runs / 2 / (parts + 1);

	most = most < share ? most : share;
	return most > 2 ? most : 2;
}

uint64_t tuning_simplify_most(const struct tuning_plan *plan, bool exact)
{
	size_t parts = 0, most = 0;

	for (size_t d = 0; d < plan->space.count; d++)
		parts += find_unset(&plan->space.dimensions[d]) < plan->space.dimensions[d].count;
	if (plan->space.count < 2)
		return 0;
	if (exact)
		return parts;
	for (size_t n = 1; n <= parts; n++) {
		size_t runs = (n + 1) * max_runs(plan, n);

		most = runs > most ? runs : most;
	}
	return most;
}

/*
 * Measures the cost of the best with fresh runs. The runs that made it the best were partly lucky,
 * and no simpler point would be as good as that figure. Returns 0 if the candidate fails.
 */
static int measure_reference(struct tuning *t, struct candidate *c, struct cutting *cutting,
			     struct err *err)
{
	size_t before = c->count;
	struct candidate fresh = { 0 };
	int r = 0;

	while (r >= 0 && c->state == TRIAL_GOOD && c->count < before + cutting->wanted)
		r = tuning_candidate_run(t, PHASE_SIMPLIFY, c, tuning_slow_limit(t, &t->basis),
					 err);
	if (r < 0)
		return r;
	for (size_t i = before; i < c->count; i++)
		candidate_add_run(&fresh, c->costs[i], c->run_s[i]);
	cutting->cost = fresh.cost;
	cutting->runs = fresh.count;
	candidate_release(&fresh);
	return c->state == TRIAL_GOOD;
}

static enum noise_verdict compare_with_reference(const struct tuning *t,
						 const struct cutting *cutting,
						 const struct candidate *c)
{
	if (c->state != TRIAL_GOOD)
		return NOISE_WORSE;
	if (!c->count)
		return NOISE_OPEN;
	if (t->runner->ops->is_exact)
		return c->cost <= cutting->cost * TRIFLE ? NOISE_SAME : NOISE_WORSE;
	return noise_compare(cutting->sigma, c->cost, c->count, cutting->cost, cutting->runs);
}

/* Runs the candidate until the comparison is decided, or `wanted` times. 1: it is as good. */
static int judge_candidate(struct tuning *t, const struct cutting *cutting, struct candidate *c,
			   struct err *err)
{
	size_t least = t->runner->ops->is_exact ? 1 : 2;
	enum noise_verdict verdict = compare_with_reference(t, cutting, c);
	int r = 0;

	while (r >= 0 && verdict != NOISE_WORSE && c->count < cutting->wanted &&
	       (verdict == NOISE_OPEN || c->count < least)) {
		r = tuning_candidate_run(t, PHASE_SIMPLIFY, c,
					 tuning_slow_limit(t, tuning_best_or_baseline(t)), err);
		verdict = compare_with_reference(t, cutting, c);
	}
	if (r < 0) {
		c->state = c->count ? c->state : TRIAL_UNSEEN;
		return r;
	}
	c->cost = tuning_candidate_cost(t, c);
	if (c->is_rejected || !(c->cost < t->result.level))
		return 0;
	/* If the noise is too high to decide, the medians do. */
	return verdict == NOISE_SAME || (verdict == NOISE_OPEN && c->cost <= cutting->cost);
}

/* All candidates are compared with the first reference, so that small losses do not add up. Only
 * one that is clearly better becomes the new reference. */
static void lower_reference(const struct tuning *t, struct cutting *cutting,
			    const struct candidate *c)
{
	if (t->runner->ops->is_exact ? c->cost >= cutting->cost
				     : noise_compare(cutting->sigma, cutting->cost, cutting->runs,
						     c->cost, c->count) != NOISE_WORSE)
		return;
	cutting->cost = c->cost;
	cutting->runs = c->count;
}

static int try_without(struct tuning *t, struct cutting *cutting, size_t dimension, struct err *err)
{
	const struct space *space = &t->plan.space;
	AUTO_FREE size_t *without = xcalloc(space->count + 1, sizeof(*without));
	struct candidate *c;
	int r;

	if (!point_without(space, t->candidates.list[t->simple - 1].point, dimension, without))
		return 0;
	c = candidates_find(&t->candidates, without, space->count);
	if (!c)
		c = candidates_add(&t->candidates, without, space->count);
	r = judge_candidate(t, cutting, c, err);
	if (r > 0) {
		t->simple = (size_t)(c - t->candidates.list) + 1;
		lower_reference(t, cutting, c);
	}
	return r < 0 ? r : 0;
}

static void plan_cutting(struct tuning *t, const struct candidate *best, struct cutting *cutting)
{
	size_t most;

	*cutting = (struct cutting){ .sigma = noise_sigma(&t->noise),
				     .cost = best->cost,
				     .runs = best->count,
				     .wanted = 1 };
	find_parts(t, best->point, cutting);
	t->phase_runs = 0;
	t->phase_planned = cutting->count;
	if (t->runner->ops->is_exact)
		return;
	most = max_runs(&t->plan, cutting->count);
	cutting->wanted = noise_runs(cutting->sigma);
	cutting->wanted = cutting->wanted < most ? cutting->wanted : most;
	t->phase_planned = (cutting->count + 1) * cutting->wanted;
}

static void reject_candidate(struct tuning *t, struct candidate *c)
{
	c->is_rejected = true;
	c->cost = tuning_candidate_cost(t, c);
	t->result.rejected++;
}

int tuning_simplify(struct tuning *t, struct err *err)
{
	struct cutting cutting = { 0 };
	struct candidate *best;
	int r = 0;

	while (r == 0 && t->result.rejected < TUNING_WINNERS && (best = tuning_best(t))) {
		plan_cutting(t, best, &cutting);
		if (!cutting.count)
			return 0;
		t->origin = t->simple = (size_t)(best - t->candidates.list) + 1;
		r = t->runner->ops->is_exact ? 1 : measure_reference(t, best, &cutting, err);
		if (r == 0)
			reject_candidate(t, best);
	}
	for (size_t i = 0; r > 0 && i < cutting.count; i++) {
		r = try_without(t, &cutting, cutting.parts[i].dimension, err);
		r = r < 0 ? r : 1;
	}
	return r < 0 ? r : 0;
}
