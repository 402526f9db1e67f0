/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One year of I/O benchmarks on Cori (tokio-abc) as a table in time order. Each run has features of
 * the runs that had ended when it started. A job consists of eight runs: writes and reads of four
 * programs, one after the other.
 */
#ifndef BENCH_LEARN_RUNS_H
#define BENCH_LEARN_RUNS_H

#include "learn/table/dataset.h"

struct err;

/*
 * Columns in addition to those of the file (all rates and counters are logarithms):
 *	program, write, shared, size    the kind of the run
 *	rate                            the response
 *	rate_*                          features of earlier rates of the same kind
 *	level                           rate_mean; for a kind without earlier runs, that of similar
 *kinds relative_*                      rate - level of the last runs of any kind way_* the same, of
 *the last runs in the same direction now_X, beside_X                 server counters per second
 *during the run, and their difference from the mean of the last runs of the kind own_now_X,
 *other_now_X, ...     bytes in the direction of the run, and in the other one flow_mean, flow_most
 *own_now_ave and own_now_max minus level surplus_*                       relative - own_beside_ave
 *of the last runs of any kind
 */
struct runs {
	struct dataset table;
	double *time, *known; /* start and end */
	double *kind;
	double *level; /* the column; 0 without earlier runs */
	double *rate;  /* the column */
	size_t rows, kinds;
};

enum runs_part { RUNS_ALL, RUNS_FIRST_HALF };

/* With RUNS_FIRST_HALF the second half of the year is dropped before any feature is computed. */
int runs_read(struct runs *runs, const char *path, enum runs_part part, struct err *err);
void runs_release(struct runs *runs);

#endif
