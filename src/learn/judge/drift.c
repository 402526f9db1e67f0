/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Two shares are compared, that of the training and that of the window, so the band is Wilson's for
 * the harmonic sum of both row counts.
 */
#include "learn/judge/drift.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

/*
 * The quantile of the normal distribution by Newton's method. Starting at 0, the steps never
 * overshoot in the upper half, so it converges.
 */
static double normal_quantile(double chance)
{
	double half = chance < 0.5 ? 1 - chance : chance, x = 0;

	half = fmin(half, 1 - 1e-12);
	for (int i = 0; i < 60; i++) {
		double above = erfc(x / M_SQRT2) / 2;
		double density = exp(-x * x / 2) / sqrt(2 * M_PI);

		x += (above - (1 - half)) / density;
	}
	return chance < 0.5 ? -x : x;
}

double drift_share_low(double share, double rows, double confidence)
{
	double z = normal_quantile(confidence), square = z * z / rows;
	double middle = share + square / 2;
	double half = z * sqrt(share * (1 - share) / rows + square / rows / 4);

	return (middle - half) / (1 + square);
}

void drift_init(struct drift *drift, double expected, size_t trained_on, size_t window,
		double confidence)
{
	double doubt = 1. / (double)window + (trained_on ? 1. / (double)trained_on : 0);

	*drift = (struct drift){
		.expected = expected,
		.low = drift_share_low(expected, 1 / doubt, confidence),
		.right = xcalloc(window, sizeof(*drift->right)),
		.window = window,
	};
}

void drift_release(struct drift *drift)
{
	free(drift->right);
	*drift = (struct drift){ 0 };
}

bool drift_learn(struct drift *drift, bool right)
{
	double share;

	if (drift->count == drift->window)
		drift->sum -= drift->right[drift->next];
	else
		drift->count++;
	drift->right[drift->next] = right;
	drift->sum += right;
	drift->next = (drift->next + 1) % drift->window;
	if (drift->count < drift->window)
		return false;
	share = drift_share(drift);
	if (drift->drifted) {
		drift->drifted = share < drift->expected;
		return false;
	}
	drift->drifted = share < drift->low;
	return drift->drifted;
}

double drift_share(const struct drift *drift)
{
	return drift->count ? (double)drift->sum / (double)drift->count : NAN;
}
