/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Fitting a model to a table, and asking it. Its file is in model_file.c.
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
#include "learn/table/dataset.h"
#include "learn/table/folds.h"
#include "learn/judge/metrics.h"
#include "learn/judge/selection.h"

/* ---- how far it can be trusted ---- */

/* Rows that were predicted by a model that had not seen them. */
struct judged {
	double *truth, *guess; /* guess: count x answers */
	double *spread;	       /* NULL: the method has none */
	size_t count, answers;
};

static void judged_release(struct judged *judged)
{
	free(judged->truth);
	free(judged->guess);
	free(judged->spread);
}

/* Takes what is known of the truth, and drops rows without a guess. The arrays become its own. */
static struct judged judged_make(const double *truth, double *guess, double *spread, size_t rows,
				 size_t answers)
{
	struct judged judged = { .truth = xmalloc(rows * sizeof(*judged.truth)),
				 .guess = guess,
				 .spread = spread,
				 .answers = answers };

	for (size_t i = 0; i < rows; i++) {
		if (isnan(guess[i * answers]) || isnan(truth[i]))
			continue;
		judged.truth[judged.count] = truth[i];
		memmove(guess + judged.count * answers, guess + i * answers,
			answers * sizeof(*guess));
		if (spread)
			spread[judged.count] = spread[i];
		judged.count++;
	}
	return judged;
}

/* Errors are those of logarithms where these were learnt. */
static void judged_logarithms(struct judged *judged)
{
	for (size_t i = 0; i < judged->count; i++) {
		judged->truth[i] = log(judged->truth[i]);
		judged->guess[i] = log(judged->guess[i]);
	}
}

static void second_class(const struct judged *judged, double *chance)
{
	for (size_t i = 0; i < judged->count; i++)
		chance[i] = judged->guess[i * judged->answers + 1];
}

static int classes_judge(struct model *model, const struct judged *judged,
			 enum calibration_kind kind, struct err *err)
{
	AUTO_FREE double *chance = NULL;

	model->origin.score =
		metrics_accuracy(judged->truth, judged->guess, judged->count, judged->answers);
	model->origin.second =
		metrics_auc_classes(judged->truth, judged->guess, judged->count, judged->answers);
	if (kind == CALIBRATION_NONE)
		return 0;
	chance = xmalloc(judged->count * sizeof(*chance));
	second_class(judged, chance);
	return calibration_fit(&model->calibration, kind, judged->truth, chance, judged->count,
			       err);
}

/* A tenth of a usual error is small beside a spread that means something. */
static double softening_of(const struct judged *judged)
{
	double usual = metrics_mae(judged->truth, judged->guess, judged->count);

	return usual > 0 ? 0.1 * usual : 1;
}

static int numbers_judge(struct model *model, struct judged *judged, struct err *err)
{
	model->origin.second = metrics_median_error(judged->truth, judged->guess, judged->count);
	if (model->pipeline.log_target)
		judged_logarithms(judged);
	model->origin.score = metrics_r2(judged->truth, judged->guess, judged->count);
	if (judged->spread)
		model->softening = softening_of(judged);
	for (size_t i = 0; judged->spread && i < judged->count; i++)
		judged->spread[i] += model->softening;
	return conformal_fit(&model->conformal, judged->truth, judged->guess, judged->spread,
			     judged->count, err);
}

static int judge_folds(struct model *model, const struct model_rows *rows,
		       const struct folds *folds, const struct model_plan *plan, struct err *err)
{
	struct samples samples = model_rows_samples(rows);
	size_t answers = samples.classes ? samples.classes : 1;
	bool spreads = !samples.classes && plan->pipeline.learner->spread;
	double *guess = xmalloc(samples.rows * answers * sizeof(*guess));
	double *spread = spreads ? xmalloc(samples.rows * sizeof(*spread)) : NULL;
	struct judged judged = { .guess = guess, .spread = spread };
	int r = selection_guesses(&plan->pipeline, &samples, folds, &plan->effort, guess, spread,
				  err);

	if (r >= 0)
		judged = judged_make(samples.y, guess, spread, samples.rows, answers);
	if (r >= 0)
		r = samples.classes ? classes_judge(model, &judged, plan->calibration, err)
				    : numbers_judge(model, &judged, err);
	judged_release(&judged);
	return r;
}

static int judge(struct model *model, const struct model_rows *rows, const struct dataset *dataset,
		 const struct model_plan *plan, struct err *err)
{
	struct folds folds = { 0 };
	int r;

	if (!plan->folds && !(plan->split && strcmp(plan->split, "given") == 0))
		return 0;
	r = model_rows_split(rows, dataset, plan, &folds, err);
	if (r >= 0)
		r = judge_folds(model, rows, &folds, plan, err);
	folds_release(&folds);
	return r;
}

/* ---- fitting ---- */

static void window_widen(struct model_origin *origin, const double *time, size_t count)
{
	for (size_t i = 0; time && i < count; i++) {
		/* fmin and fmax prefer a number to what is missing. */
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
	};
	window_widen(origin, rows->time, rows->rows);
}

static int plan_check(const struct model_plan *plan, const struct model_rows *rows, struct err *err)
{
	if (plan->calibration == CALIBRATION_NONE)
		return 0;
	if (rows->class_count != 2)
		return err_set(err, EINVAL,
			       "chances of two classes can be calibrated; here are %zu",
			       rows->class_count);
	if (!plan->folds)
		return err_set(err, EINVAL, "calibration needs folds");
	return 0;
}

