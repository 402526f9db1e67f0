/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One run of a tuning: replayed from the history, or measured, judged and saved.
 */
#include "base/clock.h"
#include "tune/loop/tuning_internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"

/* A run of the baseline is aborted after this many times its run time. */
#define DEFAULT_PATIENCE 10
#define WORTHWHILE_LEAST 0.01
#define WORTHWHILE 0.2	     /* of the noise */
#define WORTHWHILE_SHARE 0.1 /* of the effect of the best point, if that is less */
#define TIME_LEAST_S 0.1
/* The shares of the time limit after which the search and the simplification end: a winner without
 * a proof is worth nothing. */
#define SEARCH_SHARE 0.5
#define SIMPLIFY_SHARE 0.65
/* A smaller change of the baseline, or one that is within the noise, is not reported. */
#define DRIFT_LEAST 0.05
#define DRIFT_SURELY 3.0

struct candidate *tuning_best(const struct tuning *t)
{
	struct candidate *simple = t->simple ? &t->candidates.list[t->simple - 1] : NULL;

	if (simple && simple->state == TRIAL_GOOD && !simple->is_rejected)
		return simple;
	return candidates_best(&t->candidates, t->result.level);
}

const struct candidate *tuning_best_or_baseline(const struct tuning *t)
{
	const struct candidate *best = tuning_best(t);

	return best ? best : &t->basis;
}

/* The cost of the trial; its run time if nothing was recorded. A run without a cost is not good. */
static double judge_trial(const struct tuning *t, bool is_unrecorded, struct trial *trial)
{
	double cost = NAN;

	if (trial->state != TRIAL_GOOD)
		return cost;
	cost = cost_of(is_unrecorded ? COST_RUN : t->plan.objective, trial);
	if (isnan(cost)) {
		trial->state = TRIAL_UNSEEN;
		free(trial->reason);
		trial->reason =
			xprintf("no time of %s was measured", cost_label(t->plan.objective));
	}
	return cost;
}

struct study_run tuning_row(enum history_phase phase, uint64_t point, const char *parameters,
			    const struct trial *trial, double cost, int64_t begun_ns)
{
	return (struct study_run){
		.number = 1,
		.phase = history_phase_name(phase),
		.point = point,
		.parameters = parameters,
		.effective = trial->effective,
		.state = trial_state_name(trial->state),
		.reason = trial->reason,
		.cost = cost,
		.run_s = trial->run_s,
		.io_s = trial->io_s,
		.read_bytes = trial->read_bytes,
		.write_bytes = trial->write_bytes,
		.foreign = trial->foreign,
		.frequency = trial->frequency,
		.digest = trial->digest,
		.compared = trial->compared,
		.begun_ns = begun_ns,
	};
}

/* Estimates this phase only: the length of later phases depends on its result. */
static double estimate_eta_s(const struct tuning *t)
{
	double left = (double)t->phase_planned - (double)t->phase_runs, eta;

	if (!t->history.next || !t->phase_planned || left < 0)
		return NAN;
	eta = left * t->elapsed_s / (double)t->history.next;
	if (eta > t->plan.seconds - t->elapsed_s)
		eta = t->plan.seconds - t->elapsed_s;
	return eta > 0 ? eta : 0;
}

static void show_progress(const struct tuning *t, enum history_phase phase)
{
	struct tuning_progress progress = {
		.phase = phase,
		.run = t->phase_runs + 1,
		.planned = t->phase_planned,
		.gain = t->basis.count ? t->result.level / tuning_best_or_baseline(t)->cost : 1,
		.eta_s = estimate_eta_s(t),
	};

	if (t->watch.show)
		t->watch.show(t->watch.arg, &progress);
}

/* At least a moment: whoever wants another run has checked that there is time. */
static double time_left_s(const struct tuning *t)
{
	return fmax(t->plan.seconds - t->elapsed_s, TIME_LEAST_S);
}

static double share_of_time(enum history_phase phase)
{
	switch (phase) {
	case PHASE_SEARCH:
	case PHASE_DRIFT:
		return SEARCH_SHARE;
	case PHASE_SIMPLIFY:
		return SIMPLIFY_SHARE;
	default:
		return 1;
	}
}

bool tuning_has_time(const struct tuning *t, enum history_phase phase)
{
	const struct history_run *waiting = history_next_replay(&t->history);

	return waiting ? waiting->phase == phase
		       : t->elapsed_s < share_of_time(phase) * t->plan.seconds;
}

bool tuning_is_cut(const struct history_run *run, double limit_s)
{
	/* A run that was aborted at its own limit took at least as long. */
	return run->state == TRIAL_SLOW && run->run_s < 0.9 * limit_s;
}

