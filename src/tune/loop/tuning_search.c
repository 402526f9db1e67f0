/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/loop/tuning_internal.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "learn/maths/vector.h"

#define DRIFT_RUNS 3 /* of the default, to know its new level */

/* ---- default ---- */

int tuning_default_failed(enum trial_state state, const char *reason, size_t number,
			  struct err *err)
{
	return err_set(err, ECANCELED,
		       "run %zu of the program without parameters is %s%s%s; it has to work "
		       "before it can be tuned",
		       number, trial_state_name(state), reason && *reason ? ": " : "",
		       reason ? reason : "");
}

/* Programs that write the time or random numbers differ from themselves. */
static void digest_look(struct tuning *t, const struct history_run *run)
{
	if (!t->check)
		return;
	if (!*run->digest) {
		t->check = false;
		t->result.unchecked = "no data could be read back";
	} else if (!*t->digest) {
		memcpy(t->digest, run->digest, sizeof(t->digest));
	} else if (strcmp(t->digest, run->digest) != 0) {
		t->check = false;
		t->result.unchecked = "the program writes other data each time; see --verify";
	}
}

int tuning_default(struct tuning *t, struct err *err)
{
	size_t wanted = t->runner->ops->is_exact ? 1 : t->plan.repeat > 2 ? t->plan.repeat : 2;
	struct history_run run;
	int r;

	t->phase_planned = t->plan.runs;
	while (t->basis.count < wanted) {
		/* The first has no measure yet; the user sees that it takes long. */
		r = tuning_measure(t, PHASE_DEFAULT, HISTORY_NO_POINT, &t->nothing,
				   t->basis.count ? tuning_default_limit(t) : INFINITY, &run, err);
		if (r < 0)
			return r;
		if (run.state != TRIAL_GOOD)
			return tuning_default_failed(run.state, run.reason, t->basis.count + 1,
						     err);
		candidate_run(&t->basis, run.cost, run.run_s);
		digest_look(t, &run);
		t->result.bytes = run.read_bytes + run.write_bytes;
	}
	noise_add(&t->noise, t->basis.costs, t->basis.count);
	t->result.level = t->level = t->worst = t->basis.cost;
	return 0;
}

/* ---- drift ---- */

/* The default again, up to so many times or as the budget allows; the number of good runs. */
static int drift_runs(struct tuning *t, double *costs, int have, int wanted, struct err *err)
{
	struct history_run run;

	for (int i = have; i < wanted && t->history.next < t->plan.runs; i++) {
		int r = tuning_measure(t, PHASE_DRIFT, HISTORY_NO_POINT, &t->nothing,
				       tuning_default_limit(t), &run, err);

		if (r < 0)
			return r;
		if (run.state != TRIAL_GOOD)
			continue;
		digest_look(t, &run);
		costs[have++] = run.cost;
	}
	return have;
}

static int drift_look(struct tuning *t, struct err *err)
{
	double costs[DRIFT_RUNS], sigma = noise_sigma(&t->noise), away;
	int n;

	t->since = 0;
	n = drift_runs(t, costs, 0, 1, err);
	if (n <= 0 || !noise_is_drift(sigma, costs[0], t->level))
		return n;
	/* One run may have been disturbed by chance. */
	n = drift_runs(t, costs, n, DRIFT_RUNS, err);
	if (n < DRIFT_RUNS)
		return n;
	t->level = vector_median(costs, DRIFT_RUNS);
	away = t->level / t->result.level;
	if (fabs(log(away)) <= sigma)
		t->level = t->result.level;
	else if (!(fabs(log(t->result.drift)) >= fabs(log(away))))
		t->result.drift = away;
	return 0;
}

/* ---- search ---- */

/*
 * Budget and time. Time is not the same when a course is taken again: then the runs that wait tell
 * whether there was any left.
 */
static bool search_goes_on(const struct tuning *t)
{
	const struct history_run *waiting = history_waiting(&t->history);

	if (t->history.next >= t->plan.runs)
		return false;
	if (waiting)
		return waiting->phase == PHASE_SEARCH || waiting->phase == PHASE_DRIFT;
	return t->elapsed_s < t->plan.seconds;
}

static bool is_worth_another(const struct tuning *t, const struct candidate *c)
{
	const struct candidate *best = &t->basis;

	if (t->runner->ops->is_exact || c->count >= t->plan.repeat ||
	    t->history.next >= t->plan.runs)
		return false;
	/* The best of the others. */
	for (const struct candidate *o = t->candidates.list; o < c; o++)
		if (o->state == TRIAL_GOOD && o->cost < best->cost)
			best = o;
	return !noise_is_lost(noise_sigma(&t->noise), c->cost, c->count, best->cost, best->count);
}

static int candidate_measure(struct tuning *t, struct candidate *c, struct err *err)
{
	double limit_s = tuning_slow_limit(t, tuning_leader(t));
	int r;

	do {
		r = tuning_candidate_run(t, PHASE_SEARCH, c, limit_s, err);
		t->since += r >= 0;
	} while (r >= 0 && c->state == TRIAL_GOOD && is_worth_another(t, c));
	return r;
}

static int candidate_try(struct tuning *t, const size_t *point, struct err *err)
{
	struct candidate *c = candidates_add(&t->candidates, point, t->plan.space.count);
	int r = candidate_measure(t, c, err);

	if (r < 0) {
		/* What it has so far counts when the best so far is told. */
		c->state = c->count ? c->state : TRIAL_UNSEEN;
		return r;
	}
	if (c->state == TRIAL_GOOD)
		noise_add(&t->noise, c->costs, c->count);
	c->cost = tuning_candidate_cost(t, c);
	if (isfinite(c->cost) && c->cost > t->worst)
		t->worst = c->cost;
	search_tell(t->search, c->point, c->cost);
	return 0;
}

/* The default is a point of most spaces. */
static void search_learn_default(struct tuning *t, size_t *point)
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
	bool drifts = !t->runner->ops->is_exact && t->plan.drift;
	const struct search_prior *prior =
		t->advice ? advice_prior(t->advice, &t->plan.space) : NULL;
	int r = search_new_with(&t->search, t->plan.search, t->plan.settings, &t->plan.space, prior,
				t->plan.seed, err);

	if (r < 0)
		return r;
	search_learn_default(t, point);
	while (r >= 0 && search_goes_on(t)) {
		if (drifts && t->since >= t->plan.drift) {
			r = drift_look(t, err);
			continue;
		}
		if (!search_ask(t->search, point))
			break;
		r = candidate_try(t, point, err);
	}
	return r < 0 ? r : 0;
}
