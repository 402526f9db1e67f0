/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The outcome of a contest for one method: the settings that it chose for each instance in each
 * repetition, and their gains; and the statistics that the paper reports about them.
 *
 * A gain is a speedup: the mean time of the default divided by the mean time of the choice.
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
	double *gains;	  /* the same; NAN: nothing could be chosen */
	double *kendalls; /* the same; rank correlation of predicted and measured times; NAN: no
			     prediction */
};

void outcome_init(struct outcome *outcome, const struct contest *contest, size_t repetitions);
void outcome_release(struct outcome *outcome);

/*
 * Chooses for each instance the settings with the shortest predicted time; the default wins ties.
 * predicted is instances x choices, NAN if there is no prediction. barred marks choices that must
 * not be taken; it may be NULL.
 */
void outcome_predicted(struct outcome *outcome, const struct contest *contest, size_t repetition,
		       const double *predicted, const bool *barred);

void outcome_choose(struct outcome *outcome, const struct contest *contest, size_t repetition,
		    size_t instance, size_t choice);

/* Methods that do not predict. All repetitions are equal, except for those of outcome_random(). */
void outcome_optimal(struct outcome *outcome, const struct contest *contest);
void outcome_default(struct outcome *outcome, const struct contest *contest);
void outcome_random(struct outcome *outcome, const struct contest *contest, uint64_t seed);
/* Gains are the means over all choices: the expected gain of a random choice. */
void outcome_expected(struct outcome *outcome, const struct contest *contest);

/* Mean gain of an instance over repetitions; NAN if nothing was ever chosen. */
double outcome_mean(const struct outcome *outcome, size_t instance);

#define OUTCOME_QUANTILES 5
extern const double outcome_shares[OUTCOME_QUANTILES]; /* 0.05, 0.25, 0.5, 0.75, 0.95 */

struct standing {
	/* Numbers of instances by mean gain: below 1, up to 1.1, up to 1.5, above. */
	size_t worse, even, better, most;
	/*
	 * Of the worse instances: those that are below 1 by more than two standard errors, and
	 * those below 0.95. The standard error is that of the mean of single-run ratios over
	 * repetitions.
	 */
	size_t worse_surely, worse_much;
	double least, greatest, mean; /* of the mean gains of instances */
	double of_optimal;	      /* the mean divided by the mean gain of the best choices */
	double won;		      /* share of all choices that are faster than the default */
	double lost;		      /* share that are slower */
	double quantiles[OUTCOME_QUANTILES]; /* of all gains */
	double kendall;			     /* mean rank correlation; NAN: no predictions */
};
void standing_init(struct standing *standing, const struct outcome *outcome,
		   const struct contest *contest);

/* The potential for gains: numbers of instances by the gain of their best choice. */
#define HEADROOM_NEAR 1.05 /* up to this gain, the default counts as near the best choice */
struct headroom {
	size_t near, up_to_half, up_to_two_half, up_to_three, above_three;
	size_t exact; /* of near: no choice is better than the default */
	size_t upper_above,
		lower_above; /* instances whose 75 % or 25 % quantile of gains is above 1 */
};
void headroom_init(struct headroom *headroom, const struct contest *contest);

/* Quantiles of the gains of all choices of an instance. */
void headroom_quantiles(const struct contest *contest, size_t instance,
			double quantiles[OUTCOME_QUANTILES]);

#endif
