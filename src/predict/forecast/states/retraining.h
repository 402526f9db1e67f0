/* SPDX-License-Identifier: BSD-3-Clause
 *
 * On-line operation (WAN-39): forecasts are held against what was measured afterwards, and it is
 * decided when a model must be trained again, and why. Nothing is trained, read or written here;
 * who runs it says what time it is.
 *
 * An answer is right if it is the label that was drawn for the write, as in training; so the share
 * of right answers is comparable with the accuracy that the model was trained with, and drift
 * (learn/judge/drift.h) means what it says. `right` beside it does without the draw: each answer
 * counts by the posterior of the state that was said.
 */
#ifndef SLUICE_PREDICT_FORECAST_STATES_RETRAINING_H
#define SLUICE_PREDICT_FORECAST_STATES_RETRAINING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "learn/judge/drift.h"
#include "predict/forecast/states/features.h"
#include "predict/forecast/states/forecaster.h"

struct retraining_policy {
	double every_s;	   /* by schedule; 0: never */
	double rest_s;	   /* never sooner than this after the last training */
	size_t answers;	   /* that drift is looked for in, all targets of a size together */
	double confidence; /* that it is drift */
};

void retraining_policy_init(struct retraining_policy *policy); /* daily; 2,000 answers, 0.9999 */

enum retraining_reason {
	RETRAINING_NONE,
	RETRAINING_MISSING,  /* there is no model */
	RETRAINING_CHANGED,  /* targets or sizes that the model does not know */
	RETRAINING_DRIFT,    /* it is worse than when it was trained */
	RETRAINING_SCHEDULE, /* it is old */
};
#define RETRAINING_WORDS "none|missing|changed|drift|schedule"

/* How a model has done since it was trained. One drift per size. */
struct retraining {
	struct retraining_policy policy;
	double trained_s; /* when that was; NAN: never */
	struct drift drifts[CHRONICLE_SIZES];
	bool watched[CHRONICLE_SIZES];
	bool drifted, changed;
	double scored_s; /* writes until then are scored, with all that began before */
	size_t scored;
	double right; /* of these; without the draw, as told above */
};

/* forecaster NULL: there is none. What came until its window's end is taken as known to it. */
void retraining_init(struct retraining *retraining, const struct retraining_policy *policy,
		     const struct forecaster *forecaster);
void retraining_release(struct retraining *retraining);

/*
 * Scores the forecasts of all writes in (scored_s, to_s] that the chronicle has; features are of
 * the forecaster's plan. Returns how many there were. A target or size that the model does not know
 * is noted.
 */
size_t retraining_score(struct retraining *retraining, const struct forecaster *forecaster,
			const struct features *features, double to_s);

/* Is it time? */
enum retraining_reason retraining_due(const struct retraining *retraining, double now_s);

#endif
