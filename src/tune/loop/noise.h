/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How much costs differ though nothing was changed, and what that means for comparing them. All in
 * logarithms: 0.1 is about ten per cent.
 */
#ifndef SLUICE_TUNE_LOOP_NOISE_H
#define SLUICE_TUNE_LOOP_NOISE_H

#include <stdbool.h>
#include <stddef.h>

/* No machine is steadier than that from one run to the next; two runs may agree by chance. */
#define NOISE_LEAST 0.01

struct noise {
	double *deviations; /* of runs from the median of those of the same parameters */
	size_t count, cap;
};

void noise_release(struct noise *noise);

/* Costs of runs under the same parameters; fewer than two say nothing. */
void noise_add(struct noise *noise, const double *costs, size_t count);

/* The standard deviation of one run, robust: a single run that was disturbed does not change it
 * much. At least NOISE_LEAST. */
double noise_sigma(const struct noise *noise);

/*
 * Racing: has a candidate, of whose runs this is the median, so little chance to be the best that
 * it is not worth another run?
 */
bool noise_is_lost(double sigma, double cost, size_t runs, double best, size_t best_runs);

/*
 * A candidate lacks something that another has: is it missed? SAME where the difference is within
 * noise, and one of ten per cent is out of the question; WORSE where it is surely more than noise.
 * More runs may decide what is OPEN.
 */
enum noise_verdict { NOISE_SAME, NOISE_WORSE, NOISE_OPEN };
enum noise_verdict noise_compare(double sigma, double cost, size_t runs, double other,
				 size_t other_runs);

/* Runs of each that let it decide most cases; at least two. */
size_t noise_runs(double sigma);

/* Is one run of the default so far from the level that the machine must have changed? */
bool noise_is_drift(double sigma, double cost, double level);

#endif
