/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Training rows are copied once. The preparation works in that copy, and the learner reads it.
 */
#include "learn/pipeline.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "learn/file/blob.h"

void pipeline_plan_init(struct pipeline_plan *plan, const struct learner_ops *learner)
{
	*plan = (struct pipeline_plan){ .learner = learner };
	learner_defaults(learner, plan->settings);
}

static void copy_rows(double *out, const double *x, size_t width, const size_t *rows, size_t count)
{
	if (!rows) {
		memcpy(out, x, count * width * sizeof(*x));
		return;
	}
	/* Copy consecutive rows at once; most rows are consecutive if only some are held out. */
	for (size_t i = 0, n; i < count; i += n) {
		for (n = 1; i + n < count && rows[i + n] == rows[i] + n;)
			n++;
		memcpy(out + i * width, x + rows[i] * width, n * width * sizeof(*x));
	}
}

static int copy_target(double *out, const struct samples *samples, const size_t *rows, size_t count,
		       bool logarithm, struct err *err)
{
	for (size_t i = 0; i < count; i++) {
		double y = samples->y[rows ? rows[i] : i];

		if (logarithm && !(y > 0))
			return err_set(
				err, EDOM,
				"cannot take the logarithm of the target: %g is not positive", y);
		out[i] = logarithm ? log(y) : y;
	}
	return 0;
}

static int check_plan(const struct pipeline_plan *plan, const struct samples *samples, size_t count,
		      struct err *err)
{
	unsigned task = samples->classes ? LEARNER_CLASSIFIES : LEARNER_REGRESSES;

	if (!(plan->learner->tasks & task))
		return err_set(err, EINVAL, "%s cannot learn %s", plan->learner->name,
			       samples->classes ? "classes" : "numbers");
	if (!count)
		return err_set(err, ENODATA, "no training rows");
	if (!samples->width || samples->width > PIPELINE_WIDTH_MAX)
		return err_set(err, EINVAL, "%zu inputs; expected 1 to %d", samples->width,
			       PIPELINE_WIDTH_MAX);
	if (samples->classes > LEARNER_CLASSES_MAX)
		return err_set(err, EINVAL, "too many classes: %zu (at most %d)", samples->classes,
			       LEARNER_CLASSES_MAX);
	return 0;
}

int pipeline_fit(struct pipeline *pipeline, const struct pipeline_plan *plan,
		 const struct samples *samples, const size_t *rows, size_t count,
		 const struct effort *effort, struct err *err)
{
	struct pipeline made = { .learner = plan->learner,
				 .width = samples->width,
				 .classes = samples->classes,
				 .log_target = plan->log_target && !samples->classes };
	AUTO_FREE double *x = NULL, *y = NULL;
	AUTO_FREE char *recipe = NULL;
	struct samples prepared;
	int r;

	if (!rows)
		count = samples->rows;
	r = check_plan(plan, samples, count, err);
	if (r < 0)
		return r;
	y = xmalloc(count * sizeof(*y));
	r = copy_target(y, samples, rows, count, made.log_target, err);
	if (r < 0)
		return r;
	x = xmalloc(count * samples->width * sizeof(*x));
	copy_rows(x, samples->x, samples->width, rows, count);
	recipe = xprintf("%s%s", samples->gaps ? "fill," : "",
			 plan->recipe ? plan->recipe : plan->learner->recipe);
	r = preparation_fit(&made.preparation, recipe, x, count, samples->width, err);
	if (r < 0)
		return r;
	prepared = (struct samples){ .x = x,
				     .y = y,
				     .rows = count,
				     .width = made.preparation.width_out,
				     .classes = samples->classes };
	r = plan->learner->fit(&made.fitted, &prepared, plan->settings, effort, err);
	if (r < 0) {
		preparation_release(&made.preparation);
		return r;
	}
	*pipeline = made;
	return 0;
}

void pipeline_release(struct pipeline *pipeline)
{
	if (pipeline->learner)
		pipeline->learner->free(pipeline->fitted);
	preparation_release(&pipeline->preparation);
	*pipeline = (struct pipeline){ 0 };
}

/*
 * Separate, because a large stack frame costs time even if it is not used, and most rows are short.
 */
static __attribute__((noinline)) void predict_wide(const struct pipeline *pipeline,
						   const double *row, double *out)
{
	double prepared[PIPELINE_WIDTH_MAX];

	preparation_apply(&pipeline->preparation, row, prepared);
	pipeline->learner->predict(pipeline->fitted, prepared, out);
}

void pipeline_predict(const struct pipeline *pipeline, const double *row, double *out)
{
	double prepared[64];

	if (pipeline->width > 64) {
		predict_wide(pipeline, row, out);
	} else {
		preparation_apply(&pipeline->preparation, row, prepared);
		pipeline->learner->predict(pipeline->fitted, prepared, out);
	}
	if (pipeline->log_target)
		out[0] = exp(out[0]);
}

/* Working in batches limits the memory of the prepared copy. */
enum { BATCH_ROWS = 256 };

