/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/guard.h"

#include <math.h>

#include "learn/math/ratio.h"
#include "learn/math/vector.h"
#include "store/entry_runs.h"

/* The last runs of one kind, oldest first. */
struct window {
	size_t first; /* position of the oldest one in the list of all runs */
	size_t count;
	double costs[GUARD_WINDOW];
};

/* Takes runs at or after the position `from`. */
static void fill_window(struct window *w, const struct entry_run *runs, size_t from, size_t count,
			bool is_applied)
{
	size_t at = count;

	*w = (struct window){ .first = count };
	while (at > from && w->count < GUARD_WINDOW) {
		if (runs[--at].is_applied != is_applied)
			continue;
		w->first = at;
		w->costs[GUARD_WINDOW - ++w->count] = runs[at].cost;
	}
	for (size_t i = 0; i < w->count; i++)
		w->costs[i] = w->costs[GUARD_WINDOW - w->count + i];
}

/* Sorts the costs. */
static double window_median(struct window *w)
{
	return w->count ? vector_median(w->costs, w->count) : NAN;
}

static void judge_baseline(struct guard *g, const struct entry_run *runs, size_t count)
{
	struct window w;

	fill_window(&w, runs, 0, count, false);
	g->baseline_runs = w.count;
	g->median = window_median(&w);
	g->low = w.count ? w.costs[0] : NAN;
	g->high = w.count ? w.costs[w.count - 1] : NAN;
}

static bool has_lost(const struct guard *g, const struct entry_run *run)
{
	return run->is_applied && g->baseline_runs >= GUARD_BASELINE_LEAST && run->cost > g->high;
}

/* Counts the confirmed losses since the position `from`: those with a later run without parameters.
 */
static size_t count_losses(const struct guard *g, const struct entry_run *runs, size_t from,
			   size_t count)
{
	size_t losses = 0, waiting = 0;

	for (size_t i = from; i < count; i++) {
		if (runs[i].is_applied) {
			waiting += has_lost(g, &runs[i]);
			continue;
		}
		losses += waiting;
		waiting = 0;
	}
	return losses;
}

/* Compares the runs of the period that begins with the position `from`. */
static bool is_slower(const struct entry_run *runs, size_t from, size_t count)
{
	struct window without, with;
	struct ratio_interval interval;

	fill_window(&without, runs, from, count, false);
	fill_window(&with, runs, from, count, true);
	window_median(&with);
	/* A failed run has no cost that could be compared. */
	if (without.count < GUARD_BASELINE_LEAST || with.count < GUARD_BASELINE_LEAST ||
	    isinf(with.costs[with.count - 1]))
		return false;
	return ratio_interval(without.costs, without.count, with.costs, with.count, &interval) &&
	       interval.high < 1;
}

static enum guard_control next_control(const struct guard *g, const struct entry_run *runs,
				       size_t count)
{
	size_t applied = 0;

	while (applied < count && runs[count - 1 - applied].is_applied)
		applied++;
	if (!applied)
		return GUARD_NO_CONTROL;
	for (size_t i = count - applied; i < count; i++)
		if (has_lost(g, &runs[i]))
			return GUARD_AFTER_LOSS;
	if (g->baseline_runs < GUARD_BASELINE_LEAST)
		return GUARD_NO_BASELINE;
	if (applied + 1 >= GUARD_CONTROL_EVERY)
		return GUARD_PERIODIC;
	return runs[count - 1 - applied].cost < g->applied_median ? GUARD_IN_DOUBT
								  : GUARD_NO_CONTROL;
}

void guard_judge(struct guard *guard, const struct entry_run *runs, size_t count)
{
	struct window applied;

	*guard = (struct guard){ 0 };
	judge_baseline(guard, runs, count);
	fill_window(&applied, runs, 0, count, true);
	guard->applied_runs = applied.count;
	guard->applied_median = window_median(&applied);
	guard->losses = count_losses(guard, runs, applied.first, count);
	guard->is_last_lost = count && has_lost(guard, &runs[count - 1]);
	guard->is_slower = is_slower(runs, applied.first, count);
	guard->control = next_control(guard, runs, count);
}

bool guard_demotes(const struct guard *guard)
{
	return guard->losses >= GUARD_LOSSES || guard->is_slower;
}

const char *guard_control_reason(enum guard_control control)
{
	switch (control) {
	case GUARD_AFTER_LOSS:
		return "the last run with the parameters failed or was slower than the default";
	case GUARD_NO_BASELINE:
		return "it is not known yet how long runs without parameters take";
	case GUARD_IN_DOUBT:
		return "the last run without parameters was faster than runs with them";
	case GUARD_PERIODIC:
		return "from time to time, the default is measured again";
	case GUARD_NO_CONTROL:
		break;
	}
	return "";
}
