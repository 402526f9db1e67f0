/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The simplify phase of a tuning. First the best points are raced against each other, so that the
 * best one has repeated runs. Then parameters that do not contribute to its gain are removed, so
 * that the winner changes as little as possible: a parameter stays only if the point without it is
 * worse, and the runs of both are interleaved.
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
/* A loss is certain beyond, and excluded below, so many standard deviations of its estimate. */
#define SURELY 2.0
/* The loss that must be excluded: log(1.1). */
#define LOSS 0.0953
/* A point may be better than it is estimated by this many. */
#define OPTIMISM 1.0
/* Points that differ by a smaller share of the effect of the best one are not raced. */
#define EQUAL 0.2
/* A parameter must have at least this share of the effect. */
#define SHARE_LEAST 0.15
/* If the runs do not decide, a loss counts beyond so many standard deviations of its estimate. With
 * more noise than NOISY every effect is uncertain, and the estimate itself decides. */
#define EVIDENCE 1.6
#define NOISY 0.15
#define RUNS_LEAST 8 /* of the phase */
/* Pairs that the proof needs if the noise equals the gain, for a chance of 95 %: the square of the
 * quantiles of PROOF_LEVEL and of that chance, times the variance of a pair. */
#define NEEDED 29.0
/* Pairs that it always may need: load of others spoils some. */
#define NEEDED_LEAST 13

/* A parameter that may be removed. */
struct part {
	size_t dimension;
	double share; /* importance or estimated loss, in steps of SHARE_STEP */
	const char *name;
};

struct cutting {
	struct part parts[SPACE_DIMENSIONS];
	size_t count;
	double cost;  /* exact: the reference that must not become worse */
	uint64_t end; /* number of the last run of this phase, and of its current step */
	uint64_t step;
};

enum verdict { SAME, WORSE, OPEN };

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

/* The estimated loss without one parameter, and its standard deviation. */
static double estimate_loss(const struct tuning *t, const size_t *point, const size_t *without,
			    double *deviation)
{
	return estimate_ratio(&t->estimate, without, point, deviation);
}

/* Finds the parameters that may be removed, the least important first. */
static void find_parts(const struct tuning *t, const size_t *point, struct cutting *cutting)
{
	const struct space *space = &t->plan.space;
	AUTO_FREE size_t *without = xcalloc(space->count + 1, sizeof(*without));
	struct importance importance = { 0 };
	bool exact = tuning_is_exact(t), known = false;

	cutting->count = 0;
	for (size_t d = 0; d < space->count; d++) {
		struct part part = { .dimension = d, .name = space->dimensions[d].tunable->name };

		if (!point_without(space, point, d, without))
			continue;
		if (!exact)
			part.share = round(estimate_loss(t, point, without, NULL) / SHARE_STEP);
		cutting->parts[cutting->count++] = part;
	}
	/* With too few trials the order is by name. */
	if (exact && cutting->count > 1)
		known = tuning_importance(t, &importance, NULL) >= 0;
	for (size_t i = 0; known && i < cutting->count; i++)
		cutting->parts[i].share =
			round(importance.parts[cutting->parts[i].dimension].share / SHARE_STEP);
	importance_release(&importance);
	qsort(cutting->parts, cutting->count, sizeof(cutting->parts[0]), part_compare);
}

uint64_t tuning_simplify_most(const struct tuning_plan *plan, bool exact)
{
	size_t parts = 0;

	if (!exact)
		return plan->runs / 2 > RUNS_LEAST ? plan->runs / 2 : RUNS_LEAST;
	for (size_t d = 0; d < plan->space.count; d++)
		parts += find_unset(&plan->space.dimensions[d]) < plan->space.dimensions[d].count;
	return plan->space.count < 2 ? 0 : parts;
}

static bool has_runs(const struct tuning *t, uint64_t end)
{
	return t->history.next < end && tuning_has_time(t, PHASE_SIMPLIFY);
}

static uint64_t runs_left(const struct tuning *t, const struct cutting *cutting)
{
	return cutting->end > t->history.next ? cutting->end - t->history.next : 0;
}

static struct candidate *at_index(const struct tuning *t, size_t index)
{
	return &t->candidates.list[index - 1];
}

