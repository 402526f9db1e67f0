/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The black box that the hybrid model is compared with, `ml` in the paper: one learned function
 * from nodes, bytes per rank, aggregators and buffer size to the run time of the application. It is
 * trained on runs of that application. It does not know the operations of an access, and does not
 * apply to other applications.
 */
#ifndef SLUICE_LAB_MODEL_BLACKBOX_H
#define SLUICE_LAB_MODEL_BLACKBOX_H

#include "learn/pipeline.h"

struct contest;
struct selection;

/* The training data: points of a contest (contest_design()) and the seconds of one run of each. */
struct training {
	size_t *points;
	double *seconds;
	size_t count;
};

/* Makes the design of a repetition and takes the run of that number for each point. */
void training_init(struct training *training, const struct contest *contest, uint64_t seed,
		   size_t repetition);
/* Keeps `count` random points. */
void training_thin(struct training *training, size_t count, uint64_t seed);
void training_release(struct training *training);

struct blackbox_plan {
	const struct learner_ops *const *learners; /* NULL: those of the paper */
	size_t budget, folds;			   /* 0: 30 and 10 */
	bool log_target; /* learn the logarithm of seconds; the paper learns seconds */
	uint64_t seed;
	unsigned threads;
	bool (*progress)(void *arg, size_t done, size_t total); /* as for selection_run() */
	void *progress_arg;
};

struct blackbox_score {
	double rmse, r2; /* means over folds, of the learned quantity */
	char method[16], settings[96];
};

/* Selects method, settings and preparation by cross-validation. score may be NULL. */
int blackbox_select(struct pipeline_plan *chosen, struct blackbox_score *score,
		    const struct contest *contest, const struct training *training,
		    const struct blackbox_plan *plan, struct err *err);

/* Fits the pipeline and predicts the seconds of all instances x choices. */
int blackbox_predict(const struct pipeline_plan *chosen, const struct contest *contest,
		     const struct training *training, uint64_t seed, double *predicted,
		     struct err *err);

#endif
