/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The proof phase of a tuning: fresh, interleaved runs of the winner and the baseline.
 */
#include "tune/loop/tuning_internal.h"

#include "base/mem.h"

/* The costs of the fresh runs. */
struct fresh {
	double *before, *after;
	size_t before_count, after_count;
};

/* Makes one run of the winner (`tuned`) or of the baseline. 0: the winner failed; it is rejected.
 */
static int run_one_side(struct tuning *t, const struct candidate *c, const struct param_set *set,
			bool tuned, struct fresh *fresh, struct err *err)
{
	struct history_run run;
	int r;

	if (tuned)
		r = tuning_measure(t, PHASE_PROOF, space_number(&t->plan.space, c->point), set,
				   tuning_slow_limit(t, &t->basis), &run, err);
	else
		r = tuning_measure(t, PHASE_PROOF, HISTORY_NO_POINT, &t->nothing,
				   tuning_baseline_limit(t), &run, err);
	if (r < 0)
		return r;
	if (run.state != TRIAL_GOOD)
		return !tuned;
	if (tuned)
		fresh->after[fresh->after_count++] = run.cost;
	else
		fresh->before[fresh->before_count++] = run.cost;
	return 1;
}

/* Runs the pairs interleaved, with alternating order within a pair, so that disturbances affect
 * both sides. */
static int run_pairs(struct tuning *t, const struct candidate *c, size_t pairs, struct fresh *fresh,
		     struct err *err)
{
	struct param_set set = { 0 };
	int r = 1;

	space_set(&t->plan.space, c->point, &set);
	t->phase_runs = 0;
	t->phase_planned = 2 * pairs;
	for (size_t i = 0; r > 0 && i < 2 * pairs; i++)
		r = run_one_side(t, c, &set, (i / 2 + i) & 1, fresh, err);
	param_set_release(&set);
	return r;
}

static int try_proof(struct tuning *t, struct candidate *c, struct err *err)
{
	bool exact = t->runner->ops->is_exact;
	size_t pairs = exact ? 1 : t->plan.pairs;
	AUTO_FREE double *costs = xcalloc(2 * pairs, sizeof(*costs));
	struct fresh fresh = { .before = costs, .after = costs + pairs };
	int r = run_pairs(t, c, pairs, &fresh, err);

	if (r < 0)
		return r;
	c->is_rejected = r == 0;
	t->result.rejected += c->is_rejected;
	if (!c->is_rejected)
		proof_judge(&t->result.proof, fresh.before, fresh.before_count, fresh.after,
			    fresh.after_count, exact);
	return 0;
}

int tuning_prove(struct tuning *t, struct err *err)
{
	struct candidate *c;
	int r;

	while (t->result.rejected < TUNING_WINNERS && (c = tuning_best(t))) {
		t->winner = c;
		r = try_proof(t, c, err);
		if (r < 0 || !c->is_rejected)
			return r;
	}
	return 0;
}
