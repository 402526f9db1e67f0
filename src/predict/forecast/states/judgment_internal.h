/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The parts of judgment.c: the baselines and their filter of probes.
 */
#ifndef SLUICE_PREDICT_FORECAST_STATES_JUDGMENT_INTERNAL_H
#define SLUICE_PREDICT_FORECAST_STATES_JUDGMENT_INTERNAL_H

#include "predict/forecast/states/chains.h"
#include "predict/forecast/states/judgment.h"

/* The chain of a target's probes, and its filtered state after each probe. */
struct filter {
	struct chain chain;
	const struct chronicle_series *probes;
	size_t first;	/* index of the first probe */
	double *chance; /* probability of busy after each probe from the first */
	double fit_s;	/* CPU time */
};

/* Fits the chain to the probes in [from_s, train_to_s) and filters until to_s. */
void filter_init(struct filter *filter, const struct chronicle *chronicle, size_t target,
		 double from_s, double train_to_s, double to_s);
void filter_release(struct filter *filter);

/* Probability of busy at time_s, using probes up to known_s. */
double filter_at(const struct filter *filter, double time_s, double known_s);

/* Fill in a cell, whose arrays are allocated, with the results of a baseline. */
void baseline_majority(struct judgment_cell *cell, const struct judgment_rows *rows);
void baseline_persistence(struct judgment_cell *cell, const struct judgment_rows *rows,
			  double horizon_s);
void baseline_hidden(struct judgment_cell *cell, const struct judgment_rows *rows,
		     const struct filter *filter, const struct features_plan *plan);

/* Share of rows for which score > 0.5 agrees with the label, and with the true state. */
double score_accuracy(const double *labels, const double *score, size_t count);
double score_latent(const uint8_t *busy, const double *score, size_t count);

#endif
