/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Is it faster, and by how much? Fresh runs before and after are compared without any assumption on
 * how times are distributed: the interval is the one that belongs to the test of Mann and Whitney
 * (Hodges and Lehmann), on ratios. It needs four runs each to say anything with 95 % confidence.
 */
#ifndef SLUICE_TUNE_LOOP_PROOF_H
#define SLUICE_TUNE_LOOP_PROOF_H

#include <stdbool.h>
#include <stddef.h>

#define PROOF_RUNS_LEAST 4
#define PROOF_RUNS_MOST 100

struct proof {
	size_t before_runs, after_runs;
	double before, after; /* medians of costs */
	double gain;	      /* before / after */
	double low, high;     /* of the gain; 0 and INFINITY where there are too few runs */
	bool holds;	      /* the interval is above 1 */
};

/* Costs of good runs, all above 0. Exact: equal runs cost the same, so one each is proof. */
void proof_judge(struct proof *proof, const double *before, size_t before_count,
		 const double *after, size_t after_count, bool exact);

/* How many of the smallest (and largest) of all n x m ratios lie outside a 95 % interval; -1: there
 * are too few to have one. */
int proof_outside(size_t n, size_t m);

#endif
