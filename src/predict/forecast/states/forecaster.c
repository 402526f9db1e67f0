/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Trains the models of a system and makes forecasts. forecaster_file.c saves and loads them.
 * Papers: WAN-24, WAN-25.
 */
#include "predict/forecast/states/forecaster.h"

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "learn/judge/drift.h"
#include "learn/judge/metrics.h"
#include "learn/judge/selection.h"
#include "learn/table/folds.h"

/*
 * svm: scikit-learn's C = 1 and gamma "scale" are the learner's defaults. The learner does not fit
 * probabilities itself (folds=0): SVC.predict() uses the sign of the decision, and the forecaster
 * calibrates on held-out time blocks, which needs a fifth of the time.
 */
const struct forecast_method forecast_methods[FORECAST_METHODS + 1] = {
	{ "svm", "SVM, radial kernel", "folds=0" },
	{ "forest", "random forest, 50 trees", "trees=50" },
	{ "boosting", "gradient boosting", "" },
	{ "perceptron", "perceptron, 100 neurons", "hidden=100" },
	{ "bayes", "Gaussian naive Bayes", "" },
	{ "tree", "decision tree (CART)", "" },
	{ "logistic", "logistic regression", "" },
	{ 0 },
};

int forecast_method_plan(struct pipeline_plan *plan, const char *name, const char *settings,
			 struct err *err)
{
	const struct learner_ops *learner = learner_find(name, LEARNER_CLASSIFIES, err);
	const struct forecast_method *method = forecast_methods;
	struct pipeline_plan made;
	int r = 0;

	if (!learner)
		return -EINVAL;
	pipeline_plan_init(&made, learner);
	while (method->name && strcmp(method->name, name) != 0)
		method++;
	if (method->name)
		r = learner_parse(learner, method->settings, made.settings, err);
	if (r >= 0)
		r = learner_parse(learner, settings, made.settings, err);
	if (r >= 0)
		*plan = made;
	return r;
}

void forecaster_plan_init(struct forecaster_plan *plan)
{
	*plan = (struct forecaster_plan){
		.labels = { .from_s = -INFINITY, .to_s = INFINITY, .seed = 1 },
		.folds = 8,
		.calibration = CALIBRATION_PLATT,
		.seed = 1
	};
	features_plan_init(&plan->features);
	forecaster_plan_method(plan, "svm", NULL, NULL);
}

int forecaster_plan_method(struct forecaster_plan *plan, const char *method, const char *settings,
			   struct err *err)
{
	bool choose = strcmp(method, FORECAST_AUTO) == 0;
	bool hidden = strcmp(method, FORECAST_HIDDEN) == 0;
	int r;

	if ((choose || hidden) && settings && *settings)
		return err_set(err, EINVAL, "%s has no options", method);
	r = forecast_method_plan(&plan->pipeline,
				 choose	  ? "svm"
				 : hidden ? "logistic"
					  : method,
				 choose || hidden ? NULL : settings, err);
	if (r < 0)
		return r;
	if (choose)
		plan->features.groups = CHOICE_FEATURES;
	else if (hidden)
		plan->features.groups = FEATURE_STATE;
	plan->choose = choose;
	plan->hidden = hidden;
	return 0;
}

/* Shared by the threads; a piece is a target and size. */
struct work {
	struct forecaster *forecaster;
	const struct chronicle *chronicle;
	const struct features *features;
	const struct forecaster_plan *plan;
	atomic_size_t done;
	atomic_bool stopped;
	struct err *errors; /* per piece */
};

static void model_init(struct forecaster_model *model)
{
	*model = (struct forecaster_model){ .busy_share = NAN,
					    .accuracy = NAN,
					    .auc = NAN,
					    .shuffled_accuracy = NAN,
					    .shuffled_auc = NAN,
					    .ceiling = NAN,
					    .majority = NAN,
					    .log_loss = NAN,
					    .share_log_loss = NAN,
					    .seconds = NAN };
}

static void model_release(struct forecaster_model *model)
{
	choice_models_release(model->members, model->member_count);
	free(model->members);
}

/* Keeps the probability of busy of each pair, in place. */
static void keep_busy_column(double *guesses, size_t count)
{
	for (size_t i = 0; i < count; i++)
		guesses[i] = guesses[2 * i + 1];
}

