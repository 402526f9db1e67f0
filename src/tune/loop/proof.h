/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Proves a speedup and estimates it. Fresh runs before and after are compared without an assumption
 * about the distribution of times: the confidence interval of the ratio is the one that belongs to
 * the Mann-Whitney test (Hodges and Lehmann). A 95 % interval needs four runs of each.
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
	double low, high; /* 95 % interval of the gain; 0 and INFINITY if there are too few runs */
	bool holds;	  /* the interval is above 1 */
};

/* The costs are of good runs and above 0. exact: equal runs cost the same, so one run of each is a
 * proof. */
void proof_judge(struct proof *proof, const double *before, size_t before_count,
		 const double *after, size_t after_count, bool exact);

/* The number of the smallest (and of the largest) of all n x m ratios that are outside the 95 %
 * interval; -1: there are too few for an interval. */
int proof_outside(size_t n, size_t m);

#endif
