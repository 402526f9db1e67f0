/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A tuning runs a program under different parameters, finds the best and proves the gain. It goes
 * through these phases:
 *
 *   default   runs the baseline, without parameters, several times
 *   search    asks a search for points, which a model of the machine may guide. A new best is
 *             repeated, unless the runs suffice for every point of the space only without that; a
 *             point that is far too slow is aborted
 *   drift     repeats the baseline from time to time during the search
 *   simplify  races the best points, and removes from the winner the parameters that do not
 *             contribute to its gain
 *   proof     runs the winner and the baseline interleaved, in random order, until a sequential
 *             test decides (tune/loop/proof.h); only these fresh runs count for the gain. If it is
 *             not proved, the runner-up is tried
 *   unrecorded  runs the proved winner and the baseline without recording, interleaved. Recording
 *             makes each call slower, so fewer calls look better than they are. If every run of the
 *             winner takes longer than every run of the baseline, no gain is claimed
 *   partial   measures the contribution of each layer and parameter of the winner (ablation)
 *
 * Costs are estimated from all runs so far (tune/loop/estimate.h): the baseline is pooled and
 * follows drift, each run is compared with the baseline of its time, and an estimate counts less
 * the fewer runs support it.
 *
 * A candidate that fails, crashes, hangs or writes different data is recorded and counts as bad;
 * only the baseline must work. Each run is in the store before the next begins. The course follows
 * from the plan and the runs so far alone, so a tuning that was interrupted at any point takes the
 * same course when it is resumed. A time limit is the exception: it is resumed by the runs made. It
 * limits all phases, and aborts a run that exceeds it.
 * Papers: ATE-1, ATE-2.
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
	enum history_phase phase; /* the last phase that was reached */
	bool is_complete;	  /* the tuning ran to its end */
	double level;		  /* cost of the baseline at the start */
	double noise;		  /* standard deviation of the logarithm of one run's cost */
	/* Largest change of the baseline's cost: 1.3 is 30 % slower; 1: none that exceeds the noise
	 * and 5 %. */
	double drift;
	const struct candidate *best;	/* better than the baseline; NULL: no candidate is */
	const struct candidate *origin; /* best before it was simplified; NULL: unchanged */
	struct proof proof;		/* of best; without a proof, holds is false */
	const struct partial *partial;	/* results of the ablation; NULL: none */
	const char *compared;		/* trial.compared of the last good run with parameters */
	size_t rejected;		/* winners that failed when they were run again */
	size_t unproved;		/* winners whose gain was not proved */
	/* Run times without recording, in seconds, of the baseline and of best; NAN: not run. */
	double unrecorded_before, unrecorded_after;
	bool is_contradicted;	     /* by these, so the proof does not hold */
	size_t disturbed;	     /* runs of the proof under foreign load */
	size_t counts[TRIAL_STATES]; /* runs per state */
	struct search_counts asked;
	char *conditions; /* under which alone the result is valid, in a sentence; NULL: none */
	double bytes;	  /* that the baseline reads and writes */
	const char *note; /* what the model leaves out; NULL: nothing, or no model */
	char *withheld; /* which value of the suggested space was not tried, and why; NULL: none */
};

/* For a progress line. */
struct tuning_progress {
	enum history_phase phase;
	uint64_t run, planned; /* of this phase; planned 0: unknown */
	double gain;	       /* speedup of the best so far; 1: none */
	double eta_s;	       /* NAN: unknown */
};

struct tuning_watch {
	bool (*stop)(void *arg); /* called before each run; true: stop */
	void (*show)(void *arg, const struct tuning_progress *progress); /* before each run */
	void *arg;
};

struct tuning;

/*
 * Runs the baseline once, reads or suggests the space, and starts a study. The tuning takes over
 * the plan and fills in its second half; runner, store and watch must outlive the tuning. Fails if
 * the baseline does (-ECANCELED), if there is nothing to tune (-ENODATA), or as the runner does.
 */
int tuning_begin(struct tuning **tuning, struct tuning_plan *plan, struct trial_runner *runner,
		 struct store *store, const struct tuning_watch *watch, struct err *err);

/* Opens a tuning of the store; the plan is from tuning_plan_read(). */
int tuning_open(struct tuning **tuning, int64_t study, struct tuning_plan *plan,
		struct trial_runner *runner, struct store *store, const struct tuning_watch *watch,
		struct err *err);
void tuning_close(struct tuning *tuning);

/*
 * Computes the result of a tuning of the store again from its runs, as they determine its course:
 * what was found so far, or at the end. Runs nothing and changes nothing; takes as long as the
 * search needs to choose its points. The plan is from tuning_plan_read(); the tuning takes it over.
 * -EBADMSG: another version of Sluice made the runs.
 */
int tuning_replay(struct tuning **tuning, const struct study *study, struct tuning_plan *plan,
		  struct store *store, struct err *err);

/* Runs all phases. -EINTR: the watch stopped it; the result has what was found so far. */
int tuning_run(struct tuning *tuning, struct err *err);

const struct tuning_plan *tuning_plan(const struct tuning *tuning);
const struct tuning_result *tuning_result(const struct tuning *tuning);
const struct history *tuning_history(const struct tuning *tuning);
const struct candidates *tuning_candidates(const struct tuning *tuning);

/* The most runs that the simplify phase takes; exact: the runner's is_exact. */
uint64_t tuning_simplify_most(const struct tuning_plan *plan, bool exact);

/* The importance of the parameters, from all candidates; see tune/loop/importance.h. */
int tuning_importance(const struct tuning *tuning, struct importance *importance, struct err *err);

#endif
