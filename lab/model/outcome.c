/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: HYB-47, HYB-48.
 */
#include "lab/model/outcome.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "lab/model/contest.h"
#include "learn/judge/metrics.h"
#include "learn/math/random.h"

#define WORSE_MUCH 0.95 /* limits of struct standing */
#define EVEN_MAX 1.1
#define BETTER_MAX 1.5

const double outcome_shares[OUTCOME_QUANTILES] = { 0.05, 0.25, 0.5, 0.75, 0.95 };

void outcome_init(struct outcome *outcome, const struct contest *contest, size_t repetitions)
{
	size_t count = repetitions * contest->instance_count;

	*outcome = (struct outcome){
		.instances = contest->instance_count,
		.repetitions = repetitions,
		.chosen = xcalloc(count, sizeof(*outcome->chosen)),
		.gains = xmalloc(count * sizeof(*outcome->gains)),
		.kendalls = xmalloc(count * sizeof(*outcome->kendalls)),
	};
	for (size_t i = 0; i < count; i++)
		outcome->gains[i] = outcome->kendalls[i] = NAN;
}

void outcome_release(struct outcome *outcome)
{
	free(outcome->chosen);
	free(outcome->gains);
	free(outcome->kendalls);
	*outcome = (struct outcome){ 0 };
}

void outcome_choose(struct outcome *outcome, const struct contest *contest, size_t repetition,
		    size_t instance, size_t choice)
{
	size_t at = repetition * outcome->instances + instance;

	outcome->chosen[at] = choice;
	outcome->gains[at] = contest_gain(contest, instance, choice);
}

static size_t find_fastest(const struct contest *contest, const double *predicted,
			   const bool *barred)
{
	size_t best = barred && barred[contest->initial] ? SIZE_MAX : contest->initial;

	for (size_t i = 0; i < contest->choice_count; i++) {
		if ((barred && barred[i]) || isnan(predicted[i]))
			continue;
		if (best == SIZE_MAX || !(predicted[best] <= predicted[i]))
			best = i;
	}
	return best;
}

static double rank_correlation(const struct contest *contest, size_t instance,
			       const double *predicted, const bool *barred)
{
	AUTO_FREE double *truth = xmalloc(2 * contest->choice_count * sizeof(*truth));
	double *guess = truth + contest->choice_count;
	size_t count = 0;

	for (size_t i = 0; i < contest->choice_count; i++) {
		if ((barred && barred[i]) || isnan(predicted[i]))
			continue;
		truth[count] = contest_mean(contest, instance, i);
		guess[count++] = predicted[i];
	}
	return metrics_kendall(truth, guess, count);
}

void outcome_predicted(struct outcome *outcome, const struct contest *contest, size_t repetition,
		       const double *predicted, const bool *barred)
{
	for (size_t i = 0; i < outcome->instances; i++) {
		const double *row = predicted + i * contest->choice_count;
		const bool *excluded = barred ? barred + i * contest->choice_count : NULL;
		size_t choice = find_fastest(contest, row, excluded);

		if (choice != SIZE_MAX)
			outcome_choose(outcome, contest, repetition, i, choice);
		outcome->kendalls[repetition * outcome->instances + i] =
			rank_correlation(contest, i, row, excluded);
	}
}

void outcome_optimal(struct outcome *outcome, const struct contest *contest)
{
	for (size_t i = 0; i < outcome->instances * outcome->repetitions; i++)
		outcome_choose(outcome, contest, i / outcome->instances, i % outcome->instances,
			       contest_best(contest, i % outcome->instances));
}

void outcome_default(struct outcome *outcome, const struct contest *contest)
{
	for (size_t i = 0; i < outcome->instances * outcome->repetitions; i++)
		outcome_choose(outcome, contest, i / outcome->instances, i % outcome->instances,
			       contest->initial);
}

void outcome_random(struct outcome *outcome, const struct contest *contest, uint64_t seed)
{
	for (size_t k = 0; k < outcome->repetitions; k++) {
		struct random random;

		random_stream(&random, seed, k);
		for (size_t i = 0; i < outcome->instances; i++)
			outcome_choose(outcome, contest, k, i,
				       random_below(&random, contest->choice_count));
	}
}

void outcome_expected(struct outcome *outcome, const struct contest *contest)
{
	outcome_default(outcome, contest);
	for (size_t i = 0; i < outcome->instances; i++) {
		double sum = 0;

		for (size_t c = 0; c < contest->choice_count; c++)
			sum += contest_gain(contest, i, c);
		for (size_t k = 0; k < outcome->repetitions; k++)
			outcome->gains[k * outcome->instances + i] =
				sum / (double)contest->choice_count;
	}
}

double outcome_mean(const struct outcome *outcome, size_t instance)
{
	double sum = 0;
	size_t count = 0;

	for (size_t k = 0; k < outcome->repetitions; k++) {
		double gain = outcome->gains[k * outcome->instances + instance];

		if (isnan(gain))
			continue;
		sum += gain;
		count++;
	}
	return count ? sum / (double)count : NAN;
}

