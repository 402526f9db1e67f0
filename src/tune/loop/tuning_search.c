/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The first phases of a tuning: the baseline, the search, and the drift checks in between.
 */
#include "tune/loop/tuning_internal.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "learn/math/vector.h"

#define DRIFT_RUNS 3 /* of the baseline, to measure its new level */

int tuning_fail_baseline(enum trial_state state, const char *reason, size_t number, struct err *err)
{
	return err_set(err, ECANCELED,
		       "run %zu of the baseline (without parameters) is %s%s%s; the program must "
		       "work before it can be tuned",
		       number, trial_state_name(state), reason && *reason ? ": " : "",
		       reason ? reason : "");
}

/* Turns the comparison off if the baseline's own data varies, as with time stamps or random
 * numbers. */
static void compare_baseline_data(struct tuning *t, const struct history_run *run)
{
	if (!t->check)
		return;
	if (!*run->digest) {
		t->check = false;
		t->result.unchecked = "the data could not be read";
	} else if (!*t->digest) {
		memcpy(t->digest, run->digest, sizeof(t->digest));
	} else if (strcmp(t->digest, run->digest) != 0) {
		t->check = false;
		t->result.unchecked = "the program writes different data each time; use --verify";
	}
}

int tuning_run_baseline(struct tuning *t, struct err *err)
{
	size_t wanted = t->runner->ops->is_exact ? 1 : t->plan.repeat > 2 ? t->plan.repeat : 2;
	struct history_run run;
	int r;

	t->phase_planned = t->plan.runs;
	while (t->basis.count < wanted) {
		/* There is no limit for the first run, as its time is unknown. */
		r = tuning_measure(t, PHASE_DEFAULT, HISTORY_NO_POINT, &t->nothing,
				   t->basis.count ? tuning_baseline_limit(t) : INFINITY, &run, err);
		if (r < 0)
			return r;
		if (run.state != TRIAL_GOOD)
			return tuning_fail_baseline(run.state, run.reason, t->basis.count + 1, err);
		candidate_add_run(&t->basis, run.cost, run.run_s);
		compare_baseline_data(t, &run);
		t->result.bytes = run.read_bytes + run.write_bytes;
	}
	noise_add(&t->noise, t->basis.costs, t->basis.count);
	t->result.level = t->level = t->worst = t->basis.cost;
	return 0;
}

/* Repeats the baseline until `wanted` runs or the end of the budget. Returns the number of costs.
 */
static int repeat_baseline(struct tuning *t, double *costs, int have, int wanted, struct err *err)
{
	struct history_run run;

	for (int i = have; i < wanted && t->history.next < t->plan.runs; i++) {
		int r = tuning_measure(t, PHASE_DRIFT, HISTORY_NO_POINT, &t->nothing,
				       tuning_baseline_limit(t), &run, err);

		if (r < 0)
			return r;
		if (run.state != TRIAL_GOOD)
			continue;
		compare_baseline_data(t, &run);
		costs[have++] = run.cost;
	}
	return have;
}

static int check_drift(struct tuning *t, struct err *err)
{
	double costs[DRIFT_RUNS], sigma = noise_sigma(&t->noise), away;
	int n;

	t->since = 0;
	n = repeat_baseline(t, costs, 0, 1, err);
	if (n <= 0 || !noise_is_drift(sigma, costs[0], t->level))
		return n;
	/* A single run may be an outlier. */
	n = repeat_baseline(t, costs, n, DRIFT_RUNS, err);
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

/*
 * Are there runs and time left? A resumed tuning does not measure the same times: the phase of the
 * next run to replay shows whether there was time left.
 */
static bool has_budget(const struct tuning *t)
{
	const struct history_run *waiting = history_next_replay(&t->history);

	if (t->history.next >= t->plan.runs)
		return false;
	if (waiting)
		return waiting->phase == PHASE_SEARCH || waiting->phase == PHASE_DRIFT;
	return t->elapsed_s < t->plan.seconds;
}

static bool deserves_another_run(const struct tuning *t, const struct candidate *c)
{
	const struct candidate *best = &t->basis;

	if (t->runner->ops->is_exact || c->count >= t->plan.repeat ||
	    t->history.next >= t->plan.runs)
		return false;
	/* Find the best of the other candidates. */
	for (const struct candidate *o = t->candidates.list; o < c; o++)
		if (o->state == TRIAL_GOOD && o->cost < best->cost)
			best = o;
	return !noise_is_lost(noise_sigma(&t->noise), c->cost, c->count, best->cost, best->count);
}

static int measure_candidate(struct tuning *t, struct candidate *c, struct err *err)
{
	double limit_s = tuning_slow_limit(t, tuning_best_or_baseline(t));
	int r;

	do {
		r = tuning_candidate_run(t, PHASE_SEARCH, c, limit_s, err);
		t->since += r >= 0;
	} while (r >= 0 && c->state == TRIAL_GOOD && deserves_another_run(t, c));
	return r;
}

static int try_candidate(struct tuning *t, const size_t *point, struct err *err)
{
	struct candidate *c = candidates_add(&t->candidates, point, t->plan.space.count);
	int r = measure_candidate(t, c, err);

	if (r < 0) {
		/* Its runs so far count in the result of the interrupted tuning. */
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
	bool drifts = !t->runner->ops->is_exact && t->plan.drift;
	const struct search_prior *prior =
		t->advice ? advice_prior(t->advice, &t->plan.space) : NULL;
	int r = search_new_with_prior(&t->search, t->plan.search, t->plan.settings, &t->plan.space,
				      prior, t->plan.seed, err);

	if (r < 0)
		return r;
	tell_baseline(t, point);
	while (r >= 0 && has_budget(t)) {
		if (drifts && t->since >= t->plan.drift) {
			r = check_drift(t, err);
			continue;
		}
		if (!search_ask(t->search, point))
			break;
		r = try_candidate(t, point, err);
	}
	return r < 0 ? r : 0;
}
