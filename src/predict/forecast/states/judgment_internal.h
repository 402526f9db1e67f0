/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The parts of judgment.c: the baselines and their hidden Markov chain.
 */
#ifndef SLUICE_PREDICT_FORECAST_STATES_JUDGMENT_INTERNAL_H
#define SLUICE_PREDICT_FORECAST_STATES_JUDGMENT_INTERNAL_H

#include "learn/states/hidden.h"
#include "predict/forecast/states/judgment.h"

/* A hidden Markov chain of a target's probes, and its filtered state after each probe. */
struct chain {
	bool is_known;
	struct hidden hidden;
	const struct chronicle_series *probes;
	size_t first;	/* index of the first probe */
	double step_s;	/* median time between probes */
	double *chance; /* probability of busy after each probe from the first */
	double fit_s;	/* CPU time */
};

/* Fits the chain to the probes in [from_s, train_to_s) and filters until to_s. */
void chain_init(struct chain *chain, const struct chronicle *chronicle, size_t target,
		double from_s, double train_to_s, double to_s);
void chain_release(struct chain *chain);

/* Probability of busy at time_s, using probes up to time_s - horizon_s. */
double chain_at(const struct chain *chain, double time_s, double horizon_s);

/* Fill in a cell, whose arrays are allocated, with the results of a baseline. */
void baseline_majority(struct judgment_cell *cell, const struct judgment_rows *rows);
void baseline_persistence(struct judgment_cell *cell, const struct judgment_rows *rows,
			  double horizon_s);
void baseline_hidden(struct judgment_cell *cell, const struct judgment_rows *rows,
		     const struct chain *chain, double horizon_s);

/* Share of rows for which score > 0.5 agrees with the label, and with the true state. */
double score_accuracy(const double *labels, const double *score, size_t count);
double score_latent(const uint8_t *busy, const double *score, size_t count);

#endif