int tuning_make_trial(struct tuning *t, enum history_phase phase, const struct param_set *set,
		      double limit_s, struct trial *trial, double *cost, struct err *err)
{
	struct trial_limits limits = { .seconds = fmin(limit_s, time_left_s(t)),
				       .is_unrecorded = phase == PHASE_UNRECORDED };
	double elapsed_s;
	int64_t start;
	int r;

	if (t->watch.stop && t->watch.stop(t->watch.arg))
		return err_set(err, EINTR, "stopped");
	show_progress(t, phase);
	start = clock_now_ns();
	r = t->runner->ops->run(t->runner->state, set, &limits, trial, err);
	elapsed_s = (double)(clock_now_ns() - start) / NS_PER_S;
	/* A simulated run takes no time. */
	if (r >= 0 && !tuning_is_exact(t))
		elapsed_s = fmax(elapsed_s, trial->run_s);
	t->elapsed_s += elapsed_s;
	if (r < 0)
		return r;
	/* The rest of the time was too short for it. */
	if (trial->state == TRIAL_SLOW && limits.seconds < limit_s)
		t->elapsed_s = fmax(t->elapsed_s, t->plan.seconds);
	*cost = judge_trial(t, limits.is_unrecorded, trial);
	return 0;
}

static int measure_and_save(struct tuning *t, enum history_phase phase, uint64_t point,
			    const struct param_set *set, const char *parameters, double limit_s,
			    struct history_run *run, struct err *err)
{
	int64_t begun_ns = clock_realtime_ns();
	struct trial trial = { 0 };
	struct study_run row;
	double cost = NAN;
	int r = tuning_make_trial(t, phase, set, limit_s, &trial, &cost, err);

	if (r >= 0) {
		row = tuning_row(phase, point, parameters, &trial, cost, begun_ns);
		r = history_add(&t->history, &row, run, err);
	}
	trial_release(&trial);
	return r;
}

int tuning_measure(struct tuning *t, enum history_phase phase, uint64_t point,
		   const struct param_set *set, double limit_s, struct history_run *run,
		   struct err *err)
{
	AUTO_BUF struct buf parameters = { 0 };
	int r = param_json.write(set, &parameters, err);

	if (r < 0)
		return r;
	r = history_replay(&t->history, phase, buf_text(&parameters), run, err);
	/* A calculated run takes no time. */
	if (r > 0 && !t->runner->ops->is_exact)
		t->elapsed_s += run->run_s;
	else if (r == 0)
		r = measure_and_save(t, phase, point, set, buf_text(&parameters), limit_s, run,
				     err);
	if (r < 0)
		return r;
	t->phase_runs++;
	t->result.phase = phase;
	t->result.counts[run->state]++;
	if (run->state == TRIAL_GOOD && set->count && run->compared)
		t->result.compared = run->compared;
	return 0;
}

double tuning_baseline_limit(const struct tuning *t)
{
	return DEFAULT_PATIENCE * (candidate_median_run_s(&t->basis) + 1);
}

double tuning_slow_limit(const struct tuning *t, const struct candidate *best)
{
	double run_s = candidate_median_run_s(best), limit = t->plan.slow * run_s;

	return limit > run_s + 1 ? limit : run_s + 1;
}

double tuning_worthwhile(const struct tuning *t)
{
	return fmax(WORTHWHILE_LEAST,
		    fmin(WORTHWHILE * t->estimate.sigma, WORTHWHILE_SHARE * t->effect));
}

double tuning_rate_point(const struct tuning *t, const size_t *point)
{
	struct param_set set = { 0 };
	size_t count;

	space_set(&t->plan.space, point, &set);
	count = set.count;
	param_set_release(&set);
	return estimate_ratio(&t->estimate, point, NULL, NULL) +
	       tuning_worthwhile(t) * (double)count;
}

/* The largest change of the baseline that exceeds the noise. */
static void find_drift(struct tuning *t)
{
	double deviation,
		change = estimate_change(&t->estimate, 1, (double)t->history.next, &deviation);

	if (fabs(change) > DRIFT_LEAST + DRIFT_SURELY * deviation &&
	    fabs(change) > fabs(log(t->result.drift)))
		t->result.drift = exp(change);
}

static bool is_known(const struct tuning *t, const struct candidate *c)
{
	return c->state == TRIAL_GOOD && estimate_knows(&t->estimate, c->point);
}

static void update_cost(struct tuning *t, struct candidate *c)
{
	double ratio;

	if (!is_known(t, c))
		return;
	ratio = estimate_ratio(&t->estimate, c->point, NULL, NULL);
	c->cost = t->result.level * exp(ratio);
	t->effect = fmax(t->effect, -ratio);
}

