/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The first phases of a tuning: the baseline, and the search, in which the baseline is repeated.
 * Papers: GA-4.
 */
#include "tune/loop/tuning_internal.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

/* A new best is repeated until it is better than the other candidates by this many standard
 * deviations of the estimate. */
#define SURELY 2.0
/* Runs of a candidate in the search. The race of the best follows. */
#define SEARCH_REPEAT 2
/* Runs of the baseline that may be aborted before it counts as broken. */
#define SLOW_MOST 2
/* A space with more points, including those that are not allowed, is not counted. */
#define NUMBERS_MOST 100000

int tuning_fail_baseline(const struct tuning *t, enum trial_state state, const char *reason,
			 size_t number, struct err *err)
{
	if (state == TRIAL_SLOW && t->elapsed_s >= t->plan.seconds)
		return err_set(err, ECANCELED,
			       "run %zu of the baseline (without parameters) was aborted: it did "
			       "not end within the time limit of %.3g s (--max-time)",
			       number, t->plan.seconds);
	return err_set(err, ECANCELED,
		       "run %zu of the baseline (without parameters) is %s%s%s; the program must "
		       "work before it can be tuned",
		       number, trial_state_name(state), reason && *reason ? ": " : "",
		       reason ? reason : "");
}

/* With a time limit there may be fewer runs than wanted, but one is needed. */
int tuning_run_baseline(struct tuning *t, struct err *err)
{
	size_t wanted = tuning_is_exact(t) ? 1 : t->plan.repeat > 2 ? t->plan.repeat : 2;
	size_t slow = 0;
	struct history_run run;
	int r;

	t->phase_planned = t->plan.runs;
	while (t->basis.count < wanted && (!t->basis.count || tuning_has_time(t, PHASE_DEFAULT))) {
		r = tuning_baseline_run(t, PHASE_DEFAULT, &run, err);
		if (r < 0)
			return r;
		if (t->basis.count && tuning_is_cut(&run, tuning_baseline_limit(t)))
			break;
		/* It may be an outlier. */
		if (run.state == TRIAL_SLOW && t->basis.count && slow++ < SLOW_MOST)
			continue;
		if (run.state != TRIAL_GOOD)
			return tuning_fail_baseline(t, run.state, run.reason, t->basis.count + 1,
						    err);
		t->result.bytes = run.read_bytes + run.write_bytes;
	}
	t->worst = t->result.level;
	return 0;
}

/* Are there runs and time left for the search, besides so many runs? */
static bool has_budget(const struct tuning *t, uint64_t besides)
{
	return t->history.next + besides < t->plan.runs &&
	       (tuning_has_time(t, PHASE_SEARCH) || tuning_has_time(t, PHASE_DRIFT));
}

/* The runs, with those of the baseline in between, that all points take; 0: they exceed the budget,
 * so that points have to be chosen. */
static uint64_t count_whole_space(const struct tuning *t)
{
	const struct space *space = &t->plan.space;
	AUTO_FREE size_t *point = xcalloc(space->count + 1, sizeof(*point));
	uint64_t left = t->plan.runs > t->history.next ? t->plan.runs - t->history.next : 0;
	uint64_t numbers = space_points(space), runs = 0;

	if (!numbers || numbers > NUMBERS_MOST)
		return 0;
	for (uint64_t i = 0; i < numbers && runs <= left; i++) {
		space_point(space, i, point);
		space_settle(space, point);
		runs += space_number(space, point) == i && space_allows(space, point);
	}
	if (t->plan.drift)
		runs += runs / t->plan.drift + 1;
	return runs <= left ? runs : 0;
}

/* Racing: only a candidate that leads, but not clearly, is run again. */
static bool deserves_another_run(const struct tuning *t, const struct candidate *c)
{
	double deviation, ahead;

	/* If every point can be run, none is repeated at the expense of another. */
	if (tuning_is_exact(t) || c->count >= SEARCH_REPEAT || c->count >= t->plan.repeat ||
	    !has_budget(t, t->untried) || candidates_best(&t->candidates, t->result.level) != c)
		return false;
	for (const struct candidate *o = t->candidates.list; o < c; o++) {
		if (o->state != TRIAL_GOOD)
			continue;
		ahead = -estimate_ratio(&t->estimate, c->point, o->point, &deviation);
		if (ahead < SURELY * deviation)
			return true;
	}
	ahead = -estimate_ratio(&t->estimate, c->point, NULL, &deviation);
	return ahead < SURELY * deviation;
}

static int measure_candidate(struct tuning *t, struct candidate *c, struct err *err)
{
	double limit_s = tuning_slow_limit(t, tuning_best_or_baseline(t));
	int r;

	do
		r = tuning_candidate_run(t, PHASE_SEARCH, c, limit_s, err);
	while (r >= 0 && c->state == TRIAL_GOOD && c->count && deserves_another_run(t, c));
	return r;
}

static int try_candidate(struct tuning *t, const size_t *point, struct err *err)
{
	struct candidate *c = candidates_add(&t->candidates, point, t->plan.space.count);
	double told;
	int r;

	if (t->untried)
		t->untried--;
	r = measure_candidate(t, c, err);
	/* Without a run it is no candidate: the tuning was interrupted, or its time is over. */
	if (c->state == TRIAL_GOOD && !c->count)
		c->state = TRIAL_UNSEEN;
	if (r < 0)
		return r;
	told = tuning_candidate_cost(t, c);
	if (c->state != TRIAL_GOOD)
		c->cost = told;
	if (isfinite(told) && told > t->worst)
		t->worst = told;
	search_tell(t->search, c->point, told);
	return 0;
}

/* Tells the search the cost of the baseline, which is a point of most spaces. */
static void tell_baseline(struct tuning *t, size_t *point)
{
	struct param_set set = { 0 };

	space_default(&t->plan.space, point);
	space_settle(&t->plan.space, point);
	space_set(&t->plan.space, point, &set);
	if (!set.count)
		search_know(t->search, point, t->result.level);
	param_set_release(&set);
}

int tuning_search(struct tuning *t, struct err *err)
{
	AUTO_FREE size_t *point = xcalloc(t->plan.space.count + 1, sizeof(*point));
	const struct search_prior *prior =
		t->advice ? advice_prior(t->advice, &t->plan.space) : NULL;
	int r = search_new_with_prior(&t->search, t->plan.search, t->plan.settings, &t->plan.space,
				      prior, t->plan.seed, err);

	if (r < 0)
		return r;
	tell_baseline(t, point);
	t->untried = count_whole_space(t);
	while (r >= 0 && has_budget(t, 0)) {
		r = tuning_interleave_baseline(t, PHASE_DRIFT, err);
		if (r)
			continue;
		if (!search_ask(t->search, point))
			break;
		r = try_candidate(t, point, err);
	}
	return r < 0 ? r : 0;
}