static int cross_validate(const struct work *work, const struct samples *samples,
			  const double *time_s, enum folds_kind kind, double *guesses,
			  double *accuracy, double *auc, struct err *err)
{
	const double *key = kind == FOLDS_BLOCKED ? time_s : samples->y;
	struct effort effort = { .seed = work->plan->seed, .threads = 1 };
	struct folds folds;
	int r = folds_init(&folds, kind, work->plan->folds, samples->rows, key, work->plan->seed,
			   err);

	if (r < 0)
		return r;
	r = selection_guesses(&work->plan->pipeline, samples, &folds, &effort, guesses, NULL, err);
	folds_release(&folds);
	if (r < 0)
		return r;
	*accuracy = metrics_accuracy(samples->y, guesses, samples->rows, 2);
	keep_busy_column(guesses, samples->rows);
	*auc = metrics_auc(samples->y, guesses, samples->rows);
	return 0;
}

/* Validates and calibrates on time blocks. Shuffled folds are for comparison with the paper. */
static int validate_model(const struct work *work, struct forecaster_model *model,
			  const struct samples *samples, const double *time_s, struct err *err)
{
	const struct forecaster_plan *plan = work->plan;
	AUTO_FREE double *guesses = xmalloc(samples->rows * 2 * sizeof(*guesses));
	int r = 0;

	if (plan->folds < 2)
		return 0;
	if (plan->shuffled)
		r = cross_validate(work, samples, time_s, FOLDS_STRATIFIED, guesses,
				   &model->shuffled_accuracy, &model->shuffled_auc, err);
	if (r >= 0)
		r = cross_validate(work, samples, time_s, FOLDS_BLOCKED, guesses, &model->accuracy,
				   &model->auc, err);
	if (r >= 0)
		r = calibration_fit(&model->members->calibration, plan->calibration, samples->y,
				    guesses, samples->rows, err);
	return r;
}

static const char *plan_method_name(const struct forecaster_plan *plan)
{
	return plan->choose   ? FORECAST_AUTO
	       : plan->hidden ? FORECAST_HIDDEN
			      : plan->pipeline.learner->name;
}

static int fit_model(const struct work *work, struct forecaster_model *model,
		     const struct samples *samples, const double *time_s, struct err *err)
{
	struct effort effort = { .seed = work->plan->seed, .threads = 1 };
	double start = clock_thread_cpu_s();
	int r;

	model->members = xcalloc(CHOICE_MEMBERS, sizeof(*model->members));
	model->members->groups = work->plan->features.groups;
	r = pipeline_fit(&model->members->pipeline, &work->plan->pipeline, samples, NULL, 0,
			 &effort, err);
	model->member_count = r >= 0;
	model->seconds = clock_thread_cpu_s() - start;
	snprintf(model->method, sizeof(model->method), "%s", plan_method_name(work->plan));
	if (r >= 0)
		r = validate_model(work, model, samples, time_s, err);
	model->is_known = r >= 0;
	return r;
}

/* Fits the method that choice.h chooses, if any. */
static int fit_chosen_model(const struct work *work, struct forecaster_model *model,
			    const struct samples *samples, const double *time_s, struct err *err)
{
	struct choice_task task = { .features = &work->forecaster->features,
				    .samples = *samples,
				    .time_s = time_s,
				    .folds = work->plan->folds,
				    .calibration = work->plan->calibration,
				    .seed = work->plan->seed };
	double start = clock_thread_cpu_s();
	struct choice choice;
	int r = 0;

	choice_make(&choice, &task);
	model->recent = choice.recent;
	model->log_loss = choice.log_loss;
	model->share_log_loss = choice.share_log_loss;
	model->accuracy = choice.accuracy;
	model->auc = choice.auc;
	if (choice.method) {
		snprintf(model->method, sizeof(model->method), "%s", choice.method);
		model->members = xcalloc(CHOICE_MEMBERS, sizeof(*model->members));
		r = choice_fit(model->members, &model->member_count, &choice, &task, err);
		model->is_known = model->is_chosen = r >= 0;
	}
	model->seconds = clock_thread_cpu_s() - start;
	choice_release(&choice);
	return r;
}

