/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A hidden Markov model with two states, each with a normal distribution of the logarithm of the
 * observed values. Baum-Welch fits it; a filter step takes a few ns per value. It is a baseline for
 * classifiers. State 1 is the slower one.
 */
#ifndef SLUICE_LEARN_STATES_HIDDEN_H
#define SLUICE_LEARN_STATES_HIDDEN_H

#include <stddef.h>

struct blob;
struct buf;
struct err;

struct hidden {
	double start;	 /* long-run probability of state 1: up / (up + down) */
	double up, down; /* probability of 0 -> 1 and of 1 -> 0 from one value to the next */
	double mean[2], deviation[2]; /* of the logarithm of the values */
	double log_likelihood;	      /* of the values themselves */
	size_t rounds;
};

/*
 * Fits the model to values > 0 in time order and at equal intervals. NAN is a gap: time passes
 * without an observation. At least 16 values must be present. Starts from the mixture of two
 * components and from the two halves of the values, and keeps the better result. Allocates 32 bytes
 * per value.
 */
int hidden_fit(struct hidden *hidden, const double *values, size_t count, struct err *err);

/*
 * Updates the probability of state 1 by one value. chance is the probability at the previous value;
 * start with hidden.start. A value that is not positive and finite is a gap. The result is never
 * exactly 0 or 1.
 */
double hidden_step(const struct hidden *hidden, double chance, double value);

/* The probability of state 1 after `steps` steps without observation. */
double hidden_ahead(const struct hidden *hidden, double chance, size_t steps);

#endif