static double mean_best_gain(const struct contest *contest)
{
	double sum = 0;

	for (size_t i = 0; i < contest->instance_count; i++)
		sum += contest_gain(contest, i, contest_best(contest, i));
	return sum / (double)contest->instance_count;
}

/*
 * The standard error of the mean gain. A repetition compares one run of the default with one run of
 * the choice. A gain compares their means, so it is corrected by the deviations of the two runs.
 */
static double standard_error(const struct outcome *outcome, const struct contest *contest,
			     size_t instance)
{
	double mean = 0, m2 = 0;
	size_t count = 0;

	for (size_t k = 0; k < outcome->repetitions; k++) {
		size_t at = k * outcome->instances + instance, choice = outcome->chosen[at];
		double ratio = outcome->gains[at], before = mean;

		if (isnan(ratio))
			continue;
		ratio *= contest_seconds(contest, instance, contest->initial, k) /
			 contest_seconds(contest, instance, choice, k) /
			 contest_gain(contest, instance, choice);
		mean += (ratio - mean) / (double)++count;
		m2 += (ratio - before) * (ratio - mean);
	}
	return count > 1 ? sqrt(m2 / (double)(count - 1) / (double)count) : INFINITY;
}

static void count_bands(struct standing *standing, const struct outcome *outcome,
			const struct contest *contest)
{
	double sum = 0;
	size_t count = 0;

	for (size_t i = 0; i < outcome->instances; i++) {
		double gain = outcome_mean(outcome, i);

		if (isnan(gain))
			continue;
		standing->worse += gain < 1;
		standing->worse_surely +=
			gain < 1 && gain + 2 * standard_error(outcome, contest, i) < 1;
		standing->worse_much += gain < WORSE_MUCH;
		standing->even += gain >= 1 && gain <= EVEN_MAX;
		standing->better += gain > EVEN_MAX && gain <= BETTER_MAX;
		standing->most += gain > BETTER_MAX;
		standing->least = count ? fmin(standing->least, gain) : gain;
		standing->greatest = count ? fmax(standing->greatest, gain) : gain;
		sum += gain;
		count++;
	}
	standing->mean = count ? sum / (double)count : NAN;
}

void standing_init(struct standing *standing, const struct outcome *outcome,
		   const struct contest *contest)
{
	size_t all = outcome->instances * outcome->repetitions, count = 0, predicted = 0;
	AUTO_FREE double *gains = xmalloc(all * sizeof(*gains));
	double kendall = 0;

	*standing = (struct standing){ 0 };
	count_bands(standing, outcome, contest);
	standing->of_optimal = standing->mean / mean_best_gain(contest);
	for (size_t i = 0; i < all; i++) {
		if (!isnan(outcome->gains[i]))
			gains[count++] = outcome->gains[i];
		if (isnan(outcome->kendalls[i]))
			continue;
		kendall += outcome->kendalls[i];
		predicted++;
	}
	for (size_t i = 0; i < count; i++) {
		standing->won += gains[i] > 1;
		standing->lost += gains[i] < 1;
	}
	standing->won /= (double)count;
	standing->lost /= (double)count;
	for (size_t q = 0; q < OUTCOME_QUANTILES; q++)
		standing->quantiles[q] = metrics_quantile(gains, count, outcome_shares[q]);
	standing->kendall = predicted ? kendall / (double)predicted : NAN;
}

void headroom_quantiles(const struct contest *contest, size_t instance,
			double quantiles[OUTCOME_QUANTILES])
{
	AUTO_FREE double *gains = xmalloc(contest->choice_count * sizeof(*gains));

	for (size_t c = 0; c < contest->choice_count; c++)
		gains[c] = contest_gain(contest, instance, c);
	for (size_t q = 0; q < OUTCOME_QUANTILES; q++)
		quantiles[q] = metrics_quantile(gains, contest->choice_count, outcome_shares[q]);
}

void headroom_init(struct headroom *headroom, const struct contest *contest)
{
	*headroom = (struct headroom){ 0 };
	for (size_t i = 0; i < contest->instance_count; i++) {
		double gain = contest_gain(contest, i, contest_best(contest, i));
		double quantiles[OUTCOME_QUANTILES];

		headroom_quantiles(contest, i, quantiles);
		headroom->lower_above += quantiles[1] > 1;
		headroom->upper_above += quantiles[3] > 1;
		headroom->exact += gain <= 1;
		if (gain <= HEADROOM_NEAR)
			headroom->near++;
		else if (gain <= 1.5)
			headroom->up_to_half++;
		else if (gain <= 2.5)
			headroom->up_to_two_half++;
		else if (gain <= 3)
			headroom->up_to_three++;
		else
			headroom->above_three++;
	}
}
