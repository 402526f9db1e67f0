/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The black box that the hybrid model competes with, `ml` of the paper (HYB-45): one learned
 * function from (nodes, bytes per rank, aggregators, buffer) to the run time of the application,
 * trained by runs of it. It knows nothing of what an access is made of, and nothing of other
 * applications.
 */
#ifndef SLUICE_LAB_MODEL_BLACKBOX_H
#define SLUICE_LAB_MODEL_BLACKBOX_H

#include "learn/pipeline.h"

struct contest;
struct selection;

/* What it is trained by: points of a contest (contest_design()) and what runs of them took. */
struct training {
	size_t *points;
	double *seconds;
	size_t count;
};

/* The design of that repetition, with its run of each point. */
void training_init(struct training *training, const struct contest *contest, uint64_t seed,
		   size_t repetition);
/* So many of them, drawn at random (HYB-50). */
void training_thin(struct training *training, size_t count, uint64_t seed);
void training_release(struct training *training);

struct blackbox_plan {
	const struct learner_ops *const *learners; /* NULL: those of HYB-40 */
	size_t budget, folds;			   /* 0: 30 and 10 */
	bool log_target; /* learns the logarithm of seconds; the paper does not */
	uint64_t seed;
	unsigned threads;
	bool (*progress)(void *arg, size_t done, size_t total); /* as of a selection */
	void *progress_arg;
};

struct blackbox_score {
	double rmse, r2; /* means over folds, of what is learnt */
	char method[16], settings[96];
};

/* Methods, settings and preparation by cross-validation (HYB-41). The plan's texts are constant. */
int blackbox_select(struct pipeline_plan *chosen, struct blackbox_score *score,
		    const struct contest *contest, const struct training *training,
		    const struct blackbox_plan *plan, struct err *err);

/* Learns and predicts: seconds of all instances x choices. */
int blackbox_predict(const struct pipeline_plan *chosen, const struct contest *contest,
		     const struct training *training, uint64_t seed, double *predicted,
		     struct err *err);

#endif
