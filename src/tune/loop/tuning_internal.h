/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files of a tuning share; nobody else includes it.
 *
 *   tuning.c         begins, opens, goes through the phases
 *   tuning_run.c     one run: from the store, or measured, judged and kept
 *   tuning_search.c  default, search and drift
 *   tuning_simplify.c the winner without what brings nothing
 *   tuning_proof.c   the winner against the default
 *   tuning_partial.c what each part of the winner brings, and what mattered
 */
#ifndef SLUICE_TUNE_LOOP_TUNING_INTERNAL_H
#define SLUICE_TUNE_LOOP_TUNING_INTERNAL_H

#include <time.h>

#include "tune/loop/advice.h"
#include "tune/loop/noise.h"
#include "tune/loop/tuning.h"

#define TUNING_WINNERS 3 /* that are looked at; who fails is rejected */

struct tuning {
	struct tuning_plan plan;
	struct trial_runner *runner;
	struct tuning_watch watch;
	struct history history;
	struct search *search;
	struct advice *advice; /* of the plan's model; NULL: it has none */
	struct candidates candidates;
	struct noise noise;
	struct partial partial;
	size_t simple;			/* its place among candidates, plus one; 0: none */
	size_t origin;			/* of what it was made simple from; likewise */
	const struct candidate *winner; /* that was proved, or could not be */
	struct tuning_result result;
	struct param_set nothing;
	struct candidate basis; /* the default's runs at the beginning */
	double level;		/* of the default now; result.level is that of the beginning */
	size_t since;		/* runs since the default was last looked at */
	double worst;		/* cost that the search was told */
	double elapsed_s;	/* in runs */
	uint64_t phase_runs, phase_planned;
	char digest[33];
	bool check;
};

int64_t tuning_clock_ns(clockid_t clock);

/* The one to prove: the simplified one unless it has failed, else the cheapest; NULL: none. */
struct candidate *tuning_best(const struct tuning *t);

/* What a candidate must beat: the best so far, or the default. */
const struct candidate *tuning_leader(const struct tuning *t);

/* Seconds after which a run is ended: of the default, and of what is compared with the best. */
double tuning_default_limit(const struct tuning *t);
double tuning_slow_limit(const struct tuning *t, const struct candidate *best);

/* Runs the bed and judges the trial, which the caller releases; nothing is kept. cost is NAN unless
 * it is good. */
int tuning_try(struct tuning *t, enum history_phase phase, const struct param_set *set,
	       double limit_s, struct trial *trial, double *cost, struct err *err);

/* The row of the store that a trial becomes; its texts are those of the arguments. */
struct study_run tuning_row(enum history_phase phase, uint64_t point, const char *parameters,
			    const struct trial *trial, double cost, int64_t begun_ns);

/* The next run of the course: from the store, or measured now and kept. */
int tuning_measure(struct tuning *t, enum history_phase phase, uint64_t point,
		   const struct param_set *set, double limit_s, struct history_run *run,
		   struct err *err);

/* One more run of a candidate, which gets its state and, where it is good, its cost. */
int tuning_candidate_run(struct tuning *t, enum history_phase phase, struct candidate *c,
			 double limit_s, struct err *err);

/* What it counts as. Of a slow one it is only known that it is worse than all that counts. */
double tuning_candidate_cost(const struct tuning *t, const struct candidate *c);

/* The phases. Each may be cut off by -EINTR. */
int tuning_default(struct tuning *t, struct err *err);
int tuning_search(struct tuning *t, struct err *err);
int tuning_simplify(struct tuning *t, struct err *err);
int tuning_prove(struct tuning *t, struct err *err);
int tuning_take_apart(struct tuning *t, struct err *err);

/* -ECANCELED with what is wrong with the default run of this number. */
int tuning_default_failed(enum trial_state state, const char *reason, size_t number,
			  struct err *err);

#endif