static size_t index_of(const struct tuning *t, const struct candidate *c)
{
	return (size_t)(c - t->candidates.list) + 1;
}

/* One more run of a candidate, or of the baseline if it is time for one. 0: the candidate failed.
 */
static int run_again(struct tuning *t, struct candidate *c, struct err *err)
{
	int r = tuning_interleave_baseline(t, PHASE_SIMPLIFY, err);

	if (r)
		return r;
	r = tuning_candidate_run(t, PHASE_SIMPLIFY, c, tuning_baseline_limit(t), err);
	if (r < 0)
		return r;
	if (c->state == TRIAL_GOOD)
		return 1;
	c->is_rejected = true;
	c->cost = tuning_candidate_cost(t, c);
	return 0;
}

/* Was the value part of a good run? Others may be the cause of a failure. */
static bool is_seen(const struct tuning *t, size_t dimension, size_t value)
{
	if (!t->plan.space.dimensions[dimension].values[value])
		return true;
	for (size_t i = 0; i < t->candidates.count; i++) {
		const struct candidate *c = &t->candidates.list[i];

		if (c->state == TRIAL_GOOD && c->count && c->point[dimension] == value)
			return true;
	}
	return false;
}

/* May the point be run? */
static bool is_eligible(const struct tuning *t, const size_t *point)
{
	const struct space *space = &t->plan.space;
	const struct candidate *c = candidates_find(&t->candidates, point, space->count);

	return space_allows(space, point) && count_parameters(space, point) &&
	       (!c || (c->state == TRIAL_GOOD && !c->is_rejected));
}

/* The estimated cost of a point, lower by so many standard deviations of the estimate. */
static double rate_point(const struct tuning *t, const size_t *point, double optimism)
{
	double deviation = 0, mean = tuning_rate_point(t, point);

	if (optimism > 0)
		estimate_ratio(&t->estimate, point, NULL, &deviation);
	return mean - optimism * deviation;
}

/* Changes one value at a time for the better, until none is left. */
static void improve_point(const struct tuning *t, size_t *point, double optimism)
{
	const struct space *space = &t->plan.space;
	AUTO_FREE size_t *other = xcalloc(space->count + 1, sizeof(*other));
	double best = is_eligible(t, point) ? rate_point(t, point, optimism) : INFINITY, rate;
	bool improves = true;

	while (improves) {
		improves = false;
		for (size_t d = 0; d < space->count; d++) {
			for (size_t v = 0; v < space->dimensions[d].count; v++) {
				memcpy(other, point, space->count * sizeof(*other));
				other[d] = v;
				space_settle(space, other);
				if (!is_seen(t, d, v) || !is_eligible(t, other))
					continue;
				rate = rate_point(t, other, optimism);
				if (!(rate < best - 1e-9))
					continue;
				best = rate;
				memcpy(point, other, space->count * sizeof(*other));
				improves = true;
			}
		}
	}
}

/* The point that combines the best values of all runs, which need not have been run. False: none
 * is better than the baseline. */
static bool find_point(const struct tuning *t, size_t *point, double optimism)
{
	const struct candidate *best = tuning_best(t);

	space_default(&t->plan.space, point);
	space_settle(&t->plan.space, point);
	if (best)
		memcpy(point, best->point, t->plan.space.count * sizeof(*point));
	improve_point(t, point, optimism);
	return is_eligible(t, point) && rate_point(t, point, optimism) < 0;
}

/* Chooses the point to run next: in turn the one that is estimated to be the best, and the one that
 * may be better. False: the best was repeated, and no other point may be much better. */
static bool choose_point(const struct tuning *t, bool explores, size_t *point)
{
	size_t width = t->plan.space.count;
	AUTO_FREE size_t *best = xcalloc(width + 1, sizeof(*best));
	const struct candidate *c;
	double deviation, ahead;

	if (!find_point(t, best, 0))
		return find_point(t, point, OPTIMISM);
	c = candidates_find(&t->candidates, best, width);
	if (!c || c->count < t->plan.repeat || !explores) {
		memcpy(point, best, width * sizeof(*point));
		return true;
	}
	if (!find_point(t, point, OPTIMISM))
		return false;
	ahead = -estimate_ratio(&t->estimate, point, best, &deviation);
	return ahead + OPTIMISM * deviation > fmax(tuning_worthwhile(t), EQUAL * t->effect);
}

