/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The inside of struct tuning. The tuning is one object, `t`, whose functions are spread over six
 * files, one per phase; only these files include this header.
 *
 *   tuning.c           starts and opens a tuning, and goes through the phases
 *   tuning_run.c       one run: replayed from the store, or measured, judged and saved
 *   tuning_search.c    the baseline, the search and the drift checks
 *   tuning_simplify.c  removes parameters of the best point that do not contribute
 *   tuning_proof.c     compares the winner with the baseline
 *   tuning_partial.c   ablation and importance
 */
#ifndef SLUICE_TUNE_LOOP_TUNING_INTERNAL_H
#define SLUICE_TUNE_LOOP_TUNING_INTERNAL_H

#include "tune/loop/advice.h"
#include "tune/loop/noise.h"
#include "tune/loop/tuning.h"

#define TUNING_WINNERS 3 /* attempts to prove a winner; one that fails is rejected */

struct tuning {
	struct tuning_plan plan;
	struct trial_runner *runner;
	struct tuning_watch watch;
	struct history history;
	struct search *search;
	struct advice *advice; /* of the plan's model; NULL: no model */
	struct candidates candidates;
	struct noise noise;
	struct partial partial;
	size_t simple;			/* index of the simplified candidate plus one; 0: none */
	size_t origin;			/* index plus one of the candidate it was made from */
	const struct candidate *winner; /* the candidate of the proof */
	struct tuning_result result;
	struct param_set nothing; /* no parameters */
	struct candidate basis;	  /* the runs of the baseline at the start */
	double level;	  /* cost of the baseline now; result.level is the one at the start */
	size_t since;	  /* runs since the last drift check */
	double worst;	  /* highest cost that the search was told */
	double elapsed_s; /* seconds spent in runs */
	uint64_t phase_runs, phase_planned;
	char digest[33]; /* of the baseline's data */
	bool check;	 /* compare the data; off if the baseline's data varies */
};

/* The candidate to prove: the simplified one unless it failed, else the cheapest; NULL: none. */
struct candidate *tuning_best(const struct tuning *t);

/* The best candidate so far, or the baseline, which a candidate must beat. */
const struct candidate *tuning_best_or_baseline(const struct tuning *t);

/* Time limit of a run: of the baseline, and of a candidate that is compared with the best. */
double tuning_baseline_limit(const struct tuning *t);
double tuning_slow_limit(const struct tuning *t, const struct candidate *best);

/* Makes a trial and judges it; the caller releases it. Saves nothing. cost is NAN unless the trial
 * is good. */
int tuning_make_trial(struct tuning *t, enum history_phase phase, const struct param_set *set,
		      double limit_s, struct trial *trial, double *cost, struct err *err);

/* The row of the store for a trial. Its texts belong to the arguments. */
struct study_run tuning_row(enum history_phase phase, uint64_t point, const char *parameters,
			    const struct trial *trial, double cost, int64_t begun_ns);

/* The next run of the course: replayed from the store, or measured and saved. */
int tuning_measure(struct tuning *t, enum history_phase phase, uint64_t point,
		   const struct param_set *set, double limit_s, struct history_run *run,
		   struct err *err);

/* Makes one more run of a candidate, and updates its state and, if the run is good, its cost. */
int tuning_candidate_run(struct tuning *t, enum history_phase phase, struct candidate *c,
			 double limit_s, struct err *err);

/* The cost to tell the search. A slow candidate counts as at least as bad as the worst good one. */
double tuning_candidate_cost(const struct tuning *t, const struct candidate *c);

/* The phases. Each may be interrupted with -EINTR. */
int tuning_run_baseline(struct tuning *t, struct err *err);
int tuning_search(struct tuning *t, struct err *err);
int tuning_simplify(struct tuning *t, struct err *err);
int tuning_prove(struct tuning *t, struct err *err);
int tuning_ablate(struct tuning *t, struct err *err);

/* Returns -ECANCELED; err says what is wrong with this run of the baseline. */
int tuning_fail_baseline(enum trial_state state, const char *reason, size_t number,
			 struct err *err);

#endif
