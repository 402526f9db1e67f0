/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/noise.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "learn/data/vector.h"

/* In standard deviations of the difference. A candidate at the border leads in one of three cases,
 * and then by less than the noise: runs are better spent on other points. */
#define LOST 0.5
/* Crossed by chance once in some 370 looks. */
#define DRIFTED 3

void noise_release(struct noise *noise)
{
	free(noise->deviations);
	*noise = (struct noise){ 0 };
}

void noise_add(struct noise *noise, const double *costs, size_t count)
{
	/* Of two, the median is their mean, from which both are less far than from the truth. */
	double scale = count == 2 ? sqrt(2) : 1, median;
	AUTO_FREE double *logs = NULL;
	size_t nearest = 0;

	if (count < 2)
		return;
	logs = xcalloc(count, sizeof(*logs));
	for (size_t i = 0; i < count; i++)
		logs[i] = log(costs[i]);
	median = vector_median(logs, count);
	for (size_t i = 0; i < count; i++) {
		logs[i] = fabs(logs[i] - median);
		nearest = logs[i] < logs[nearest] ? i : nearest;
	}
	noise->deviations = xgrow(noise->deviations, &noise->cap, noise->count + count,
				  sizeof(*noise->deviations));
	/* One is spent on the median itself. */
	for (size_t i = 0; i < count; i++) {
		if (i != nearest)
			noise->deviations[noise->count++] = logs[i] * scale;
	}
}

double noise_sigma(const struct noise *noise)
{
	AUTO_FREE double *copy = NULL;
	double sigma;

	if (!noise->count)
		return NOISE_LEAST;
	copy = xcalloc(noise->count, sizeof(*copy));
	for (size_t i = 0; i < noise->count; i++)
		copy[i] = noise->deviations[i];
	/* From the median of what is normal to its deviation. */
	sigma = 1.4826 * vector_median(copy, noise->count);
	return sigma > NOISE_LEAST ? sigma : NOISE_LEAST;
}

bool noise_is_lost(double sigma, double cost, size_t runs, double best, size_t best_runs)
{
	double spread = sigma * sqrt(1 / (double)runs + 1 / (double)best_runs);

	return log(cost / best) > LOST * spread;
}

bool noise_is_drift(double sigma, double cost, double level)
{
	return fabs(log(cost / level)) > DRIFTED * sigma;
}
