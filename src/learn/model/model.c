/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Fits a model to a table, evaluates it and predicts with it. model_file.c reads and writes its
 * file.
 */
#include "learn/model/model.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "learn/judge/metrics.h"
#include "learn/judge/selection.h"
#include "learn/table/dataset.h"
#include "learn/table/folds.h"

/* Out-of-sample predictions: the model was not trained on these rows. */
struct evaluation {
	double *truth, *guess; /* guess: count x answers */
	double *spread;	       /* NULL: the method estimates none */
	size_t count, answers;
};

static void evaluation_release(struct evaluation *evaluation)
{
	free(evaluation->truth);
	free(evaluation->guess);
	free(evaluation->spread);
}

/* Keeps the rows whose truth and prediction are both known. Takes ownership of the arrays. */
static struct evaluation evaluation_init(const double *truth, double *guess, double *spread,
					 size_t rows, size_t answers)
{
	struct evaluation evaluation = { .truth = xmalloc(rows * sizeof(*evaluation.truth)),
					 .guess = guess,
					 .spread = spread,
					 .answers = answers };

	for (size_t i = 0; i < rows; i++) {
		if (isnan(guess[i * answers]) || isnan(truth[i]))
			continue;
		evaluation.truth[evaluation.count] = truth[i];
		memmove(guess + evaluation.count * answers, guess + i * answers,
			answers * sizeof(*guess));
		if (spread)
			spread[evaluation.count] = spread[i];
		evaluation.count++;
	}
	return evaluation;
}

/* Errors refer to logarithms if the model learned logarithms. */
static void evaluation_take_logarithms(struct evaluation *evaluation)
{
	for (size_t i = 0; i < evaluation->count; i++) {
		evaluation->truth[i] = log(evaluation->truth[i]);
		evaluation->guess[i] = log(evaluation->guess[i]);
	}
}

static void copy_second_class(const struct evaluation *evaluation, double *chance)
{
	for (size_t i = 0; i < evaluation->count; i++)
		chance[i] = evaluation->guess[i * evaluation->answers + 1];
}

static int evaluate_classes(struct model *model, const struct evaluation *evaluation,
			    enum calibration_kind kind, struct err *err)
{
	AUTO_FREE double *chance = NULL;

	model->origin.score = metrics_accuracy(evaluation->truth, evaluation->guess,
					       evaluation->count, evaluation->answers);
	model->origin.second = metrics_auc_classes(evaluation->truth, evaluation->guess,
						   evaluation->count, evaluation->answers);
	if (kind == CALIBRATION_NONE)
		return 0;
	chance = xmalloc(evaluation->count * sizeof(*chance));
	copy_second_class(evaluation, chance);
	return calibration_fit(&model->calibration, kind, evaluation->truth, chance,
			       evaluation->count, err);
}

/* A tenth of the typical error is small compared with any meaningful spread. */
static double compute_softening(const struct evaluation *evaluation)
{
	double usual = metrics_mae(evaluation->truth, evaluation->guess, evaluation->count);

	return usual > 0 ? 0.1 * usual : 1;
}

/*
 * The expected deviations of the rows; NULL: none, or some rows are so far from the others that
 * theirs is not a number.
 */
static double *usable_spread(const struct evaluation *evaluation)
{
	double *spread = evaluation->spread;

	for (size_t i = 0; spread && i < evaluation->count; i++)
		if (!(spread[i] >= 0 && isfinite(spread[i])))
			return NULL;
	return spread;
}

static int evaluate_numbers(struct model *model, struct evaluation *evaluation, struct err *err)
{
	double *spread;

	model->origin.second =
		metrics_median_error(evaluation->truth, evaluation->guess, evaluation->count);
	if (model->pipeline.log_target)
		evaluation_take_logarithms(evaluation);
	model->origin.score = metrics_r2(evaluation->truth, evaluation->guess, evaluation->count);
	model->origin.rmse = metrics_rmse(evaluation->truth, evaluation->guess, evaluation->count);
	spread = usable_spread(evaluation);
	if (spread)
		model->softening = compute_softening(evaluation);
	for (size_t i = 0; spread && i < evaluation->count; i++)
		spread[i] += model->softening;
	return conformal_fit(&model->conformal, evaluation->truth, evaluation->guess, spread,
			     evaluation->count, err);
}

static int evaluate_folds(struct model *model, const struct model_rows *rows,
			  const struct folds *folds, const struct model_plan *plan, struct err *err)
{
	struct samples samples = model_rows_samples(rows);
	size_t answers = samples.classes ? samples.classes : 1;
	bool spreads = !samples.classes && plan->pipeline.learner->spread;
	double *guess = xmalloc(samples.rows * answers * sizeof(*guess));
	double *spread = spreads ? xmalloc(samples.rows * sizeof(*spread)) : NULL;
	struct evaluation evaluation = { .guess = guess, .spread = spread };
	int r = selection_guesses(&plan->pipeline, &samples, folds, &plan->effort, guess, spread,
				  err);

	if (r >= 0)
		evaluation = evaluation_init(samples.y, guess, spread, samples.rows, answers);
	if (r >= 0)
		r = samples.classes ? evaluate_classes(model, &evaluation, plan->calibration, err)
				    : evaluate_numbers(model, &evaluation, err);
	evaluation_release(&evaluation);
	return r;
}

