/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A preparation and a learner that are fitted together, for example inside one fold. It works on
 * plain matrices; names and files are the task of model.h.
 */
#ifndef SLUICE_LEARN_PIPELINE_H
#define SLUICE_LEARN_PIPELINE_H

#include "learn/learner.h"
#include "learn/table/preparation.h"

/* Describes what to fit. The texts must outlive the plan. */
struct pipeline_plan {
	const struct learner_ops *learner;
	const char *recipe; /* NULL: the learner's default */
	double settings[LEARNER_SETTINGS_MAX];
	/* Regression: learn the logarithm of the target; predictions are exp() of it. */
	bool log_target;
};

struct pipeline {
	const struct learner_ops *learner;
	struct preparation preparation;
	void *fitted;
	size_t width, classes;
	bool log_target;
};

/* Sets the learner's default settings and recipe. */
void pipeline_plan_init(struct pipeline_plan *plan, const struct learner_ops *learner);

/*
 * Fits a pipeline to `count` rows of the samples, whose indices are in rows (NULL: all rows). The
 * rows are copied once, for the preparation. pipeline is untouched on failure.
 */
int pipeline_fit(struct pipeline *pipeline, const struct pipeline_plan *plan,
		 const struct samples *samples, const size_t *rows, size_t count,
		 const struct effort *effort, struct err *err);
void pipeline_release(struct pipeline *pipeline);

#define PIPELINE_WIDTH_MAX PREPARATION_WIDTH_MAX /* inputs before preparation */

/* Predicts one row of unprepared inputs. It is thread-safe and does not allocate. */
void pipeline_predict(const struct pipeline *pipeline, const double *row, double *out);

/* Predicts many rows of x (rows NULL: all). out is count x 1 or count x classes. */
void pipeline_predict_rows(const struct pipeline *pipeline, const double *x, const size_t *rows,
			   size_t count, double *out);

/*
 * The expected standard deviation of a prediction (of its logarithm with log_target); NAN if
 * unknown.
 */
double pipeline_spread(const struct pipeline *pipeline, const double *row);

/* Updates the model with more rows. Returns -ENOTSUP if the method does not support it. */
int pipeline_refresh(struct pipeline *pipeline, const struct samples *more,
		     const struct effort *effort, struct err *err);

void pipeline_save(const struct pipeline *pipeline, struct buf *buf);
int pipeline_load(struct pipeline *pipeline, struct blob *blob, struct err *err);

#endif