/* One more run of a point, which may be new. */
static int run_point(struct tuning *t, const size_t *point, struct err *err)
{
	struct candidate *c = candidates_find(&t->candidates, point, t->plan.space.count);
	bool is_new = !c;
	int r;

	if (is_new)
		c = candidates_add(&t->candidates, point, t->plan.space.count);
	r = run_again(t, c, err);
	/* Without a run it is no candidate. */
	if (c->state == TRIAL_GOOD && !c->count)
		c->state = TRIAL_UNSEEN;
	t->result.rejected += r == 0 && !is_new;
	return r;
}

/* Runs the best point and its rivals, until the best has been repeated and there is no rival. */
static int race(struct tuning *t, uint64_t end, struct err *err)
{
	AUTO_FREE size_t *point = xcalloc(t->plan.space.count + 1, sizeof(*point));
	size_t turn = 0;
	int r = 0;

	while (r >= 0 && t->result.rejected < TUNING_WINNERS && has_runs(t, end)) {
		r = tuning_interleave_baseline(t, PHASE_SIMPLIFY, err);
		if (r)
			continue;
		if (!choose_point(t, turn++ % 2, point))
			break;
		r = run_point(t, point, err);
	}
	return r < 0 ? r : 0;
}

static enum verdict compare_with_origin(const struct tuning *t, const struct cutting *cutting,
					const struct candidate *c)
{
	double loss, deviation;

	if (c->state != TRIAL_GOOD || c->is_rejected)
		return WORSE;
	if (tuning_is_exact(t)) {
		if (!c->count)
			return OPEN;
		return c->cost <= cutting->cost * TRIFLE ? SAME : WORSE;
	}
	/* Always with the first point, so that small losses do not add up. */
	loss = estimate_loss(t, at_index(t, t->origin)->point, c->point, &deviation);
	if (loss > SURELY * deviation)
		return WORSE;
	return c->count >= 2 && loss + SURELY * deviation <= LOSS ? SAME : OPEN;
}

/* The one to run next: the candidate, or the origin, which is compared with it. */
static struct candidate *choose_side(const struct tuning *t, struct candidate *c)
{
	struct candidate *origin = at_index(t, t->origin);

	return !tuning_is_exact(t) && origin->state == TRIAL_GOOD && origin->count < c->count
		       ? origin
		       : c;
}

/* The loss of effect for which a parameter is not worth setting. */
static double tolerable_loss(const struct tuning *t)
{
	return fmax(tuning_worthwhile(t), SHARE_LEAST * t->effect);
}

/* Do the runs show that `without`, which has fewer parameters, is worse than the point? */
static bool is_probably_worse(const struct tuning *t, const size_t *point, const size_t *without)
{
	double deviation, loss = estimate_loss(t, point, without, &deviation);

	return loss > fmax(tolerable_loss(t), t->estimate.sigma < NOISY ? EVIDENCE * deviation : 0);
}

static bool is_unrun(const struct candidate *c)
{
	return c->state == TRIAL_GOOD && !c->count;
}

/* Runs the candidate and the origin until the comparison is decided, or to the end of the step. 1:
 * it is as good. */
static int judge_candidate(struct tuning *t, const struct cutting *cutting, struct candidate *c,
			   struct err *err)
{
	enum verdict verdict;
	int r = 1;

	while ((verdict = compare_with_origin(t, cutting, c)) == OPEN && r >= 0 &&
	       has_runs(t, cutting->step))
		r = run_again(t, choose_side(t, c), err);
	/* No run is left: without evidence for the parameter it is removed, as the proof runs the
	 * point anyway. */
	if (r >= 0 && is_unrun(c) && !tuning_is_exact(t) && t->history.next >= cutting->step)
		c->cost = t->result.level * exp(estimate_ratio(&t->estimate, c->point, NULL, NULL));
	else if (is_unrun(c))
		c->state = TRIAL_UNSEEN;
	if (r < 0)
		return r;
	if (c->state != TRIAL_GOOD || c->is_rejected || !(c->cost < t->result.level))
		return 0;
	return verdict == SAME ||
	       (verdict == OPEN && !is_probably_worse(t, at_index(t, t->origin)->point, c->point));
}

