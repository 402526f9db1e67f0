/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Compares two groups of costs by the Mann-Whitney test: the probability that chance alone makes
 * them differ as they do, and the confidence interval of their ratio that belongs to the test
 * (Hodges and Lehmann). Neither assumes anything about the distribution of costs, except that the
 * second group's is the first one's times the ratio. The runs must not have been chosen by their
 * costs; a tuning, which looks at the costs after each pair, uses tune/loop/proof.h instead.
 *
 * Equal costs count against a difference, so the test errs less often than its level states.
 */
#ifndef SLUICE_LEARN_MATH_RATIO_H
#define SLUICE_LEARN_MATH_RATIO_H

#include <stdbool.h>
#include <stddef.h>

/* Probability outside of a 95 % interval, both sides together. */
#define RATIO_LEVEL 0.05

/* The distribution of the test's statistic for groups of these sizes. */
struct ratio_test {
	size_t n, m;
	double *at_most; /* P(U <= u) without a difference, for u up to n m / 2 */
};

/* Large groups (more than RATIO_EXACT pairs) use the normal approximation. */
#define RATIO_EXACT 2500
void ratio_test_init(struct ratio_test *test, size_t n, size_t m);
void ratio_test_release(struct ratio_test *test); /* accepts a zeroed object */

/* The least level at which a test of groups of these sizes can find a difference; above 1: none. */
double ratio_test_least(const struct ratio_test *test);

/* Two-sided probability that equal groups differ at least as much as these. */
double ratio_test_chance(const struct ratio_test *test, const double *before, const double *after);

struct ratio_interval {
	double low, middle, high; /* middle: the median of all ratios */
};

/*
 * The interval of before / after with the probability `level` outside. It excludes 1 if and only if
 * ratio_test_chance() is at most the level. False: there are too few costs for this level; for
 * RATIO_LEVEL four of each are enough. All costs must be above 0.
 */
bool ratio_test_interval(const struct ratio_test *test, const double *before, const double *after,
			 double level, struct ratio_interval *interval);

/* Both in one call, for the 95 % interval of a single comparison. */
bool ratio_interval(const double *before, size_t n, const double *after, size_t m,
		    struct ratio_interval *interval);

#endif
