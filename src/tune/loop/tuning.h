/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A tuning: runs a program under different parameters, finds the best and proves it.
 *
 *   default   without parameters, several times: what has to be beaten, and how noisy it is
 *   search    a search is asked for points, maybe led by a model of the machine; who leads is run
 * again, who is clearly behind is not, who takes far too long is ended drift     the default again
 * every now and then: where the machine has changed, costs are compared with the default of that
 * time simplify  what the best can do without is left out of it: fewer changes, the same gain proof
 * the winner and the default in turn, all fresh runs; only they count for the claim partial   what
 * each layer and parameter of the winner brings
 *
 * Whatever a candidate does wrong (fails, crashes, hangs, writes other data) is recorded and counts
 * against it; only the default must work. Every run is in the store before the next begins. What
 * comes next follows from the plan and the runs so far alone, so a tuning that was cut off at any
 * point takes the same course when it is opened again; a limit of time is the exception, which is
 * kept by the runs that were made.
 */
#ifndef SLUICE_TUNE_LOOP_TUNING_H
#define SLUICE_TUNE_LOOP_TUNING_H

#include "tune/loop/candidates.h"
#include "tune/loop/history.h"
#include "tune/loop/importance.h"
#include "tune/loop/partial.h"
#include "tune/loop/plan.h"
#include "tune/loop/proof.h"
#include "tune/search/search.h"

struct tuning_result {
	enum history_phase phase;	/* how far it came */
	bool is_complete;		/* to the end of the plan */
	double level;			/* cost of the default at the beginning */
	double noise;			/* of one run, of the logarithm */
	double drift;			/* how far the default's cost went: 1.3 is 30 % slower */
	const struct candidate *best;	/* better than the default so far; NULL: none is */
	const struct candidate *origin; /* what best was before it was simplified; NULL: the same */
	struct proof proof;		/* of best; holds is false where there was none */
	const struct partial *partial;	/* NULL: there is none */
	const char *unchecked;	     /* why data was not compared; NULL: it was, and is the same */
	size_t rejected;	     /* winners that failed when they were to be proved */
	size_t counts[TRIAL_STATES]; /* of runs */
	struct search_counts asked;
	double bytes;	  /* that the default run moves */
	const char *note; /* what the model leaves out; NULL: nothing, or there is none */
};

/* What is going on, for a line of progress. */
struct tuning_progress {
	enum history_phase phase;
	uint64_t run, planned; /* of this phase; 0: unknown */
	double gain;	       /* of the best so far; 1: none */
	double eta_s;	       /* NAN: unknown */
};

struct tuning_watch {
	bool (*stop)(void *arg); /* asked before each run; true: the user wants to stop */
	void (*show)(void *arg, const struct tuning_progress *progress); /* before each run */
	void *arg;
};

struct tuning;

/*
 * Runs the default once, takes or suggests the space, and begins a study. The plan becomes the
 * tuning's, which fills its second half in; bed, store and watch must outlive it. Fails where the
 * default does (-ECANCELED), where there is nothing to tune (-ENODATA), or as a bed does.
 */
int tuning_begin(struct tuning **tuning, struct tuning_plan *plan, struct trial_runner *runner,
		 struct store *store, const struct tuning_watch *watch, struct err *err);

/* Opens one that is in the store; plan as tuning_plan_read() gives it. */
int tuning_open(struct tuning **tuning, int64_t study, struct tuning_plan *plan,
		struct trial_runner *runner, struct store *store, const struct tuning_watch *watch,
		struct err *err);
void tuning_close(struct tuning *tuning);

/* Goes on to the end. -EINTR: the user wants to stop; the result tells what there is. */
int tuning_run(struct tuning *tuning, struct err *err);

const struct tuning_plan *tuning_plan(const struct tuning *tuning);
const struct tuning_result *tuning_result(const struct tuning *tuning);
const struct history *tuning_history(const struct tuning *tuning);
const struct candidates *tuning_candidates(const struct tuning *tuning);

/* Most runs that simplifying takes; exact: as of the bed. */
uint64_t tuning_simplify_most(const struct tuning_plan *plan, bool exact);

/* Which parameters explain the costs of all that was tried; see importance.h. */
int tuning_importance(const struct tuning *tuning, struct importance *importance, struct err *err);

#endif
