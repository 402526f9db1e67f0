/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The ablation phase of a tuning, and the importance of its parameters.
 */
#include "tune/loop/tuning_internal.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"

/* The number of rows to run. */
static size_t count_open_rows(const struct partial *partial)
{
	size_t open = 0;

	for (size_t i = 0; i < partial->count; i++) {
		const struct partial_row *row = &partial->rows[i];

		open += row->same == i && !row->refusal && isnan(row->cost);
	}
	return open;
}

/* The ablation takes at most half as many runs as the search. */
static size_t choose_repetitions(const struct tuning *t, size_t rows)
{
	size_t most = rows ? t->plan.runs / 2 / rows : 1;

	if (t->runner->ops->is_exact || most < 1)
		return 1;
	return most < t->plan.repeat ? most : t->plan.repeat;
}

static int measure_row(struct tuning *t, const struct partial_row *row, size_t wanted, double *cost,
		       struct err *err)
{
	struct candidate runs = { .cost = INFINITY };
	struct history_run run = { .state = TRIAL_GOOD };
	int r = 0;

	while (r >= 0 && run.state == TRIAL_GOOD && runs.count < wanted) {
		r = tuning_measure(t, PHASE_PARTIAL, HISTORY_NO_POINT, &row->set,
				   tuning_baseline_limit(t), &run, err);
		if (r >= 0 && run.state == TRIAL_GOOD)
			candidate_add_run(&runs, run.cost, run.run_s);
	}
	*cost = run.state == TRIAL_GOOD ? runs.cost : INFINITY;
	candidate_release(&runs);
	return r;
}

int tuning_ablate(struct tuning *t, struct err *err)
{
	struct param_set winner = { 0 };
	size_t row, wanted, rows;
	double cost;
	int r = 0;

	if (!t->plan.partial || !t->result.proof.holds)
		return 0;
	space_set(&t->plan.space, t->winner->point, &winner);
	partial_plan(&t->partial, &t->nothing, &winner, &t->plan.context);
	param_set_release(&winner);
	partial_tell(&t->partial, partial_find(&t->partial, PARTIAL_DEFAULT),
		     t->result.proof.before);
	partial_tell(&t->partial, partial_find(&t->partial, PARTIAL_FULL), t->result.proof.after);
	rows = count_open_rows(&t->partial);
	wanted = choose_repetitions(t, rows);
	t->phase_runs = 0;
	t->phase_planned = rows * wanted;
	while (r >= 0 && partial_next(&t->partial, &row)) {
		r = measure_row(t, &t->partial.rows[row], wanted, &cost, err);
		if (r >= 0)
			partial_tell(&t->partial, row, cost);
	}
	return r;
}

int tuning_importance(const struct tuning *t, struct importance *importance, struct err *err)
{
	size_t width = t->plan.space.count, count = 0;
	AUTO_FREE size_t *points =
		xcalloc((t->candidates.count + 1) * (width + 1), sizeof(*points));
	AUTO_FREE double *costs = xcalloc(t->candidates.count + 1, sizeof(*costs));
	struct param_set set = { 0 };

	space_default(&t->plan.space, points);
	space_settle(&t->plan.space, points);
	space_set(&t->plan.space, points, &set);
	if (!set.count)
		costs[count++] = t->result.level;
	param_set_release(&set);
	for (size_t i = 0; i < t->candidates.count; i++) {
		const struct candidate *c = &t->candidates.list[i];

		memcpy(points + count * width, c->point, width * sizeof(*points));
		costs[count++] = c->cost;
	}
	return importance_init(importance, &t->plan.space, points, costs, count, err);
}
