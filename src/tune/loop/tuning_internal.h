/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The inside of struct tuning. The tuning is one object, `t`, whose functions are spread over seven
 * files, most of them one per phase; only these files include this header.
 *
 *   tuning.c           starts and opens a tuning, and goes through the phases
 *   tuning_run.c       one run: replayed from the store, or measured, judged and saved
 *   tuning_search.c    the baseline and the search
 *   tuning_simplify.c  races the best points, and removes parameters that do not contribute
 *   tuning_proof.c     compares the winner with the baseline, with and without recording
 *   tuning_partial.c   ablation and importance
 *   tuning_conditions.c  foreign load, oversubscribed cores, and changes of the frequency
 */
#ifndef SLUICE_TUNE_LOOP_TUNING_INTERNAL_H
#define SLUICE_TUNE_LOOP_TUNING_INTERNAL_H

#include "tune/loop/advice.h"
#include "tune/loop/estimate.h"
#include "tune/loop/tuning.h"

#define TUNING_WINNERS                                                            \
	3 /* attempts to prove a winner, and candidates that may fail when re-run \
	   */

struct tuning {
	struct tuning_plan plan;
	struct trial_runner *runner;
	struct trial_runner replayer; /* the runner of tuning_replay() */
	struct tuning_watch watch;
	struct history history;
	struct search *search;
	struct advice *advice; /* of the plan's model; NULL: no model */
	struct candidates candidates;
	struct estimate estimate; /* unused with an exact runner */
	struct partial partial;
	size_t simple;			/* index of the simplified candidate plus one; 0: none */
	size_t origin;			/* index plus one of the candidate it was made from */
	const struct candidate *winner; /* the candidate of the proof */
	struct tuning_result result;
	struct param_set nothing; /* no parameters */
	struct candidate basis;	  /* the runs of the baseline */
	size_t since;		  /* runs since the last run of the baseline */
	uint64_t untried;	  /* runs that the points not tried yet need; 0: all or unknown */
	uint64_t end;		  /* number of the last run of simplification and proof */
	double effect;		  /* of the best candidate: log(baseline / cost), at least 0 */
	double worst;		  /* highest cost that the search was told */
	bool hangs;		  /* a run hung with a value of tunable_may_hang() */
	double elapsed_s;	  /* seconds spent in runs */
	uint64_t phase_runs, phase_planned;
};

static inline bool tuning_is_exact(const struct tuning *t)
{
	return t->runner->ops->is_exact;
}

/* The candidate to prove: the simplified one unless it failed, else the cheapest; NULL: none. */
struct candidate *tuning_best(const struct tuning *t);

/* The least effect, as a logarithm, that a parameter must have to be worth setting: below it is
 * hidden by the noise. */
double tuning_worthwhile(const struct tuning *t);

/* The estimated log(cost / baseline) of a point, plus tuning_worthwhile() per parameter. */
double tuning_rate_point(const struct tuning *t, const size_t *point);

/* The best candidate so far, or the baseline, which a candidate must beat. */
const struct candidate *tuning_best_or_baseline(const struct tuning *t);

/* Time limit of a run: of the baseline, and of a candidate that is compared with the best. */
double tuning_baseline_limit(const struct tuning *t);
double tuning_slow_limit(const struct tuning *t, const struct candidate *best);

/*
 * Is there time for another run of this phase? A resumed tuning does not measure the same times:
 * the phase of the next run to replay shows whether there was time.
 */
bool tuning_has_time(const struct tuning *t, enum history_phase phase);

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

/* The conditions that limit the result, in a sentence that the caller frees; NULL: there is none.
 */
char *tuning_conditions(const struct tuning *t);

/* Did other processes use far more of the processors than in most runs? */
bool tuning_is_disturbed(const struct tuning *t, const struct history_run *run);

/* Was the run aborted only because the time of the whole tuning was over? */
bool tuning_is_cut(const struct history_run *run, double limit_s);

/* Makes one more run of a candidate, and updates its state and, if the run is good, all costs. */
int tuning_candidate_run(struct tuning *t, enum history_phase phase, struct candidate *c,
			 double limit_s, struct err *err);

/* Makes one more run of the baseline and updates all costs. It may fail, except in the first
 * phase. */
int tuning_baseline_run(struct tuning *t, enum history_phase phase, struct history_run *run,
			struct err *err);

/* The same, if it is time for one. Returns 1 if there was a run. */
int tuning_interleave_baseline(struct tuning *t, enum history_phase phase, struct err *err);

/* Adds a good run to the estimate and updates the costs of all candidates. point NULL: baseline. */
void tuning_learn(struct tuning *t, const size_t *point, const struct history_run *run);

/* The cost to tell the search. A slow candidate counts as at least as bad as the worst good one. */
double tuning_candidate_cost(const struct tuning *t, const struct candidate *c);

/* The phases. Each may be interrupted with -EINTR. */
int tuning_run_baseline(struct tuning *t, struct err *err);
int tuning_search(struct tuning *t, struct err *err);
int tuning_simplify(struct tuning *t, struct err *err);
int tuning_prove(struct tuning *t, struct err *err);
int tuning_check_unrecorded(struct tuning *t, struct err *err);
int tuning_ablate(struct tuning *t, struct err *err);

/* Returns -ECANCELED; err says what is wrong with this run of the baseline. */
int tuning_fail_baseline(const struct tuning *t, enum trial_state state, const char *reason,
			 size_t number, struct err *err);

#endif