static void update_rank(const struct tuning *t, struct candidate *c)
{
	if (is_known(t, c))
		c->rank = t->result.level * exp(tuning_rate_point(t, c->point));
}

void tuning_learn(struct tuning *t, const size_t *point, const struct history_run *run)
{
	if (tuning_is_exact(t)) {
		t->result.level = t->basis.cost;
		return;
	}
	estimate_add(&t->estimate, point, log(run->cost), (double)t->history.next,
		     tuning_is_disturbed(t, run));
	estimate_fit(&t->estimate);
	t->result.level = t->basis.cost = exp(estimate_level(&t->estimate, 1));
	t->result.noise = t->estimate.sigma;
	t->effect = 0;
	for (size_t i = 0; i < t->candidates.count; i++)
		update_cost(t, &t->candidates.list[i]);
	for (size_t i = 0; i < t->candidates.count; i++)
		update_rank(t, &t->candidates.list[i]);
	find_drift(t);
}

/* Corrects the last run of a candidate, which was just learned. */
static void correct_drift(struct tuning *t, struct candidate *c)
{
	if (!tuning_is_exact(t))
		c->costs[c->count - 1] *=
			exp(estimate_change(&t->estimate, (double)t->history.next, 1, NULL));
}

static bool point_may_hang(const struct tuning *t, const size_t *point)
{
	const struct space *space = &t->plan.space;

	for (size_t i = 0; i < space->count; i++)
		if (space_is_active(space, point, i) &&
		    tunable_may_hang(space->dimensions[i].tunable,
				     space->dimensions[i].values[point[i]]))
			return true;
	return false;
}

/*
 * An aborted run may have hung. Unless such a point has ever run to its end, all of them are taken
 * to hang: each further trial would cost the whole time limit.
 */
static bool all_points_hang(const struct tuning *t)
{
	for (size_t i = 0; i < t->candidates.count; i++)
		if (t->candidates.list[i].count && point_may_hang(t, t->candidates.list[i].point))
			return false;
	return true;
}

int tuning_candidate_run(struct tuning *t, enum history_phase phase, struct candidate *c,
			 double limit_s, struct err *err)
{
	bool may_hang = point_may_hang(t, c->point);
	struct param_set set = { 0 };
	struct history_run run;
	int r;

	if (may_hang && t->hangs) {
		c->state = TRIAL_SLOW;
		return 0;
	}
	space_set(&t->plan.space, c->point, &set);
	r = tuning_measure(t, phase, space_number(&t->plan.space, c->point), &set, limit_s, &run,
			   err);
	param_set_release(&set);
	if (r < 0)
		return r;
	t->since++;
	if (tuning_is_cut(&run, limit_s))
		return 0;
	/* An aborted run has at least this cost. For a candidate that was good before it is one run
	 * among others, as any run may be an outlier, unless it may have hung. */
	if (run.state == TRIAL_SLOW) {
		run.cost = t->basis.cost * run.run_s / candidate_median_run_s(&t->basis);
		run.state = c->count && !may_hang ? TRIAL_GOOD : TRIAL_SLOW;
		t->hangs = t->hangs || (may_hang && all_points_hang(t));
	}
	c->state = run.state;
	if (run.state == TRIAL_GOOD)
		candidate_add_run(c, run.cost, run.run_s);
	if (run.state == TRIAL_GOOD || run.state == TRIAL_SLOW)
		tuning_learn(t, c->point, &run);
	if (run.state == TRIAL_GOOD)
		correct_drift(t, c);
	return 0;
}

int tuning_baseline_run(struct tuning *t, enum history_phase phase, struct history_run *run,
			struct err *err)
{
	double limit_s = t->basis.count ? tuning_baseline_limit(t) : INFINITY;
	int r = tuning_measure(t, phase, HISTORY_NO_POINT, &t->nothing, limit_s, run, err);

	if (r < 0)
		return r;
	t->since = 0;
	if (run->state == TRIAL_GOOD) {
		candidate_add_run(&t->basis, run->cost, run->run_s);
		tuning_learn(t, NULL, run);
	}
	return 0;
}

int tuning_interleave_baseline(struct tuning *t, enum history_phase phase, struct err *err)
{
	struct history_run run;
	int r;

	if (tuning_is_exact(t) || !t->plan.drift || t->since < t->plan.drift)
		return 0;
	r = tuning_baseline_run(t, phase, &run, err);
	return r < 0 ? r : 1;
}

double tuning_candidate_cost(const struct tuning *t, const struct candidate *c)
{
	double slow = t->plan.slow * tuning_best_or_baseline(t)->cost;

	if (c->state == TRIAL_GOOD)
		return candidate_median_cost(c);
	if (c->state != TRIAL_SLOW)
		return INFINITY;
	return slow > t->worst ? slow : t->worst;
}
