/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Two hidden states that follow each other as a Markov chain, each with its normal distribution of
 * the logarithm of what is seen: Baum-Welch to fit, and a filter that costs some ns per value. A
 * baseline to hold classifiers against (WAN-L-7). State 1 is the slower one.
 */
#ifndef SLUICE_LEARN_STATES_HIDDEN_H
#define SLUICE_LEARN_STATES_HIDDEN_H

#include <stddef.h>

struct blob;
struct buf;
struct err;

struct hidden {
	double start;		      /* chance of state 1 in the long run: up / (up + down) */
	double up, down;	      /* chance of 0 -> 1 and 1 -> 0 from one value to the next */
	double mean[2], deviation[2]; /* of the logarithm */
	double log_likelihood;	      /* of the values themselves */
	size_t rounds;
};

/*
 * values > 0, in time order, evenly spaced; NAN is a gap: time passes, nothing is seen. At least 16
 * must be there. The better of two starts: the mixture of two, and the halves. Holds 32 bytes per
 * value.
 */
int hidden_fit(struct hidden *hidden, const double *values, size_t count, struct err *err);

/* chance[i] of state 1 at i, given values 0 .. i only. chance may be NULL. Returns the last one. */
double hidden_filter(const struct hidden *hidden, const double *values, size_t count,
		     double *chance);

/*
 * One step of the same: chance at the value before (start it with hidden.start before any). A value
 * that is not positive and finite is a gap. The result is never quite 0 or 1.
 */
double hidden_step(const struct hidden *hidden, double chance, double value);

/* The chance `steps` later, when nothing more is seen. */
double hidden_ahead(const struct hidden *hidden, double chance, size_t steps);

void hidden_save(const struct hidden *hidden, struct buf *buf);
int hidden_load(struct hidden *hidden, struct blob *blob, struct err *err);

#endif
