/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The noise of a tuning: how much costs of equal runs differ, and how costs are compared in its
 * presence. All values are logarithms: 0.1 is about 10 %.
 */
#ifndef SLUICE_TUNE_LOOP_NOISE_H
#define SLUICE_TUNE_LOOP_NOISE_H

#include <stdbool.h>
#include <stddef.h>

/* Lower bound of the noise: two runs may agree by chance. */
#define NOISE_LEAST 0.01

struct noise {
	double *deviations; /* of runs from the median of all runs with the same parameters */
	size_t count, cap;
};

void noise_release(struct noise *noise);

/* Adds the costs of runs with the same parameters. Fewer than two are ignored. */
void noise_add(struct noise *noise, const double *costs, size_t count);

/* A robust estimate of the standard deviation of one run: a single outlier does not change it much.
 * At least NOISE_LEAST. */
double noise_sigma(const struct noise *noise);

/*
 * Racing: is a candidate with this median cost so unlikely to be the best that another run is not
 * worthwhile?
 */
bool noise_is_lost(double sigma, double cost, size_t runs, double best, size_t best_runs);

/*
 * Compares a candidate that lacks a parameter with one that has it. SAME: the difference is within
 * the noise, and a loss of 10 % can be ruled out. WORSE: the loss exceeds the noise. OPEN: more
 * runs may decide.
 */
enum noise_verdict { NOISE_SAME, NOISE_WORSE, NOISE_OPEN };
enum noise_verdict noise_compare(double sigma, double cost, size_t runs, double other,
				 size_t other_runs);

/* Runs of each side that let noise_compare() decide most cases; at least two. */
size_t noise_runs(double sigma);

/* Is one run of the baseline so far from its level that the machine must have changed? */
bool noise_is_drift(double sigma, double cost, double level);

#endif