static int evaluate_model(struct model *model, const struct model_rows *rows,
			  const struct dataset *dataset, const struct model_plan *plan,
			  struct err *err)
{
	struct folds folds = { 0 };
	int r;

	if (!plan->folds && !(plan->split && strcmp(plan->split, "given") == 0))
		return 0;
	r = model_rows_split(rows, dataset, plan, &folds, err);
	if (r >= 0)
		r = evaluate_folds(model, rows, &folds, plan, err);
	folds_release(&folds);
	return r;
}

static void extend_window(struct model_origin *origin, const double *time, size_t count)
{
	for (size_t i = 0; time && i < count; i++) {
		/* fmin() and fmax() ignore NAN. */
		origin->from = fmin(origin->from, time[i]);
		origin->to = fmax(origin->to, time[i]);
	}
}

static void origin_init(struct model_origin *origin, const struct model_rows *rows,
			const struct model_plan *plan)
{
	const struct learner_ops *learner = plan->pipeline.learner;
	AUTO_BUF struct buf settings = { 0 };

	learner_format(learner, plan->pipeline.settings, &settings);
	*origin = (struct model_origin){
		.version = xstrdup(SLUICE_VERSION),
		.target = xstrdup(plan->target),
		.time = xstrdup(plan->time),
		.settings = xstrdup(buf_text(&settings)),
		.recipe = xstrdup(plan->pipeline.recipe ? plan->pipeline.recipe : learner->recipe),
		.from = NAN,
		.to = NAN,
		.rows = rows->rows,
		.seed = plan->effort.seed,
		.made = time(NULL),
		.score = NAN,
		.second = NAN,
		.rmse = NAN,
	};
	extend_window(origin, rows->time, rows->rows);
}

static int check_plan(const struct model_plan *plan, const struct model_rows *rows, struct err *err)
{
	if (plan->calibration == CALIBRATION_NONE)
		return 0;
	if (rows->class_count != 2)
		return err_set(err, EINVAL,
			       "only probabilities of two classes can be calibrated; the target "
			       "has %zu classes",
			       rows->class_count);
	if (!plan->folds)
		return err_set(err, EINVAL, "calibration needs cross-validation folds (folds > 0)");
	return 0;
}

static int fit_rows(struct model *model, struct model_rows *rows, const struct dataset *dataset,
		    const struct model_plan *plan, struct err *err)
{
	struct samples samples = model_rows_samples(rows);
	int r = check_plan(plan, rows, err);

	if (r >= 0)
		r = pipeline_fit(&model->pipeline, &plan->pipeline, &samples, NULL, 0,
				 &plan->effort, err);
	if (r < 0)
		return r;
	origin_init(&model->origin, rows, plan);
	r = evaluate_model(model, rows, dataset, plan, err);
	/* The model owns them now. */
	model->schema = rows->schema;
	rows->schema = (struct schema){ 0 };
	model->classes = rows->classes;
	rows->classes = NULL;
	rows->class_count = 0;
	return r;
}

int model_fit(struct model *model, const struct dataset *dataset, const struct model_plan *plan,
	      struct err *err)
{
	struct model_rows rows = { 0 };
	struct model made = { 0 };
	int r = model_rows_init(&rows, dataset, plan, err);

	if (r < 0)
		return r;
	r = fit_rows(&made, &rows, dataset, plan, err);
	model_rows_release(&rows);
	if (r < 0) {
		model_release(&made);
		return r;
	}
	*model = made;
	return 0;
}

void model_release(struct model *model)
{
	for (size_t i = 0; model->classes && i < model->pipeline.classes; i++)
		free(model->classes[i]);
	free(model->classes);
	schema_release(&model->schema);
	pipeline_release(&model->pipeline);
	calibration_release(&model->calibration);
	conformal_release(&model->conformal);
	free(model->origin.version);
	free(model->origin.target);
	free(model->origin.time);
	free(model->origin.settings);
	free(model->origin.recipe);
	*model = (struct model){ 0 };
}

static void calibrate_rows(const struct model *model, double *chances, size_t rows)
{
	if (model->calibration.kind == CALIBRATION_NONE)
		return;
	for (size_t i = 0; i < rows; i++) {
		chances[2 * i + 1] = calibration_apply(&model->calibration, chances[2 * i + 1]);
		chances[2 * i] = 1 - chances[2 * i + 1];
	}
}

void model_predict_row(const struct model *model, const double *inputs, double *out)
{
	pipeline_predict(&model->pipeline, inputs, out);
	calibrate_rows(model, out, 1);
}

int model_predict(const struct model *model, const struct dataset *dataset, double *out,
		  size_t *unknown, size_t *missing, struct err *err)
{
	AUTO_FREE double *inputs = xmalloc((dataset->rows ? dataset->rows : 1) *
					   model->schema.width * sizeof(*inputs));
	int r = schema_inputs(&model->schema, dataset, true, inputs, unknown, missing, err);

	if (r < 0)
		return r;
	pipeline_predict_rows(&model->pipeline, inputs, NULL, dataset->rows, out);
	calibrate_rows(model, out, dataset->rows);
	return 0;
}

