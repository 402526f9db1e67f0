/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The retraining policy (WAN-39): compares forecasts with the writes measured afterwards, and
 * decides when a model must be trained again, and why. This file does not train, read or write
 * anything; the caller passes the time. service/retrainer.h runs it.
 *
 * A forecast is correct if it equals the label drawn for the write, as in training. So the share of
 * correct forecasts is comparable with the accuracy in training, and a significant difference is
 * drift (learn/judge/drift.h). The field `right` avoids the random draw: each forecast counts with
 * the posterior probability of the predicted state.
 * Papers: WAN-4.
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
	double every_s;	   /* scheduled interval; 0: no schedule */
	double rest_s;	   /* minimum time between two trainings */
	size_t answers;	   /* window of drift detection: forecasts of all targets of a size */
	double confidence; /* required confidence of drift */
};

void retraining_policy_init(struct retraining_policy *policy); /* daily, 2,000 forecasts, 0.9999 */

enum retraining_reason {
	RETRAINING_NONE,
	RETRAINING_MISSING,  /* there is no model */
	RETRAINING_CHANGED,  /* there are targets or sizes that the model does not know */
	RETRAINING_DRIFT,    /* the accuracy is lower than in training */
	RETRAINING_SCHEDULE, /* the scheduled interval has passed */
};
#define RETRAINING_WORDS "none|missing|changed|drift|schedule"

/* The performance of a model since its training. */
struct retraining {
	struct retraining_policy policy;
	double trained_s; /* time of the training; NAN: never */
	struct drift drifts[CHRONICLE_SIZES];
	bool watched[CHRONICLE_SIZES]; /* drifts[] is initialized for this size */
	bool drifted, changed;
	double scored_s; /* writes up to this time are scored */
	size_t scored;	 /* number of scored forecasts */
	double right;	 /* sum of the posteriors of the predicted states; see above */
};

/* forecaster may be NULL. Writes up to the end of its training range are not scored. */
void retraining_init(struct retraining *retraining, const struct retraining_policy *policy,
		     const struct forecaster *forecaster);
void retraining_release(struct retraining *retraining);

/*
 * Scores the forecasts of all writes in (scored_s, to_s]. The features must have the forecaster's
 * plan. Sets `changed` if there is a target or size that the model does not know. Returns the
 * number of scored forecasts.
 */
size_t retraining_score(struct retraining *retraining, const struct forecaster *forecaster,
			const struct features *features, double to_s);

/* The reason to train now, or RETRAINING_NONE. */
enum retraining_reason retraining_due(const struct retraining *retraining, double now_s);

#endif
