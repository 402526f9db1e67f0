/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/loop/noise.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "learn/math/vector.h"

/* In standard deviations of the difference. A candidate at this limit is the best in one of three
 * cases, and then by less than the noise: further runs are better spent on other points. */
#define LOST 0.5
/* In standard deviations; exceeded by chance once in about 370 checks. */
#define DRIFTED 3
/* In standard deviations; exceeded by chance once in about 40 comparisons. */
#define SURELY 2
/* The loss that must be ruled out: log(1.1). */
#define LOSS 0.0953
#define MAD_TO_SIGMA 1.4826

void noise_release(struct noise *noise)
{
	free(noise->deviations);
	*noise = (struct noise){ 0 };
}

void noise_add(struct noise *noise, const double *costs, size_t count)
{
	/* The median of two runs is their mean, and both are closer to it than to the true value.
	 */
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
	/* The nearest one determines the median: it has no information about the deviation. */
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
	/* From the median absolute deviation to the standard deviation of a normal distribution. */
	sigma = MAD_TO_SIGMA * vector_median(copy, noise->count);
	return sigma > NOISE_LEAST ? sigma : NOISE_LEAST;
}

/* Standard deviation of the difference of two medians. */
static double difference_spread(double sigma, size_t runs, size_t other_runs)
{
	return sigma * sqrt(1 / (double)runs + 1 / (double)other_runs);
}

bool noise_is_lost(double sigma, double cost, size_t runs, double best, size_t best_runs)
{
	return log(cost / best) > LOST * difference_spread(sigma, runs, best_runs);
}

enum noise_verdict noise_compare(double sigma, double cost, size_t runs, double other,
				 size_t other_runs)
{
	double spread = difference_spread(sigma, runs, other_runs), away = log(cost / other);

	if (away > SURELY * spread)
		return NOISE_WORSE;
	return away <= spread && away + SURELY * spread <= LOSS ? NOISE_SAME : NOISE_OPEN;
}

size_t noise_runs(double sigma)
{
	/* With so many runs both conditions of SAME are equally strict. */
	double root = (1 + SURELY) * sigma / LOSS, runs = ceil(2 * root * root);

	return runs > 2 ? (size_t)runs : 2;
}

bool noise_is_drift(double sigma, double cost, double level)
{
	return fabs(log(cost / level)) > DRIFTED * sigma;
}