static int fit_rows(struct model *model, struct model_rows *rows, const struct dataset *dataset,
		    const struct model_plan *plan, struct err *err)
{
	struct samples samples = model_rows_samples(rows);
	int r = plan_check(plan, rows, err);

	if (r >= 0)
		r = pipeline_fit(&model->pipeline, &plan->pipeline, &samples, NULL, 0,
				 &plan->effort, err);
	if (r < 0)
		return r;
	origin_init(&model->origin, rows, plan);
	r = judge(model, rows, dataset, plan, err);
	/* They are handed over. */
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

/* ---- asking ---- */

static void calibrate(const struct model *model, double *chances, size_t rows)
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
	calibrate(model, out, 1);
}

int model_predict(const struct model *model, const struct dataset *dataset, double *out,
		  size_t *strange, size_t *missing, struct err *err)
{
	AUTO_FREE double *inputs = xmalloc((dataset->rows ? dataset->rows : 1) *
					   model->schema.width * sizeof(*inputs));
	int r = schema_inputs(&model->schema, dataset, true, inputs, strange, missing, err);

	if (r < 0)
		return r;
	pipeline_predict_rows(&model->pipeline, inputs, NULL, dataset->rows, out);
	calibrate(model, out, dataset->rows);
	return 0;
}

bool model_interval(const struct model *model, const double *inputs, double guess, double coverage,
		    double *low, double *high)
{
	double margin =
		model->conformal.count ? conformal_margin(&model->conformal, coverage) : INFINITY;

	if (model->softening > 0)
		margin *= pipeline_spread(&model->pipeline, inputs) + model->softening;
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

/* ---- learning further rows ---- */

/* The rows of a table whose target is known, as the model's inputs. */
struct further {
	double *x, *y;
	size_t rows;
};

static int further_make(struct further *further, const struct model *model,
			const struct dataset *dataset, struct err *err)
{
	size_t width = model->schema.width, rows = dataset->rows ? dataset->rows : 1;
	int r;

	further->y = xmalloc(rows * sizeof(*further->y));
	further->x = xmalloc(rows * width * sizeof(*further->x));
	r = model_truth(model, dataset, further->y, err);
	if (r >= 0)
		r = schema_inputs(&model->schema, dataset, true, further->x, NULL, NULL, err);
	for (size_t i = 0; r >= 0 && i < dataset->rows; i++) {
		if (isnan(further->y[i]))
			continue;
		further->y[further->rows] = further->y[i];
		memmove(further->x + further->rows++ * width, further->x + i * width,
			width * sizeof(*further->x));
	}
	if (r >= 0 && !further->rows)
		r = err_set(err, ENODATA, "no row has a value of %s", model->origin.target);
	return r;
}

static double error_of(const struct model *model, const double *inputs, double truth)
{
	double guess, spread = 1;

	pipeline_predict(&model->pipeline, inputs, &guess);
	if (model->softening > 0)
		spread = pipeline_spread(&model->pipeline, inputs) + model->softening;
	if (model->pipeline.log_target)
		return fabs(log(truth) - log(guess)) / spread;
	return fabs(truth - guess) / spread;
}

/* The old errors and those of rows that are not learnt yet. A model without any stays without. */
static int errors_join(struct conformal *joined, const struct model *model,
		       const struct further *further, struct err *err)
{
	size_t old = model->conformal.count, count = old + further->rows;
	AUTO_FREE double *errors = NULL, *zeros = NULL;

	if (!old)
		return 0;
	errors = xmalloc(count * sizeof(*errors));
	zeros = xcalloc(count, sizeof(*zeros));
	memcpy(errors, model->conformal.errors, old * sizeof(*errors));
	for (size_t i = 0; i < further->rows; i++)
		errors[old + i] =
			error_of(model, further->x + i * model->schema.width, further->y[i]);
	return conformal_fit(joined, errors, zeros, NULL, count, err);
}

static int further_learn(struct model *model, const struct further *further,
			 const struct effort *effort, struct err *err)
{
	struct samples more = { .x = further->x,
				.y = further->y,
				.rows = further->rows,
				.width = model->schema.width,
				.classes = model->pipeline.classes };
	struct conformal joined = { 0 };
	int r = errors_join(&joined, model, further, err);

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
	model->origin.refreshed += further->rows;
	model->origin.made = time(NULL);
	return 0;
}

int model_refresh(struct model *model, const struct dataset *dataset, const struct effort *effort,
		  struct err *err)
{
	int column = model->origin.time ? dataset_find(dataset, model->origin.time, err) : -1, r;
	AUTO_FREE double *times = NULL;
	struct further further = { 0 };

	if (model->origin.time && column < 0)
		return column;
	r = further_make(&further, model, dataset, err);
	if (r >= 0)
		r = further_learn(model, &further, effort, err);
	if (r >= 0 && column >= 0) {
		times = xmalloc(dataset->rows * sizeof(*times));
		dataset_column(dataset, (size_t)column, times);
		window_widen(&model->origin, times, dataset->rows);
	}
	free(further.x);
	free(further.y);
	return r;
}
