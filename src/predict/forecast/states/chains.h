/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A hidden Markov chain of each target's probes, fitted to the training range without labels, and
 * its filter: the probability that the target is busy given its probes so far. FEATURE_STATE makes
 * it an input of classifiers, and the method "hidden" forecasts by it alone.
 */
#ifndef SLUICE_PREDICT_FORECAST_STATES_CHAINS_H
#define SLUICE_PREDICT_FORECAST_STATES_CHAINS_H

#include <stdbool.h>
#include <stddef.h>

#include "learn/states/hidden.h"
#include "predict/forecast/chronicle/chronicle.h"

struct blob;
struct buf;

struct chain {
	char target[CHRONICLE_NAME];
	bool is_known; /* there were enough probes, and they vary */
	struct hidden hidden;
	double step_s; /* median time between probes */
};

struct chains {
	struct chain *list;
	size_t count;
};

/* Fits a chain to the probes with indices from first to end - 1. Sets is_known and returns it. */
bool chain_fit(struct chain *chain, const struct chronicle_series *probes, size_t first,
	       size_t end);

/* Updates the probability of busy, which is that of probe i - 1, by probe i. */
double chain_step(const struct chain *chain, const struct chronicle_series *probes, size_t i,
		  double chance);

/* The probability of busy `seconds` after the last probe, whose probability is `chance`. */
double chain_ahead(const struct chain *chain, double chance, double seconds);

/*
 * The probability of busy at ahead_s after time_s, from the last CHAIN_PROBES probes up to time_s,
 * which is enough to forget what was before. NAN without a probe.
 */
#define CHAIN_PROBES 256
double chain_state(const struct chain *chain, const struct chronicle_series *probes, double time_s,
		   double ahead_s);

/* Index of the first probe at or after time_s. */
size_t chain_first_probe(const struct chronicle_series *probes, double time_s);

/* Fits the chains of all targets to the probes in [from_s, to_s). */
struct chains *chains_new(const struct chronicle *chronicle, double from_s, double to_s);
void chains_free(struct chains *chains);

/* The chain of a target, or NULL if there is none. */
const struct chain *chains_find(const struct chains *chains, const char *target);

/* As part of a model file. Loading accepts any bytes; a damaged blob is marked as failed. */
void chains_save(const struct chains *chains, struct buf *buf);
struct chains *chains_load(struct blob *blob);

#endif
