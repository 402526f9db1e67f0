/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Many tests at once: of twenty comparisons without any difference, one is "significant" at 5 %.
 * The procedure of Benjamini and Hochberg (1995) limits the expected share of false ones among the
 * differences that are claimed. If there is no difference at all, it limits the probability of any
 * claim. Confidence intervals of the claimed differences at the same limit cover the true values
 * with the same expected share (Benjamini and Yekutieli 2005).
 */
#ifndef SLUICE_LEARN_MATH_FALSE_DISCOVERY_H
#define SLUICE_LEARN_MATH_FALSE_DISCOVERY_H

#include <stddef.h>

/*
 * Returns the highest probability that counts as a difference, given the probabilities of all tests
 * without a difference; 0 if none does. Sorts the probabilities.
 */
double false_discovery_limit(double *chances, size_t count, double level);

#endif