/* The unit of the errors and margins of a row. */
static double error_unit(const struct model *model, const double *inputs)
{
	return model->softening > 0 ? pipeline_spread(&model->pipeline, inputs) + model->softening
				    : 1;
}

bool model_interval(const struct model *model, const double *inputs, double guess, double coverage,
		    double *low, double *high)
{
	double margin =
		model->conformal.count ? conformal_margin(&model->conformal, coverage) : INFINITY;

	return model_interval_of(model, inputs, guess, margin, low, high);
}

bool model_interval_of(const struct model *model, const double *inputs, double guess, double margin,
		       double *low, double *high)
{
	margin *= error_unit(model, inputs);
	if (!(margin >= 0 && isfinite(margin)))
		return false;
	if (model->pipeline.log_target) {
		*low = guess * exp(-margin);
		*high = guess * exp(margin);
	} else {
		*low = guess - margin;
		*high = guess + margin;
	}
	return true;
}

/* The rows of a table whose target is known, as inputs of the model. */
struct new_rows {
	double *x, *y;
	size_t rows;
};

static int new_rows_init(struct new_rows *new_rows, const struct model *model,
			 const struct dataset *dataset, struct err *err)
{
	size_t width = model->schema.width, rows = dataset->rows ? dataset->rows : 1;
	int r;

	new_rows->y = xmalloc(rows * sizeof(*new_rows->y));
	new_rows->x = xmalloc(rows * width * sizeof(*new_rows->x));
	r = model_truth(model, dataset, new_rows->y, err);
	if (r >= 0)
		r = schema_inputs(&model->schema, dataset, true, new_rows->x, NULL, NULL, err);
	for (size_t i = 0; r >= 0 && i < dataset->rows; i++) {
		if (isnan(new_rows->y[i]))
			continue;
		new_rows->y[new_rows->rows] = new_rows->y[i];
		memmove(new_rows->x + new_rows->rows++ * width, new_rows->x + i * width,
			width * sizeof(*new_rows->x));
	}
	if (r >= 0 && !new_rows->rows)
		r = err_set(err, ENODATA, "no row has a value in column %s", model->origin.target);
	return r;
}

double model_error(const struct model *model, const double *inputs, double guess, double truth)
{
	double unit = error_unit(model, inputs);

	if (model->pipeline.log_target)
		return fabs(log(truth) - log(guess)) / unit;
	return fabs(truth - guess) / unit;
}

/*
 * Joins the old errors with those of rows that are not learned yet. A model without errors keeps
 * none.
 */
static int join_errors(struct conformal *joined, const struct model *model,
		       const struct new_rows *new_rows, struct err *err)
{
	size_t old = model->conformal.count, count = old + new_rows->rows;
	AUTO_FREE double *errors = NULL, *zeros = NULL;

	if (!old)
		return 0;
	errors = xmalloc(count * sizeof(*errors));
	zeros = xcalloc(count, sizeof(*zeros));
	memcpy(errors, model->conformal.errors, old * sizeof(*errors));
	for (size_t i = 0; i < new_rows->rows; i++) {
		const double *inputs = new_rows->x + i * model->schema.width;
		double guess;

		pipeline_predict(&model->pipeline, inputs, &guess);
		errors[old + i] = model_error(model, inputs, guess, new_rows->y[i]);
	}
	return conformal_fit(joined, errors, zeros, NULL, count, err);
}

static int learn_new_rows(struct model *model, const struct new_rows *new_rows,
			  const struct effort *effort, struct err *err)
{
	struct samples more = { .x = new_rows->x,
				.y = new_rows->y,
				.rows = new_rows->rows,
				.width = model->schema.width,
				.classes = model->pipeline.classes };
	struct conformal joined = { 0 };
	int r = join_errors(&joined, model, new_rows, err);

	if (r >= 0)
		r = pipeline_refresh(&model->pipeline, &more, effort, err);
	if (r < 0) {
		conformal_release(&joined);
		return r;
	}
	if (joined.count) {
		conformal_release(&model->conformal);
		model->conformal = joined;
	}
	model->origin.refreshed += new_rows->rows;
	model->origin.made = time(NULL);
	return 0;
}

int model_refresh(struct model *model, const struct dataset *dataset, const struct effort *effort,
		  struct err *err)
{
	int column = model->origin.time ? dataset_find(dataset, model->origin.time, err) : -1, r;
	AUTO_FREE double *times = NULL;
	struct new_rows new_rows = { 0 };

	if (model->origin.time && column < 0)
		return column;
	r = new_rows_init(&new_rows, model, dataset, err);
	if (r >= 0)
		r = learn_new_rows(model, &new_rows, effort, err);
	if (r >= 0 && column >= 0) {
		times = xmalloc(dataset->rows * sizeof(*times));
		dataset_column(dataset, (size_t)column, times);
		extend_window(&model->origin, times, dataset->rows);
	}
	free(new_rows.x);
	free(new_rows.y);
	return r;
}
