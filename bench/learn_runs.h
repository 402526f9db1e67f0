/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One year of I/O benchmarks on Cori (tokio-abc) as a table in time order, with what was known of
 * earlier runs when each of them started. Runs come eight to a job: writes and reads of four
 * programs, one after the other. No past is taken from a run that had not ended.
 */
#ifndef BENCH_LEARN_RUNS_H
#define BENCH_LEARN_RUNS_H

#include "learn/table/dataset.h"

struct err;

/*
 * Columns beside those of the file (all rates and counters as logarithms):
 *	program, write, shared, size    what kind of run it is
 *	rate                            what is to be predicted
 *	rate_*                          its past among runs of the same kind
 *	level                           rate_mean; of a kind without a past, that of kinds like it
 *	relative_*                      rate - level of the last runs of any kind
 *	way_*                           the same, of the last runs in the same direction
 *	now_X, beside_X                 what servers counted per second during the run, and this
 *	                                beside its mean over the last runs of the kind
 *	own_now_X, other_now_X and so   bytes in the run's direction, and in the other
 *	flow_mean, flow_most            own_now_ave and own_now_max beside level
 *	surplus_*                       relative - own_beside_ave of the last runs of any kind
 */
struct runs {
	struct dataset table;
	double *time, *known; /* start and end */
	double *kind;
	double *level; /* the column; 0 where nothing came before */
	double *rate;  /* the column */
	size_t rows, kinds;
};

enum runs_part { RUNS_ALL, RUNS_FIRST_HALF };

/* With RUNS_FIRST_HALF the rest of the year is dropped before anything is made of it. */
int runs_read(struct runs *runs, const char *path, enum runs_part part, struct err *err);
void runs_release(struct runs *runs);

#endif