static void predict_batch(const struct pipeline *pipeline, double *batch, size_t count, double *out)
{
	size_t width = pipeline->preparation.width_out;

	for (size_t i = 0; i < count; i++)
		preparation_apply(&pipeline->preparation, batch + i * pipeline->width,
				  batch + i * width);
	pipeline->learner->predict_rows(pipeline->fitted, batch, count, out);
}

void pipeline_predict_rows(const struct pipeline *pipeline, const double *x, const size_t *rows,
			   size_t count, double *out)
{
	size_t answers = pipeline->classes ? pipeline->classes : 1;
	AUTO_FREE double *batch = NULL;

	if (!pipeline->learner->predict_rows) {
		for (size_t i = 0; i < count; i++)
			pipeline_predict(pipeline, x + (rows ? rows[i] : i) * pipeline->width,
					 out + i * answers);
		return;
	}
	batch = xmalloc(BATCH_ROWS * pipeline->width * sizeof(*batch));
	for (size_t i = 0; i < count; i += BATCH_ROWS) {
		size_t n = count - i < BATCH_ROWS ? count - i : BATCH_ROWS;

		copy_rows(batch, rows ? x : x + i * pipeline->width, pipeline->width,
			  rows ? rows + i : NULL, n);
		predict_batch(pipeline, batch, n, out + i * answers);
	}
	for (size_t i = 0; pipeline->log_target && i < count; i++)
		out[i] = exp(out[i]);
}

double pipeline_spread(const struct pipeline *pipeline, const double *row)
{
	AUTO_FREE double *prepared = NULL;

	if (!pipeline->learner->spread || pipeline->classes)
		return NAN;
	prepared = xmalloc(pipeline->width * sizeof(*prepared));
	preparation_apply(&pipeline->preparation, row, prepared);
	return pipeline->learner->spread(pipeline->fitted, prepared);
}

int pipeline_refresh(struct pipeline *pipeline, const struct samples *more,
		     const struct effort *effort, struct err *err)
{
	size_t width = pipeline->preparation.width_out;
	AUTO_FREE double *x = NULL, *y = NULL;
	struct samples prepared;
	int r;

	if (!pipeline->learner->refresh)
		return err_set(err, ENOTSUP, "%s cannot be updated with more rows; fit it again",
			       pipeline->learner->name);
	if (more->width != pipeline->width || more->classes != pipeline->classes)
		return err_set(err, EINVAL,
			       "the new rows have other inputs or classes than the model");
	y = xmalloc(more->rows * sizeof(*y));
	r = copy_target(y, more, NULL, more->rows, pipeline->log_target, err);
	if (r < 0)
		return r;
	x = xmalloc(more->rows * more->width * sizeof(*x));
	copy_rows(x, more->x, more->width, NULL, more->rows);
	for (size_t i = 0; i < more->rows; i++)
		preparation_apply(&pipeline->preparation, x + i * more->width, x + i * width);
	prepared = (struct samples){
		.x = x, .y = y, .rows = more->rows, .width = width, .classes = more->classes
	};
	return pipeline->learner->refresh(pipeline->fitted, &prepared, effort, err);
}

void pipeline_save(const struct pipeline *pipeline, struct buf *buf)
{
	blob_put_text(buf, pipeline->learner->name);
	blob_put_u64(buf, pipeline->width);
	blob_put_u64(buf, pipeline->classes);
	blob_put_u32(buf, pipeline->log_target);
	preparation_save(&pipeline->preparation, buf);
	pipeline->learner->save(pipeline->fitted, buf);
}

static int load_header(struct pipeline *pipeline, struct blob *blob, struct err *err)
{
	AUTO_FREE char *name = blob_take_text(blob);

	pipeline->width = blob_take_u64(blob);
	pipeline->classes = blob_take_u64(blob);
	pipeline->log_target = blob_take_u32(blob) != 0;
	pipeline->learner = learner_find(name, 0, err);
	if (!pipeline->learner)
		return -EINVAL;
	if (!blob_expect(blob, pipeline->width >= 1 && pipeline->width <= PIPELINE_WIDTH_MAX) ||
	    !blob_expect(blob, pipeline->classes <= LEARNER_CLASSES_MAX))
		return err_set(err, EBADMSG, "its widths are damaged");
	return 0;
}

int pipeline_load(struct pipeline *pipeline, struct blob *blob, struct err *err)
{
	struct pipeline made = { 0 };
	int r = load_header(&made, blob, err);

	if (r < 0)
		return r;
	r = preparation_load(&made.preparation, blob, err);
	if (r < 0)
		return r;
	if (made.preparation.width_in != made.width)
		r = err_set(err, EBADMSG, "its preparation does not match its inputs");
	if (r >= 0)
		r = made.learner->load(&made.fitted, blob, made.preparation.width_out, made.classes,
				       err);
	if (r < 0) {
		preparation_release(&made.preparation);
		return r;
	}
	*pipeline = made;
	return 0;
}