/* Tries a simpler point, and takes it if it is as good. */
static int try_point(struct tuning *t, struct cutting *cutting, const size_t *point,
		     struct err *err)
{
	struct candidate *c = candidates_find(&t->candidates, point, t->plan.space.count);
	int r;

	if (!c) {
		c = candidates_add(&t->candidates, point, t->plan.space.count);
		c->cost = t->result.level;
	}
	r = judge_candidate(t, cutting, c, err);
	if (r > 0) {
		t->simple = index_of(t, c);
		cutting->cost = fmin(cutting->cost, c->cost);
	}
	return r;
}

/* Removes at once all parameters that probably have no effect, except the most important one. */
static int try_jump(struct tuning *t, struct cutting *cutting, struct err *err)
{
	const struct space *space = &t->plan.space;
	AUTO_FREE size_t *point = xcalloc(2 * space->count + 2, sizeof(*point));
	size_t *without = point + space->count, removed = 0;

	memcpy(point, at_index(t, t->simple)->point, space->count * sizeof(*point));
	for (size_t i = 0; i + 1 < cutting->count; i++) {
		size_t d = cutting->parts[i].dimension;

		if (!point_without(space, point, d, without) ||
		    is_probably_worse(t, point, without))
			continue;
		memcpy(point, without, space->count * sizeof(*point));
		removed++;
	}
	cutting->step = t->history.next + (runs_left(t, cutting) + 1) / 2;
	/* A single parameter is tried anyway. */
	return removed > 1 ? try_point(t, cutting, point, err) : 0;
}

static int try_without(struct tuning *t, struct cutting *cutting, size_t part, struct err *err)
{
	const struct space *space = &t->plan.space;
	AUTO_FREE size_t *without = xcalloc(space->count + 1, sizeof(*without));
	uint64_t left = runs_left(t, cutting), parts = cutting->count - part;

	cutting->step = t->history.next + (left + parts - 1) / parts;
	if (!point_without(space, at_index(t, t->simple)->point, cutting->parts[part].dimension,
			   without))
		return 0;
	return try_point(t, cutting, without, err);
}

/* The number of runs that the proof of the best point probably takes: the noise of the mean of its
 * pairs must be small compared with the gain. */
static uint64_t proof_needs(const struct tuning *t)
{
	const struct candidate *best = tuning_best(t);
	double gain = best ? -estimate_ratio(&t->estimate, best->point, NULL, NULL) : 0;
	double share = gain > 0 ? t->estimate.sigma / gain : INFINITY;
	double pairs = fmin(NEEDED * share * share, PROOF_PAIRS_MOST);

	return 2 * (uint64_t)fmax(ceil(pairs), NEEDED_LEAST);
}

/* The last run of this phase, which leaves enough for the proof, but may take a part anyway. */
static uint64_t find_end(const struct tuning *t, uint64_t begin, uint64_t part)
{
	uint64_t needs = proof_needs(t), left = t->end > begin + needs ? t->end - begin - needs : 0;

	return begin + (left < part ? part : left);
}

int tuning_simplify(struct tuning *t, struct err *err)
{
	bool exact = tuning_is_exact(t);
	uint64_t most = tuning_simplify_most(&t->plan, exact), begin = t->history.next;
	struct cutting cutting = { .end = begin + most };
	struct candidate *best;
	int r = 0;

	t->phase_runs = 0;
	t->phase_planned = most;
	t->end = begin + most + 2 * t->plan.pairs;
	if (!exact)
		r = race(t, begin + (most + 1) / 2, err);
	if (r < 0 || t->result.rejected >= TUNING_WINNERS || !(best = tuning_best(t)))
		return r;
	if (!exact)
		cutting.end = find_end(t, begin, (most + 1) / 2);
	cutting.cost = best->cost;
	t->origin = t->simple = index_of(t, best);
	find_parts(t, best->point, &cutting);
	if (!exact)
		r = try_jump(t, &cutting, err);
	if (r > 0)
		find_parts(t, at_index(t, t->simple)->point, &cutting);
	for (size_t i = 0; r >= 0 && i < cutting.count; i++)
		r = try_without(t, &cutting, i, err);
	return r < 0 ? r : 0;
}
