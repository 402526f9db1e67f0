/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Turns scores (logarithms of weights) into probabilities that sum to 1.
 */
#ifndef SLUICE_LEARN_MATH_SOFTMAX_H
#define SLUICE_LEARN_MATH_SOFTMAX_H

#include <math.h>
#include <stddef.h>

/*
 * Works in place. A score of -INFINITY gives a probability of 0. If all scores are -INFINITY or
 * NAN, all classes are equally likely, so that a row far from all training rows does not yield NAN.
 */
static inline void softmax(double *scores, size_t count)
{
	double top = -INFINITY, sum = 0;

	for (size_t i = 0; i < count; i++) {
		if (scores[i] > top)
			top = scores[i];
	}
	for (size_t i = 0; i < count; i++) {
		scores[i] = isfinite(top) ? exp(scores[i] - top) : 1;
		if (!(scores[i] >= 0))
			scores[i] = 0;
		sum += scores[i];
	}
	for (size_t i = 0; i < count; i++)
		scores[i] /= sum;
}

#endif
