/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The rules by which an entry of the knowledge base is applied, checked and demoted. They decide
 * from its runs alone (store/entry_runs.h), so that every decision can be explained and tested.
 *
 * - The baseline is the last GUARD_WINDOW runs without parameters. It is known from
 *   GUARD_BASELINE_LEAST runs on.
 * - A run with the parameters loses if it is slower than the whole baseline, or if it fails. On a
 *   loaded machine any run may lose. Therefore the next run after a loss is a control, without
 *   parameters. If the control is as slow, the baseline grows and the loss does not count. If it is
 *   fast, the loss is confirmed.
 * - An entry with GUARD_LOSSES confirmed losses among the last GUARD_WINDOW runs with the
 *   parameters is demoted. So is an entry if these runs are slower than the runs without
 *   parameters of the same period, with the confidence that is required of a gain.
 * - Other controls: one run in GUARD_CONTROL_EVERY, because the baseline may change; every second
 *   run while the baseline is not known, or while the last control was faster than the median of
 *   the runs with the parameters.
 */
#ifndef SLUICE_RUN_GUARD_H
#define SLUICE_RUN_GUARD_H

#include <stdbool.h>
#include <stddef.h>

struct entry_run;

#define GUARD_WINDOW 10
#define GUARD_BASELINE_LEAST 4
#define GUARD_LOSSES 2
#define GUARD_CONTROL_EVERY 20

/* Why the next run has to be a control. */
enum guard_control {
	GUARD_NO_CONTROL,
	GUARD_AFTER_LOSS,
	GUARD_NO_BASELINE,
	GUARD_IN_DOUBT, /* the last control was faster than runs with the parameters */
	GUARD_PERIODIC,
};

struct guard {
	size_t baseline_runs;	    /* in the window */
	double low, median, high;   /* costs of the baseline; NAN: there are no runs */
	size_t applied_runs;	    /* in the window */
	double applied_median;	    /* cost; NAN: there are no runs */
	size_t losses;		    /* confirmed */
	bool is_last_lost;	    /* the last run had parameters and lost, confirmed or not */
	bool is_slower;		    /* than the runs without parameters of the same period */
	enum guard_control control; /* of the next run */
};

/* The runs are in the order of time, all of the same size. */
void guard_judge(struct guard *guard, const struct entry_run *runs, size_t count);

/* Is the entry to be demoted? */
bool guard_demotes(const struct guard *guard);

/* A clause for the user; "" for GUARD_NO_CONTROL. */
const char *guard_control_reason(enum guard_control control);

#endif
