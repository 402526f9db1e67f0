/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Chooses the method of one target and size, its settings and its groups of features (WAN-26). Each
 * candidate is tested on blocks of time by models of the earlier blocks, and scored by the log loss
 * of its calibrated probabilities. Few rows make the best score a matter of chance. Therefore the
 * first candidate is the average of CHOICE_MEMBERS unlike methods, which is rarely much worse than
 * the best of them, and another one replaces it only if it is better with a confidence of
 * CHOICE_REPLACING (t test of the gain over the blocks). If the winner is not better than the share
 * of busy writes with a confidence of CHOICE_CONFIDENCE, there is no method.
 *
 * The share of busy writes drifts, for example from 85 % to 67 % within a year. So forecasts start
 * from the share among the last writes (FEATURE_SHARE) instead of that in the training range,
 * unless the latter is better with CHOICE_CONFIDENCE. A method's probability is adapted by Bayes'
 * formula (choice_shift()).
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
#define CHOICE_FEATURES (FEATURE_PAPER | FEATURE_RECENT | FEATURE_STATE | FEATURE_SHARE)

struct choice_task {
	const struct features_plan *features;
	struct samples samples; /* with all columns of the features, in the order of time */
	const double *time_s;
	size_t folds; /* at least 2: number of tested blocks */
	enum calibration_kind calibration;
	uint64_t seed;
};

#define CHOICE_MEMBERS 3
#define CHOICE_AVERAGE "average"

/* One of the methods of a choice. */
struct choice_member {
	const char *method;
	struct pipeline_plan plan;
	unsigned groups;    /* of features */
	bool recent;	    /* its forecasts start from the recent share */
	bool is_calibrated; /* its own probabilities are used as they are */
	struct calibration calibration;
};

struct choice {
	/* Its name; CHOICE_AVERAGE: the mean of the members; NULL: none is better than the share.
	 */
	const char *method;
	struct choice_member members[CHOICE_MEMBERS];
	size_t member_count; /* 0: there is no method */
	bool recent; /* forecasts start from the recent share, those of at least one member */
	/* On the tested rows; NAN: no candidate could be tested. */
	double log_loss;       /* per row, in nats, of the best candidate */
	double share_log_loss; /* of the shares */
	double accuracy, auc;  /* of the best candidate */
};

/* A higher confidence would reject many useful models, because there are few blocks. */
#define CHOICE_CONFIDENCE 0.9
/* Ten candidates may replace the average; together, they err as rarely as one other comparison. */
#define CHOICE_REPLACING 0.99

/* Makes the choice. The caller releases it. */
void choice_make(struct choice *choice, const struct choice_task *task);
void choice_release(struct choice *choice);

/* A member that was fitted to all rows of a task. */
struct choice_model {
	unsigned groups; /* out of those of the features */
	bool recent;
	struct pipeline pipeline;
	struct calibration calibration;
};

/* Fits the members, and takes over their calibrations. Without error, *count is their number. */
int choice_fit(struct choice_model models[CHOICE_MEMBERS], size_t *count, struct choice *choice,
	       const struct choice_task *task, struct err *err);
void choice_models_release(struct choice_model *models, size_t count);

/*
 * The mean of the models' probabilities of busy for a row with all columns of the features.
 * train_share: the share of busy writes in training. Any thread may call it; it does not allocate.
 */
double choice_predict(const struct choice_model *models, size_t count,
		      const struct features_plan *features, const double *row, double train_share);

/* The share of busy writes in a row (FEATURE_SHARE); train_share if it is unknown. */
double choice_share(const struct features_plan *features, const double *row, double train_share);

/*
 * Replaces the prior odds in a probability of busy (Bayes' formula): those of the share of busy
 * writes in training by those of another share.
 */
double choice_shift(double chance, double train_share, double share);

/*
 * Copies the columns of these groups for all rows: rows x *width. The caller frees the result.
 * width may point to the width of the samples.
 */
double *choice_columns(const struct features_plan *features, unsigned groups,
		       const struct samples *samples, size_t *width);

#endif
