/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files of a judgement share.
 */
#ifndef SLUICE_PREDICT_FORECAST_STATES_JUDGEMENT_INTERNAL_H
#define SLUICE_PREDICT_FORECAST_STATES_JUDGEMENT_INTERNAL_H

#include "learn/states/hidden.h"
#include "predict/forecast/states/judgement.h"

/* A target's probes as a hidden Markov chain, and what it says of each moment. */
struct chain {
	bool is_known;
	struct hidden hidden;
	const struct chronicle_series *probes;
	size_t first;	/* probe that it begins with */
	double step_s;	/* from probe to probe, as a rule */
	double *chance; /* of busy, per probe from the first: by what was seen until then */
	double fit_s;	/* CPU time */
};

/* Fitted to the probes of the window; the chain goes on until to_s. */
void chain_init(struct chain *chain, const struct chronicle *chronicle, size_t target,
		double from_s, double train_to_s, double to_s);
void chain_release(struct chain *chain);

/* Chance of the busy state at time_s by probes that are horizon_s older at least. */
double chain_at(const struct chain *chain, double time_s, double horizon_s);

/* Cells of the baselines, scores and chances of test rows included; memory is there already. */
void baseline_majority(struct judgement_cell *cell, const struct judgement_rows *rows);
void baseline_persistence(struct judgement_cell *cell, const struct judgement_rows *rows,
			  double horizon_s);
void baseline_hidden(struct judgement_cell *cell, const struct judgement_rows *rows,
		     const struct chain *chain, double horizon_s);

/* Share of rows whose score, above one half, agrees with the label. */
double score_accuracy(const double *labels, const double *score, size_t count);
double score_latent(const uint8_t *busy, const double *score, size_t count);

#endif