static size_t count_busy(const double *labels, size_t count)
{
	size_t busy = 0;

	for (size_t i = 0; i < count; i++)
		busy += labels[i] == 1;
	return busy;
}

static int train_model(const struct work *work, size_t target, size_t size, struct err *err)
{
	const struct forecaster_plan *plan = work->plan;
	struct forecaster *forecaster = work->forecaster;
	struct forecaster_model *model =
		&forecaster->models[target * forecaster->size_count + size];
	AUTO_FREE double *labels = NULL, *posterior = NULL;
	struct feature_rows rows = { 0 };
	struct samples samples;
	size_t busy;
	int r = 0;

	if (!states_mixture(&forecaster->states, target, size))
		return 0;
	features_rows(work->features, target, size, plan->labels.from_s, plan->labels.to_s, &rows);
	labels = xmalloc((rows.rows + 1) * sizeof(*labels));
	posterior = xmalloc((rows.rows + 1) * sizeof(*posterior));
	model->ceiling = labels_draw_rows(&forecaster->states, target, size, plan->labels.seed,
					  chronicle_series(work->chronicle, target, size), &rows,
					  labels, posterior);
	busy = count_busy(labels, rows.rows);
	model->rows = rows.rows;
	if (rows.rows) {
		model->busy_share = (double)busy / (double)rows.rows;
		model->majority = fmax(model->busy_share, 1 - model->busy_share);
	}
	/* A forecast may lack a value that all training rows have, so always allow for gaps. */
	samples = (struct samples){ .x = rows.x,
				    .y = labels,
				    .rows = rows.rows,
				    .width = rows.width,
				    .classes = 2,
				    .gaps = true };
	if (busy >= FORECASTER_LEAST && rows.rows - busy >= FORECASTER_LEAST &&
	    rows.rows >= 2 * plan->folds)
		r = plan->choose ? fit_chosen_model(work, model, &samples, rows.time_s, err)
				 : fit_model(work, model, &samples, rows.time_s, err);
	feature_rows_release(&rows);
	return r;
}

static void train_piece(void *arg, size_t piece, unsigned worker)
{
	struct work *work = arg;
	const struct forecaster_plan *plan = work->plan;
	size_t write_sizes = work->forecaster->size_count - 1;
	size_t total = work->forecaster->target_count * write_sizes;

	if (atomic_load_explicit(&work->stopped, memory_order_relaxed))
		return;
	if (train_model(work, piece / write_sizes, 1 + piece % write_sizes, &work->errors[piece]) <
	    0) {
		struct err *err = &work->errors[piece];

		err_prefix(err, "%s", work->chronicle->targets[piece / write_sizes]);
		atomic_store_explicit(&work->stopped, true, memory_order_relaxed);
	}
	atomic_fetch_add_explicit(&work->done, 1, memory_order_relaxed);
	if (!worker && plan->progress &&
	    plan->progress(plan->progress_arg,
			   atomic_load_explicit(&work->done, memory_order_relaxed), total))
		atomic_store_explicit(&work->stopped, true, memory_order_relaxed);
}

/* The reported error does not depend on the order in which threads finish. */
static int train_models(struct work *work, struct err *err)
{
	const struct forecaster_plan *plan = work->plan;
	size_t pieces = work->forecaster->target_count * (work->forecaster->size_count - 1);
	AUTO_FREE struct err *errors = xcalloc(pieces + 1, sizeof(*errors));
	size_t known = 0;

	work->errors = errors;
	parallel_for(plan->threads ? plan->threads : parallel_cores(), pieces, train_piece, work);
	for (size_t i = 0; i < pieces; i++)
		if (errors[i].code)
			return err_set(err, errors[i].code, "%s", errors[i].text);
	if (atomic_load(&work->stopped))
		return err_set(err, ECANCELED, "training was interrupted");
	for (size_t i = 0; i < work->forecaster->target_count * work->forecaster->size_count; i++)
		known += work->forecaster->models[i].is_known ||
			 forecaster_model_is_rejected(&work->forecaster->models[i]);
	return known ? 0
		     : err_set(err, ENODATA,
			       "no target of %s has enough reference writes of both states to "
			       "train "
			       "a model; collect more with 'sluice forecast probe'",
			       work->forecaster->system);
}

