/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From scores (logarithms of weights) to chances that sum to 1.
 */
#ifndef SLUICE_LEARN_MATHS_SOFTMAX_H
#define SLUICE_LEARN_MATHS_SOFTMAX_H

#include <math.h>
#include <stddef.h>

/*
 * In place. A score of -INFINITY is a chance of 0. Where no score is a number above that, all are
 * equally likely: a row far outside of everything must not yield NAN.
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
