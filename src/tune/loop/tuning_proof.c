/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The proof phase of a tuning: fresh, interleaved runs of the winner and the baseline, until the
 * test decides or the pairs are used up. If the winner is not proved, the runner-up is tried with
 * the remaining pairs and the rest of the error level. A proved winner is run without recording,
 * too.
 */
#include "tune/loop/tuning_internal.h"

#include <math.h>

#include "base/mem.h"
#include "learn/math/vector.h"

/* A runner-up must be better than the baseline by this many standard deviations of its estimate. */
#define PROMISING 1.0
/* Pairs without recording. */
#define UNRECORDED_PAIRS 3
/* A lower level needs more pairs than an attempt can have. */
#define LEVEL_LEAST 0.001

/* The fresh runs of one attempt. */
struct attempt {
	const struct candidate *candidate;
	struct param_set set;
	struct proof_plan plan;
	double *before, *after; /* costs */
	size_t before_count, after_count;
	uint64_t end; /* number of the last run that it may make */
	uint64_t seed;
};

/* Makes one run of the winner (`tuned`) or of the baseline. 0: the winner failed; it is rejected.
 * A failure of the baseline is repeated. */
static int run_one_side(struct tuning *t, struct attempt *a, bool tuned, struct err *err)
{
	double limit_s = tuning_baseline_limit(t);
	const size_t *point = tuned ? a->candidate->point : NULL;
	struct history_run run;
	int r;

	while (t->history.next < a->end && tuning_has_time(t, PHASE_PROOF)) {
		r = tuning_measure(t, PHASE_PROOF,
				   tuned ? space_number(&t->plan.space, point) : HISTORY_NO_POINT,
				   tuned ? &a->set : &t->nothing, limit_s, &run, err);
		if (r < 0)
			return r;
		if (tuned && run.state != TRIAL_GOOD && !tuning_is_cut(&run, limit_s))
			return 0;
		if (run.state != TRIAL_GOOD)
			continue;
		tuning_learn(t, point, &run);
		t->result.disturbed += tuning_is_disturbed(t, &run);
		if (tuned)
			a->after[a->after_count++] = run.cost;
		else
			a->before[a->before_count++] = run.cost;
		return 1;
	}
	return 1;
}

/* Runs until the test decides, or the pairs or the time are used up. 0: the winner failed. */
static int run_pairs(struct tuning *t, struct attempt *a, struct proof *proof, struct err *err)
{
	int r = 1;

	t->phase_runs = 0;
	t->phase_planned = 2 * a->plan.pairs;
	for (size_t i = 0; r > 0 && i < 2 * a->plan.pairs && !proof->holds && !proof->is_futile;
	     i++) {
		r = run_one_side(t, a, proof_order(&a->plan, a->seed, i), err);
		/* One side is missing: there are no runs or no time left. */
		if (r <= 0 || a->before_count + a->after_count != i + 1)
			break;
		if (i % 2 && proof_is_look(&a->plan, (i + 1) / 2))
			proof_judge(proof, &a->plan, a->before, a->after, a->after_count);
	}
	return r;
}

static int try_proof(struct tuning *t, struct candidate *c, uint64_t end, struct proof *proof,
		     struct err *err)
{
	uint64_t most = (end - t->history.next) / 2;
	size_t left = most < PROOF_PAIRS_MOST ? (size_t)most : PROOF_PAIRS_MOST;
	struct attempt attempt = {
		.candidate = c,
		.plan = { .pairs = left,
			  .level = PROOF_LEVEL - t->result.proof.spent,
			  .sigma = t->estimate.sigma,
			  .exact = tuning_is_exact(t) },
		.end = end,
		.seed = t->plan.seed + t->history.next,
	};
	AUTO_FREE double *costs = xcalloc(2 * left + 2, sizeof(*costs));
	int r;

	attempt.before = costs;
	attempt.after = costs + left + 1;
	space_set(&t->plan.space, c->point, &attempt.set);
	r = run_pairs(t, &attempt, proof, err);
	param_set_release(&attempt.set);
	return r;
}

