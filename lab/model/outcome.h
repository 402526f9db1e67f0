/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What came of a contest for one who took part: which settings it chose for each instance, in each
 * of several repetitions, and what that was worth; and the counts by which the paper tells such
 * things (HYB-AC-9 to HYB-AC-13).
 *
 * A gain is a ratio: mean time of the default over that of the choice.
 */
#ifndef SLUICE_LAB_MODEL_OUTCOME_H
#define SLUICE_LAB_MODEL_OUTCOME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct contest;

struct outcome {
	size_t instances, repetitions;
	size_t *chosen;	  /* repetitions x instances */
	double *gains;	  /* the same; NAN: had nothing to choose from */
	double *kendalls; /* the same: of predicted and measured; NAN: nothing was predicted */
};

void outcome_init(struct outcome *outcome, const struct contest *contest, size_t repetitions);
void outcome_release(struct outcome *outcome);

/*
 * Takes for each instance the choice that is predicted to be fastest; where others are not better,
 * the default stays. predicted is instances x choices, NAN where there is no prediction. barred:
 * choices that may not be taken, or NULL.
 */
void outcome_predicted(struct outcome *outcome, const struct contest *contest, size_t repetition,
		       const double *predicted, const bool *barred);

void outcome_choose(struct outcome *outcome, const struct contest *contest, size_t repetition,
		    size_t instance, size_t choice);

/* Those who predict nothing (HYB-47). All repetitions of those that draw nothing are alike. */
void outcome_optimal(struct outcome *outcome, const struct contest *contest);
void outcome_default(struct outcome *outcome, const struct contest *contest);
void outcome_random(struct outcome *outcome, const struct contest *contest, uint64_t seed);
/* Gains are the means over all choices: what a random one is worth on average. */
void outcome_expected(struct outcome *outcome, const struct contest *contest);

/* Mean gain of an instance over repetitions; NAN where it never chose. */
double outcome_mean(const struct outcome *outcome, size_t instance);

#define OUTCOME_QUANTILES 5
extern const double outcome_shares[OUTCOME_QUANTILES]; /* 0.05, 0.25, 0.5, 0.75, 0.95 */

struct standing {
	/* Instances by their mean gain: below 1, up to 1.1, up to 1.5, more. */
	size_t worse, even, better, most;
	/* Of the worse: below 1 by more than two standard errors of the mean of the repetitions'
	 * ratios, each of one measured run (HYB-48); and below 0.95. */
	size_t worse_surely, worse_much;
	double least, greatest;		     /* of these means */
	double mean;			     /* of these means */
	double of_optimal;		     /* that mean over the one of the best choices */
	double won;			     /* share of all choices that beat the default */
	double lost;			     /* share that lose to it */
	double quantiles[OUTCOME_QUANTILES]; /* of all gains */
	double kendall;			     /* mean; NAN: nothing was predicted */
};
void standing_of(struct standing *standing, const struct outcome *outcome,
		 const struct contest *contest);

/* What there is to gain (HYB-AC-9, HYB-Q-7): instances by the gain of their best choice. */
#define HEADROOM_NEAR 1.05 /* up to that the default is near to the best */
struct headroom {
	size_t near, up_to_half, up_to_two_half, up_to_three, above_three;
	size_t exact;			 /* of near: nothing is better than the default */
	size_t upper_above, lower_above; /* 75 % and 25 % quantiles of the choices above 1 */
};
void headroom_of(struct headroom *headroom, const struct contest *contest);

/* Gains of all choices of an instance at the shares above. */
void headroom_quantiles(const struct contest *contest, size_t instance,
			double quantiles[OUTCOME_QUANTILES]);

#endif