static void set_training_range(struct forecaster *forecaster, const struct chronicle *chronicle,
			       const struct labels_plan *labels)
{
	double from = 0, to = 0;

	chronicle_span(chronicle, &from, &to);
	forecaster->from_s = fmax(labels->from_s, from);
	forecaster->to_s = fmin(labels->to_s, to);
}

static void forecaster_init(struct forecaster *forecaster, const struct chronicle *chronicle,
			    const struct forecaster_plan *plan)
{
	AUTO_BUF struct buf settings = { 0 };
	size_t models = chronicle->target_count * chronicle->size_count;

	*forecaster = (struct forecaster){ .target_count = chronicle->target_count,
					   .size_count = chronicle->size_count,
					   .features = plan->features,
					   .seed = plan->seed,
					   .generation = 1 };
	memcpy(forecaster->system, chronicle->system, sizeof(forecaster->system));
	memcpy(forecaster->sizes, chronicle->sizes, sizeof(forecaster->sizes));
	forecaster->targets = xcalloc(chronicle->target_count, sizeof(*forecaster->targets));
	memcpy(forecaster->targets, chronicle->targets,
	       chronicle->target_count * sizeof(*forecaster->targets));
	forecaster->models = xcalloc(models, sizeof(*forecaster->models));
	for (size_t i = 0; i < models; i++)
		model_init(&forecaster->models[i]);
	learner_format(plan->pipeline.learner, plan->pipeline.settings, &settings);
	snprintf(forecaster->method, sizeof(forecaster->method), "%s", plan_method_name(plan));
	if (!plan->choose && !plan->hidden)
		snprintf(forecaster->settings, sizeof(forecaster->settings), "%s",
			 buf_text(&settings));
	forecaster->chains = plan->features.groups & FEATURE_STATE
				     ? chains_new(chronicle, plan->labels.from_s, plan->labels.to_s)
				     : NULL;
	forecaster->features.chains = forecaster->chains;
	set_training_range(forecaster, chronicle, &plan->labels);
}

/* Fits the states, and decides whether the rows of programs are used. */
static int fit_states(struct forecaster *forecaster, const struct chronicle *chronicle,
		      const struct site *site, const struct forecaster_plan *plan, struct err *err)
{
	struct labels_plan labels = plan->labels;
	struct programs_task task = { .chronicle = chronicle,
				      .site = site,
				      .states = &forecaster->states,
				      .features = &forecaster->features,
				      .labels = &labels,
				      .folds = plan->folds };
	int r;

	labels.ignores_programs = plan->programs == PROGRAMS_IGNORE;
	r = states_fit(&forecaster->states, chronicle, &labels, err);
	if (r < 0)
		return r;
	forecaster_set_borders(forecaster);
	forecaster->program_rows = programs_count(chronicle, &labels);
	forecaster->features.ignores_programs = programs_are_ignored(plan->programs, &task);
	return 0;
}

int forecaster_fit(struct forecaster *forecaster, const struct chronicle *chronicle,
		   const struct site *site, const struct forecaster_plan *plan, struct err *err)
{
	struct forecaster made = { 0 };
	struct features features;
	struct work work = {
		.forecaster = &made, .chronicle = chronicle, .features = &features, .plan = plan
	};
	int r;

	if (!chronicle->target_count || chronicle->size_count < 2)
		return err_set(
			err, ENODATA,
			"no reference writes to train on; collect them with 'sluice forecast "
			"probe'");
	if (plan->folds == 1 || (plan->choose && !plan->folds))
		return err_set(err, EINVAL, "the number of folds must be %sat least 2",
			       plan->choose ? "" : "0 or ");
	forecaster_init(&made, chronicle, plan);
	r = fit_states(&made, chronicle, site, plan, err);
	if (r >= 0) {
		features_init(&features, chronicle, site, &made.features);
		r = train_models(&work, err);
		features_release(&features);
	}
	if (r < 0) {
		forecaster_release(&made);
		return r;
	}
	*forecaster = made;
	return 0;
}

