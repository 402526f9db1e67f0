/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Proves a speedup and estimates it by a sequential randomization test.
 *
 * Fresh runs of the baseline and of the winner are made in blocks: one of PROOF_BLOCK pairs, then
 * smaller ones, except under much noise. Chance determines the order within a block, and every
 * order is equally likely (proof_order()). So if both sides cost the same, it is chance alone which
 * of the costs of a block belong to which side, and the distribution of the statistic is known
 * exactly, whatever the noise, the outliers, the drift between blocks and the load of the machine.
 * The statistic is the sum of the scores of the baseline minus those of the winner; a score is the
 * logarithm of a cost relative to its block, in units of the noise, and limited, so that an outlier
 * counts little. A large block makes the test more powerful, as it has more orders; in a small one
 * there is less drift.
 *
 * After each block the test may stop (alpha spending, Lan and DeMets 1983): when n of N planned
 * pairs are done, at most level * (n / N)^SPENDING of the error level has been spent. The critical
 * value of each look follows from the exact distribution of the runs that have not stopped before.
 * So the level holds although the data is looked at after every block. What an attempt that was
 * given up has not spent is left for the next one.
 *
 * The interval has all gains that the same test does not reject at any look so far (repeated
 * confidence interval, Jennison and Turnbull 1989): it covers the true gain with 95 % probability
 * at whichever look the test stops. It assumes only that the winner divides costs by the gain.
 */
#ifndef SLUICE_TUNE_LOOP_PROOF_H
#define SLUICE_TUNE_LOOP_PROOF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROOF_BLOCK 4 /* pairs of the first block; fewer cannot prove anything */
#define PROOF_PAIRS_MOST 100
/* Probability of a false proof in a tuning, for all attempts together. */
#define PROOF_LEVEL 0.015

struct proof_plan {
	size_t pairs; /* most pairs, PROOF_BLOCK to PROOF_PAIRS_MOST */
	double level; /* at most PROOF_LEVEL */
	double sigma; /* noise of the logarithm of a cost, as measured before the proof */
	bool exact;   /* equal runs cost the same, so one pair is a proof */
};

struct proof {
	size_t pairs;
	double before, after; /* medians of costs */
	double gain;	      /* estimate of before / after in the same block */
	/* 95 % interval of the gain; 0 and INFINITY if there are too few runs, or the test is not
	 * over: it neither holds nor is futile, and pairs are left. */
	double low, high;
	double spent;	/* part of the error level */
	bool holds;	/* the interval is above 1 */
	bool is_futile; /* does not hold, and is unlikely to hold after all planned pairs */
};

/* Is the i-th run of the proof one of the winner? The plan and the seed determine the order. */
bool proof_order(const struct proof_plan *plan, uint64_t seed, size_t i);

/* True after as many pairs as make a block or more blocks. The last block may be smaller. */
bool proof_is_look(const struct proof_plan *plan, size_t pairs);

/* Judges the pairs so far; proof_is_look() is true. The costs are of good runs and above
 * 0, in the order of the runs of each side. */
void proof_judge(struct proof *proof, const struct proof_plan *plan, const double *before,
		 const double *after, size_t pairs);

#endif
