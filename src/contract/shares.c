/* SPDX-License-Identifier: BSD-3-Clause */
#include "contract/shares.h"

#include <math.h>

#define MAX_ITERATIONS 200
#define SUM_TOLERANCE 1e-15

static double clamp(double share, double low, double high)
{
	return share < low ? low : share > high ? high : share;
}

/* The sum of scale * weight, each clamp to the limits; *slope is its derivative. */
static double sum_of_clamped(const double *weights, size_t count, double scale, double low,
			     double high, double *slope)
{
	double sum = 0;

	*slope = 0;
	for (size_t i = 0; i < count; i++) {
		double share = scale * weights[i];

		if (weights[i] <= 0)
			continue;
		*slope += share > low && share < high ? weights[i] : 0;
		sum += clamp(share, low, high);
	}
	return sum;
}

/*
 * Finds the scale for which the sum is 1. The sum is piecewise linear in the scale, so Newton's
 * method converges in a few steps; a step that leaves the bracket is replaced by bisection.
 */
static double find_scale(const double *weights, size_t count, double low, double high)
{
	double from = 0, to = INFINITY, scale = 1, slope;

	for (int i = 0; i < MAX_ITERATIONS && to - from > 1e-16 * from; i++) {
		double sum = sum_of_clamped(weights, count, scale, low, high, &slope), next;

		if (fabs(sum - 1) < SUM_TOLERANCE)
			break;
		*(sum < 1 ? &from : &to) = scale;
		next = slope > 0 ? scale + (1 - sum) / slope : from;
		if (!(next > from && next < to))
			next = isinf(to) ? 2 * scale : (from + to) / 2;
		scale = next;
	}
	return scale;
}

void shares_fill(const double *weights, size_t count, double least, double most, double *shares)
{
	double sum = 0, low, high, scale;
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		sum += weights[i];
		n += weights[i] > 0;
	}
	low = n ? least / (double)n : 0;
	high = n && most > 0 ? most / (double)n : INFINITY;
	for (size_t i = 0; i < count; i++)
		shares[i] = weights[i] / sum;
	if (low <= 0 && isinf(high))
		return;
	/* The weights are normalized, so the scale is near 1. */
	scale = find_scale(shares, count, low, high);
	for (size_t i = 0; i < count; i++)
		shares[i] = shares[i] > 0 ? clamp(scale * shares[i], low, high) : 0;
}
