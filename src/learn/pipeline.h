/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Preparation and learner as one: fitted together, inside a fold, on plain matrices. No names, no
 * files: that is model.h.
 */
#ifndef SLUICE_LEARN_PIPELINE_H
#define SLUICE_LEARN_PIPELINE_H

#include "learn/table/preparation.h"
#include "learn/learner.h"

/* What to do. Texts must outlive the plan. */
struct pipeline_plan {
	const struct learner_ops *learner;
	const char *recipe; /* NULL: what the learner wants */
	double settings[LEARNER_SETTINGS_MAX];
	bool log_target; /* regression: learns and predicts the logarithm; predictions are exp()ed
			  */
};

struct pipeline {
	const struct learner_ops *learner;
	struct preparation preparation;
	void *fitted;
	size_t width, classes;
	bool log_target;
};

/* The learner's defaults. */
void pipeline_plan_init(struct pipeline_plan *plan, const struct learner_ops *learner);

/*
 * rows: which rows of the samples to learn from (NULL: all). Copies them once for the preparation.
 * pipeline is untouched on failure.
 */
int pipeline_fit(struct pipeline *pipeline, const struct pipeline_plan *plan,
		 const struct samples *samples, const size_t *rows, size_t count,
		 const struct effort *effort, struct err *err);
void pipeline_release(struct pipeline *pipeline);

#define PIPELINE_WIDTH_MAX PREPARATION_WIDTH_MAX /* inputs before preparation */

/* One raw row. Any thread; does not allocate. */
void pipeline_predict(const struct pipeline *pipeline, const double *row, double *out);

/* Many; rows NULL: all of x. out is count x 1 or count x classes. */
void pipeline_predict_rows(const struct pipeline *pipeline, const double *x, const size_t *rows,
			   size_t count, double *out);

/* Expected deviation around the prediction (of the logarithm with log_target); NAN if unknown. */
double pipeline_spread(const struct pipeline *pipeline, const double *row);

/* -ENOTSUP where the method has no refresh. */
int pipeline_refresh(struct pipeline *pipeline, const struct samples *more,
		     const struct effort *effort, struct err *err);

void pipeline_save(const struct pipeline *pipeline, struct buf *buf);
int pipeline_load(struct pipeline *pipeline, struct blob *blob, struct err *err);

#endif
