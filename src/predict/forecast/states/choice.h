/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Chooses the method of one target and size, its settings and its groups of features (WAN-26). Each
 * candidate is tested on blocks of time by models of the earlier blocks, and the best log score of
 * its calibrated probabilities wins. The winner must beat the share of busy labels in the earlier
 * blocks, which needs no features; otherwise there is no choice, and forecasts are these shares.
 */
#ifndef SLUICE_PREDICT_FORECAST_STATES_CHOICE_H
#define SLUICE_PREDICT_FORECAST_STATES_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "learn/judge/calibration.h"
#include "learn/pipeline.h"
#include "predict/forecast/states/features.h"

struct err;

/* The features that candidates need; a candidate without its features is left out. */
#define CHOICE_FEATURES (FEATURE_PAPER | FEATURE_RECENT | FEATURE_STATE)

struct choice_task {
	const struct features_plan *features;
	struct samples samples; /* with all columns of the features, in the order of time */
	const double *time_s;
	size_t folds; /* at least 2: number of tested blocks */
	enum calibration_kind calibration;
	uint64_t seed;
};

struct choice {
	const char *method;	   /* its name; NULL: no candidate beats the shares */
	struct pipeline_plan plan; /* valid if there is a method */
	unsigned groups;	   /* of features */
	struct calibration calibration;
	/* On the tested rows; NAN: no candidate could be tested. */
	double log_loss;       /* per row, in nats, of the best candidate */
	double share_log_loss; /* of the shares */
	double accuracy, auc;  /* of the best candidate */
};

/*
 * Makes the choice. Beating the shares means: the mean gain over the blocks is larger than 0 with a
 * confidence of CHOICE_CONFIDENCE (t test), and the log loss with a penalty for the parameters of
 * the calibration is lower. A higher confidence would reject many useful models, because there are
 * few blocks. The caller releases it.
 */
#define CHOICE_CONFIDENCE 0.9
void choice_make(struct choice *choice, const struct choice_task *task);
void choice_release(struct choice *choice);

/*
 * Copies the columns of these groups for all rows: rows x *width. The caller frees the result.
 * width may point to the width of the samples.
 */
double *choice_columns(const struct features_plan *features, unsigned groups,
		       const struct samples *samples, size_t *width);

#endif