void forecaster_set_borders(struct forecaster *forecaster)
{
	if (forecaster->features.groups & FEATURE_SHARE)
		forecaster->borders = borders_new(
			&forecaster->states, (const char(*)[CHRONICLE_NAME])forecaster->targets,
			forecaster->sizes);
	forecaster->features.borders = forecaster->borders;
}

void forecaster_release(struct forecaster *forecaster)
{
	for (size_t i = 0;
	     forecaster->models && i < forecaster->target_count * forecaster->size_count; i++)
		model_release(&forecaster->models[i]);
	free(forecaster->models);
	free(forecaster->targets);
	states_release(&forecaster->states);
	chains_free(forecaster->chains);
	borders_free(forecaster->borders);
	*forecaster = (struct forecaster){ 0 };
}

bool forecaster_model_is_rejected(const struct forecaster_model *model)
{
	return !model->is_known && !isnan(model->share_log_loss);
}

bool forecaster_model_is_useful(const struct forecaster_model *model)
{
	/* A chosen model is better by its log score, with the same confidence. */
	if (model->is_known && model->is_chosen)
		return true;
	return model->is_known && model->rows && !isnan(model->accuracy) &&
	       drift_share_low(model->accuracy, (double)model->rows, FORECASTER_CONFIDENCE) >
		       model->majority;
}

int forecaster_find_target(const struct forecaster *forecaster, const char *target)
{
	for (size_t i = 0; i < forecaster->target_count; i++)
		if (strcmp(forecaster->targets[i], target) == 0)
			return (int)i;
	return -ENOENT;
}

int forecaster_find_size(const struct forecaster *forecaster, uint64_t bytes)
{
	for (size_t i = 0; i < forecaster->size_count; i++)
		if (forecaster->sizes[i] == bytes)
			return (int)i;
	return -ENOENT;
}

static double component_mean(const struct mixture *mixture, size_t k, double *deviation)
{
	double s = mixture->components[k].second, mean = mixture_mean(mixture, k);

	*deviation = mean * sqrt(expm1(s * s));
	return mean;
}

void forecaster_predict(const struct forecaster *forecaster, size_t target, size_t size,
			const double *row, struct forecast *forecast)
{
	const struct forecaster_model *model = forecaster_model(forecaster, target, size);
	const struct mixture *mixture = states_mixture(&forecaster->states, target, size);
	double busy = model->busy_share;

	if (row && model->is_known)
		busy = choice_predict(model->members, model->member_count, &forecaster->features,
				      row, busy);
	else if (row && model->recent)
		busy = choice_share(&forecaster->features, row, busy);
	*forecast = (struct forecast){ .busy = busy,
				       .expected_s = NAN,
				       .idle_s = NAN,
				       .busy_s = NAN,
				       .idle_sd = NAN,
				       .busy_sd = NAN,
				       .is_model = model->is_known && row };
	if (!mixture)
		return;
	forecast->idle_s = component_mean(mixture, 0, &forecast->idle_sd);
	forecast->busy_s = component_mean(mixture, 1, &forecast->busy_sd);
	forecast->expected_s =
		forecast->busy * forecast->busy_s + (1 - forecast->busy) * forecast->idle_s;
}

double forecaster_predict_at(const struct forecaster *forecaster, const struct features *features,
			     size_t target, size_t size, double time_s, struct forecast *forecast)
{
	const struct chronicle *chronicle = features->chronicle;
	int known = chronicle_find_target(chronicle, forecaster->targets[target]);
	int known_size = chronicle_find_size(chronicle, forecaster->sizes[size]);
	const struct chronicle_series *probes =
		known < 0 ? NULL : chronicle_series(chronicle, (size_t)known, 0);
	size_t until = probes ? chronicle_count_until(probes, time_s) : 0;
	double age = until ? time_s - probes->time_s[until - 1] : INFINITY;
	double row[FEATURES_MAX];
	/* Without writes of this size, a row cannot have FEATURE_PAST; other groups need probes. */
	bool has_row = age < forecaster->features.window_s &&
		       (known_size >= 0 || !(forecaster->features.groups & FEATURE_PAST));

	if (has_row)
		features_at(features, (size_t)known, known_size < 0 ? 0 : (size_t)known_size,
			    time_s, row);
	forecaster_predict(forecaster, target, size, has_row ? row : NULL, forecast);
	return age;
}
