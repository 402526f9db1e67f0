/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The confidence interval of the ratio of two groups of costs that belongs to the Mann-Whitney test
 * (Hodges and Lehmann): it makes no assumption about the distribution of costs, but the runs must
 * not have been chosen by their costs. A tuning uses tune/loop/proof.h instead, as it looks at the
 * costs after each pair.
 */
#ifndef SLUICE_TUNE_LOOP_RATIO_H
#define SLUICE_TUNE_LOOP_RATIO_H

#include <stdbool.h>
#include <stddef.h>

/* The 95 % interval of before / after. False: there are too few costs; four of each are enough. */
bool ratio_interval(const double *before, size_t n, const double *after, size_t m, double *low,
		    double *high);

/* The number of the smallest (and of the largest) of all n x m ratios that are outside the 95 %
 * interval; -1: there are too few for an interval. */
int ratio_outside(size_t n, size_t m);

#endif