/* Is there enough left for a proof of this candidate? */
static bool is_worth_trying(const struct tuning *t, const struct candidate *c, uint64_t end)
{
	double deviation, ratio;

	if (tuning_is_exact(t) || !t->winner)
		return true;
	if (end < t->history.next + 2 * PROOF_BLOCK ||
	    PROOF_LEVEL - t->result.proof.spent < LEVEL_LEAST)
		return false;
	ratio = estimate_ratio(&t->estimate, c->point, NULL, &deviation);
	return -ratio > PROMISING * deviation;
}

int tuning_prove(struct tuning *t, struct err *err)
{
	uint64_t end = tuning_is_exact(t) ? t->history.next + 2 * TUNING_WINNERS : t->end;
	struct candidate *c;
	int r;

	while (t->result.rejected + t->result.unproved < TUNING_WINNERS && (c = tuning_best(t)) &&
	       is_worth_trying(t, c, end) && tuning_has_time(t, PHASE_PROOF)) {
		struct proof proof = { 0 };
		double spent = t->result.proof.spent;

		r = try_proof(t, c, end, &proof, err);
		if (r < 0)
			return r;
		/* The result has the proof, or the first attempt. */
		if (proof.holds || (!t->winner && r > 0)) {
			t->winner = c;
			t->result.proof = proof;
		}
		t->result.proof.spent = spent + proof.spent;
		if (proof.holds)
			return 0;
		c->is_rejected = true;
		t->result.rejected += r == 0;
		t->result.unproved += r > 0;
		t->simple = 0;
	}
	return 0;
}

/* Runs one side without recording. 0: the run failed, or there is no time. */
static int run_unrecorded(struct tuning *t, const struct param_set *set, double *seconds,
			  struct err *err)
{
	struct history_run run;
	int r;

	if (!tuning_has_time(t, PHASE_UNRECORDED))
		return 0;
	r = tuning_measure(t, PHASE_UNRECORDED,
			   set->count ? space_number(&t->plan.space, t->winner->point)
				      : HISTORY_NO_POINT,
			   set, tuning_baseline_limit(t), &run, err);
	if (r < 0 || run.state != TRIAL_GOOD)
		return r < 0 ? r : 0;
	*seconds = run.cost;
	return 1;
}

/* Is each of the first numbers below each of the second ones? */
static bool is_separated(const double *low, const double *high, size_t count)
{
	double highest = 0, lowest = INFINITY;

	for (size_t i = 0; i < count; i++) {
		highest = fmax(highest, low[i]);
		lowest = fmin(lowest, high[i]);
	}
	return highest < lowest;
}

/* Which side comes first alternates. */
static int run_unrecorded_pairs(struct tuning *t, const struct param_set *set, double *before,
				double *after, struct err *err)
{
	int r = 1;

	t->phase_runs = 0;
	t->phase_planned = 2 * (uint64_t)UNRECORDED_PAIRS;
	for (size_t i = 0; r > 0 && i < 2 * (size_t)UNRECORDED_PAIRS; i++) {
		bool tuned = (i + i / 2) % 2;

		r = run_unrecorded(t, tuned ? set : &t->nothing, (tuned ? after : before) + i / 2,
				   err);
	}
	return r;
}

int tuning_check_unrecorded(struct tuning *t, struct err *err)
{
	double before[UNRECORDED_PAIRS], after[UNRECORDED_PAIRS];
	struct tuning_result *result = &t->result;
	struct param_set set = { 0 };
	int r;

	if (!result->proof.holds || !t->runner->ops->can_skip_recording)
		return 0;
	space_set(&t->plan.space, t->winner->point, &set);
	r = run_unrecorded_pairs(t, &set, before, after, err);
	param_set_release(&set);
	if (r <= 0)
		return r;
	result->is_contradicted = is_separated(before, after, UNRECORDED_PAIRS);
	result->proof.holds = !result->is_contradicted;
	result->unrecorded_before = vector_median(before, UNRECORDED_PAIRS);
	result->unrecorded_after = vector_median(after, UNRECORDED_PAIRS);
	return 0;
}
