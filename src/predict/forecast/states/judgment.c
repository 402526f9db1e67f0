/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Evaluates every method on every target and size. Threads share the work by target, because the
 * hidden Markov chain of a target's probes serves all sizes.
 */
#include "predict/forecast/states/judgment.h"

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "learn/judge/calibration.h"
#include "learn/judge/metrics.h"
#include "learn/judge/selection.h"
#include "learn/table/folds.h"
#include "predict/forecast/states/choice.h"
#include "predict/forecast/states/forecaster.h"
#include "predict/forecast/states/judgment_internal.h"

static const char *const baselines[] = {
	FORECAST_AUTO, /* the best one for each target and size */
	"hidden",      /* a hidden Markov filter on probes */
	"persistence", /* the last known label */
	"majority",    /* the more frequent label */
};

const char *judgment_method(size_t method)
{
	return method < JUDGMENT_AUTO ? forecast_methods[method].name
				      : baselines[method - JUDGMENT_AUTO];
}

static int report_unknown_method(const char *name, size_t n, struct err *err)
{
	AUTO_BUF struct buf names = { 0 };

	for (size_t i = 0; i < JUDGMENT_METHODS; i++)
		buf_printf(&names, "%s%s", i ? ", " : "", judgment_method(i));
	return err_set(err, EINVAL, "unknown method \"%.*s\" (expected %s or all)", (int)n, name,
		       buf_text(&names));
}

static int parse_methods(bool methods[JUDGMENT_METHODS], const char *text, struct err *err)
{
	bool all = !text || strcmp(text, "all") == 0;

	for (size_t i = 0; i < JUDGMENT_METHODS; i++)
		methods[i] = all && i != JUDGMENT_AUTO;
	while (!all && *text) {
		size_t n = strcspn(text, ","), i = 0;

		while (i < JUDGMENT_METHODS && (strlen(judgment_method(i)) != n ||
						strncmp(judgment_method(i), text, n) != 0))
			i++;
		if (i == JUDGMENT_METHODS)
			return report_unknown_method(text, n, err);
		methods[i] = true;
		text += n + (text[n] == ',');
	}
	return 0;
}

void judgment_plan_init(struct judgment_plan *plan)
{
	*plan = (struct judgment_plan){
		.labels = { .from_s = -INFINITY, .to_s = INFINITY, .seed = 1 },
		.test_to_s = INFINITY,
		.folds = 8,
		.seed = 1,
	};
	features_plan_init(&plan->features);
}

struct work {
	struct judgment *judgment;
	const struct chronicle *chronicle;
	struct features features;
	struct features choices; /* those of JUDGMENT_AUTO, if it is judged */
	const struct judgment_plan *plan;
	const size_t *targets;
	size_t target_count, first_size, size_count;
	atomic_size_t done;
	atomic_bool stopped;
	struct err *errors; /* per target of the work */
};

static struct samples training_samples(const struct judgment_rows *rows)
{
	return (struct samples){ .x = rows->rows.x,
				 .y = rows->labels,
				 .rows = rows->train,
				 .width = rows->rows.width,
				 .classes = 2,
				 .gaps = true };
}

/* Cross-validates on the given folds. `score` has room for two values per row. */
static int cross_validate(const struct pipeline_plan *plan, const struct judgment_rows *rows,
			  uint32_t *of, size_t count, uint64_t seed, double *score,
			  double *accuracy, double *auc, struct err *err)
{
	struct samples samples = training_samples(rows);
	struct folds folds = { .kind = FOLDS_GIVEN, .count = count, .rows = rows->train, .of = of };
	struct effort effort = { .seed = seed, .threads = 1 };
	int r = selection_guesses(plan, &samples, &folds, &effort, score, NULL, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < rows->train; i++)
		score[i] = score[2 * i + 1];
	*accuracy = score_accuracy(rows->labels, score, rows->train);
	*auc = metrics_auc(rows->labels, score, rows->train);
	return 0;
}

static void predict_test_rows(struct judgment_cell *cell, const struct judgment_rows *rows,
			      const struct pipeline *pipeline)
{
	size_t test = rows->rows.rows - rows->train, width = rows->rows.width;
	double start = clock_thread_cpu_s(), chances[2];

	for (size_t i = 0; i < test; i++) {
		pipeline_predict(pipeline, rows->rows.x + (rows->train + i) * width, chances);
		cell->score[i] = cell->chance[i] = chances[1];
	}
	cell->ask_s = test ? (clock_thread_cpu_s() - start) / (double)test : NAN;
}

static int validate_classifier(struct judgment_cell *cell, const struct pipeline_plan *plan,
			       const struct judgment_rows *rows, const struct judgment_plan *wanted,
			       struct calibration *calibration, struct err *err)
{
	AUTO_FREE double *score = NULL;
	int r;

	if (!rows->shuffled)
		return 0;
	score = xmalloc(rows->train * 2 * sizeof(*score));
	r = cross_validate(plan, rows, rows->shuffled, wanted->folds, wanted->seed, score,
			   &cell->shuffled_accuracy, &cell->shuffled_auc, err);
	if (r >= 0)
		r = cross_validate(plan, rows, rows->blocked, wanted->folds, wanted->seed, score,
				   &cell->blocked_accuracy, &cell->blocked_auc, err);
	return r < 0 ? r
		     : calibration_fit(calibration, CALIBRATION_PLATT, rows->labels, score,
				       rows->train, err);
}

static int evaluate_classifier(struct judgment_cell *cell, size_t method,
			       const struct judgment_rows *rows, const struct judgment_plan *wanted,
			       struct err *err)
{
	size_t test = rows->rows.rows - rows->train;
	struct effort effort = { .seed = wanted->seed, .threads = 1 };
	struct samples samples = training_samples(rows);
	struct calibration calibration = { 0 };
	struct pipeline_plan plan;
	struct pipeline pipeline;
	double start = clock_thread_cpu_s();
	int r = forecast_method_plan(&plan, judgment_method(method), NULL, err);

	if (r >= 0)
		r = pipeline_fit(&pipeline, &plan, &samples, NULL, 0, &effort, err);
	if (r < 0)
		return r;
	cell->fit_s = clock_thread_cpu_s() - start;
	predict_test_rows(cell, rows, &pipeline);
	pipeline_release(&pipeline);
	r = validate_classifier(cell, &plan, rows, wanted, &calibration, err);
	for (size_t i = 0; r >= 0 && i < test; i++)
		cell->chance[i] = calibration_apply(&calibration, cell->score[i]);
	calibration_release(&calibration);
	cell->accuracy = score_accuracy(rows->labels + rows->train, cell->score, test);
	cell->auc = metrics_auc(rows->labels + rows->train, cell->score, test);
	cell->latent =
		score_latent(rows->busy ? rows->busy + rows->train : NULL, cell->score, test);
	cell->is_known = r >= 0;
	return r;
}

/* Fits the chosen method to the training rows and predicts the others. */
static int predict_chosen(struct judgment_cell *cell, struct choice *choice,
			  const struct choice_task *task, const struct feature_rows *rows,
			  double train_share, struct err *err)
{
	struct choice_model models[CHOICE_MEMBERS];
	size_t train = task->samples.rows, count;
	int r = choice_fit(models, &count, choice, task, err);

	for (size_t i = train; r >= 0 && i < rows->rows; i++)
		cell->score[i - train] = cell->chance[i - train] = choice_predict(
			models, count, task->features, rows->x + i * rows->width, train_share);
	choice_models_release(models, count);
	return r;
}

/* The same choice as in training (forecaster.c), tested on the days after. */
static int evaluate_choice(struct judgment_cell *cell, const struct work *work,
			   const struct judgment_case *judged, const struct judgment_rows *rows,
			   struct err *err)
{
	const struct judgment_plan *plan = work->plan;
	size_t test = rows->rows.rows - rows->train;
	struct feature_rows all;
	struct choice_task task = { .features = &work->choices.plan,
				    .folds = plan->folds,
				    .calibration = CALIBRATION_PLATT,
				    .seed = plan->seed };
	double start = clock_thread_cpu_s();
	struct choice choice;
	int r = 0;

	if (plan->folds < 2)
		return 0;
	features_rows(&work->choices, judged->target, judged->size, plan->labels.from_s,
		      plan->test_to_s, &all);
	task.time_s = all.time_s;
	task.samples = (struct samples){ .x = all.x,
					 .y = rows->labels,
					 .rows = rows->train,
					 .width = all.width,
					 .classes = 2,
					 .gaps = true };
	choice_make(&choice, &task);
	for (size_t i = 0; i < test; i++)
		cell->score[i] = cell->chance[i] =
			choice.recent
				? choice_share(task.features, all.x + (rows->train + i) * all.width,
					       judged->busy_share)
				: judged->busy_share;
	cell->chosen = choice.method ? choice.method : "shares";
	if (choice.method)
		r = predict_chosen(cell, &choice, &task, &all, judged->busy_share, err);
	cell->fit_s = clock_thread_cpu_s() - start;
	cell->blocked_accuracy = choice.accuracy;
	cell->blocked_auc = choice.auc;
	cell->accuracy = score_accuracy(judged->labels, cell->score, test);
	cell->auc = metrics_auc(judged->labels, cell->score, test);
	cell->latent = score_latent(judged->busy, cell->score, test);
	cell->is_known = r >= 0;
	choice_release(&choice);
	feature_rows_release(&all);
	return r;
}

enum { RELIABILITY_BINS = 10 };
#define CHANCE_LEAST 1e-6

static void cell_init(struct judgment_cell *cell, size_t test)
{
	*cell = (struct judgment_cell){ .shuffled_accuracy = NAN,
					.shuffled_auc = NAN,
					.blocked_accuracy = NAN,
					.blocked_auc = NAN,
					.accuracy = NAN,
					.auc = NAN,
					.calibrated_accuracy = NAN,
					.brier = NAN,
					.calibration_error = NAN,
					.latent = NAN,
					.fit_s = NAN,
					.ask_s = NAN,
					.log_loss = NAN };
	cell->score = xcalloc(test + 1, sizeof(*cell->score));
	cell->chance = xcalloc(test + 1, sizeof(*cell->chance));
}

static void evaluate_probabilities(struct judgment_cell *cell, const double *labels, size_t test)
{
	struct metrics_bin bins[RELIABILITY_BINS];
	double brier = 0, loss = 0;

	if (!cell->is_known || !test)
		return;
	for (size_t i = 0; i < test; i++) {
		double chance = labels[i] == 1 ? cell->chance[i] : 1 - cell->chance[i];

		brier += (cell->chance[i] - labels[i]) * (cell->chance[i] - labels[i]);
		loss -= log(fmax(chance, CHANCE_LEAST));
	}
	cell->brier = brier / (double)test;
	cell->log_loss = loss / (double)test;
	cell->calibrated_accuracy = score_accuracy(labels, cell->chance, test);
	cell->calibration_error =
		metrics_reliability(labels, cell->chance, test, bins, RELIABILITY_BINS);
}

static double *copy_values(const double *values, size_t count)
{
	double *copy = xmalloc((count + 1) * sizeof(*copy));

	memcpy(copy, values, count * sizeof(*copy));
	return copy;
}

/* Counts the test rows of writes that timed out, and finds the median age of their probes. */
static void fill_ages(struct judgment_case *judged, const struct chronicle *chronicle,
		      const struct judgment_rows *rows)
{
	const struct chronicle_series *series =
		chronicle_series(chronicle, judged->target, judged->size);
	AUTO_FREE double *ages = xmalloc((judged->test + 1) * sizeof(*ages));
	size_t known = 0;

	for (size_t i = rows->train; i < rows->rows.rows; i++) {
		judged->timeouts += sample_outcome(series, rows->rows.sample[i]) == SAMPLE_TIMEOUT;
		judged->programs += sample_is_program(series, rows->rows.sample[i]);
		if (!isnan(rows->rows.age_s[i]))
			ages[known++] = rows->rows.age_s[i];
	}
	judged->probe_age_s = known ? metrics_quantile(ages, known, 0.5) : NAN;
}

static void fill_case(struct judgment_case *judged, const struct judgment_rows *rows)
{
	size_t test = rows->rows.rows - rows->train, agree = 0;
	double busy = 0;

	judged->train = rows->train;
	judged->test = test;
	judged->ceiling = rows->ceiling;
	judged->train_ceiling = rows->train_ceiling;
	judged->time_s = copy_values(rows->rows.time_s + rows->train, test);
	judged->seconds = copy_values(rows->rows.seconds + rows->train, test);
	judged->labels = copy_values(rows->labels + rows->train, test);
	judged->posterior = copy_values(rows->posterior + rows->train, test);
	for (size_t i = 0; i < rows->train; i++)
		busy += rows->labels[i];
	judged->busy_share = busy / (double)rows->train;
	judged->label_truth = NAN;
	if (!rows->busy)
		return;
	judged->busy = xmalloc(test + 1);
	memcpy(judged->busy, rows->busy + rows->train, test);
	for (size_t i = 0; i < test; i++)
		agree += (judged->labels[i] == 1) == (judged->busy[i] != 0);
	judged->label_truth = test ? (double)agree / (double)test : NAN;
}

static bool has_enough_rows(const struct judgment_rows *rows)
{
	size_t busy = 0;

	for (size_t i = 0; i < rows->train; i++)
		busy += rows->labels[i] == 1;
	return busy >= FORECASTER_LEAST && rows->train - busy >= FORECASTER_LEAST;
}

static int evaluate_methods(const struct work *work, struct judgment_case *judged,
			    const struct judgment_rows *rows, const struct filter *filter,
			    struct err *err)
{
	const struct features_plan *features = &work->plan->features;
	int r = 0;

	for (size_t m = 0; r >= 0 && m < JUDGMENT_METHODS; m++) {
		struct judgment_cell *cell = &judged->cells[m];

		cell_init(cell, judged->test);
		if (!work->judgment->methods[m] ||
		    atomic_load_explicit(&work->stopped, memory_order_relaxed))
			continue;
		if (m == JUDGMENT_AUTO)
			r = evaluate_choice(cell, work, judged, rows, err);
		else if (m == JUDGMENT_HIDDEN)
			baseline_hidden(cell, rows, filter, features);
		else if (m == JUDGMENT_PERSISTENCE)
			baseline_persistence(cell, rows, features->horizon_s);
		else if (m == JUDGMENT_MAJORITY)
			baseline_majority(cell, rows);
		else
			r = evaluate_classifier(cell, m, rows, work->plan, err);
		evaluate_probabilities(cell, judged->labels, judged->test);
	}
	return r;
}

static int evaluate_case(const struct work *work, struct judgment_case *judged,
			 const struct filter *filter, struct err *err)
{
	struct judgment_rows rows;
	int r = 0;

	if (!states_mixture(&work->judgment->states, judged->target, judged->size))
		return 0;
	r = judgment_rows_make(&rows, work->judgment, work->chronicle, &work->features, work->plan,
			       judged->target, judged->size, err);
	if (r < 0)
		return r;
	if (has_enough_rows(&rows)) {
		fill_case(judged, &rows);
		fill_ages(judged, work->chronicle, &rows);
		r = evaluate_methods(work, judged, &rows, filter, err);
	}
	judgment_rows_release(&rows);
	return r;
}

static void evaluate_target(void *arg, size_t piece, unsigned worker)
{
	struct work *work = arg;
	const struct judgment_plan *plan = work->plan;
	size_t target = work->targets ? work->targets[piece] : piece;
	struct err *err = &work->errors[piece];
	struct filter filter = { 0 };
	int r = 0;

	if (atomic_load_explicit(&work->stopped, memory_order_relaxed))
		return;
	if (work->judgment->methods[JUDGMENT_HIDDEN])
		filter_init(&filter, work->chronicle, target, plan->labels.from_s,
			    plan->labels.to_s, plan->test_to_s);
	for (size_t s = 0; r >= 0 && s < work->size_count; s++) {
		struct judgment_case *judged = &work->judgment->cases[piece * work->size_count + s];

		judged->target = target;
		judged->size = work->first_size + s;
		r = evaluate_case(work, judged, &filter, err);
		atomic_fetch_add_explicit(&work->done, 1, memory_order_relaxed);
		if (!worker && plan->progress &&
		    plan->progress(plan->progress_arg,
				   atomic_load_explicit(&work->done, memory_order_relaxed),
				   work->target_count * work->size_count))
			atomic_store_explicit(&work->stopped, true, memory_order_relaxed);
	}
	filter_release(&filter);
	if (r < 0) {
		err_prefix(err, "%s", work->chronicle->targets[target]);
		atomic_store_explicit(&work->stopped, true, memory_order_relaxed);
	}
}

static void case_release(struct judgment_case *judged)
{
	free(judged->time_s);
	free(judged->seconds);
	free(judged->labels);
	free(judged->posterior);
	free(judged->busy);
	for (size_t m = 0; m < JUDGMENT_METHODS; m++) {
		free(judged->cells[m].score);
		free(judged->cells[m].chance);
	}
}

/* Removes the cases that could not be evaluated. */
static void drop_empty_cases(struct judgment *judgment)
{
	size_t kept = 0;

	for (size_t i = 0; i < judgment->case_count; i++) {
		if (judgment->cases[i].train)
			judgment->cases[kept++] = judgment->cases[i];
		else
			case_release(&judgment->cases[i]);
	}
	judgment->case_count = kept;
}

static int evaluate_cases(struct work *work, struct err *err)
{
	struct judgment *judgment = work->judgment;
	AUTO_FREE struct err *errors = xcalloc(work->target_count + 1, sizeof(*errors));
	unsigned threads = work->plan->threads ? work->plan->threads : parallel_cores();

	work->errors = errors;
	judgment->case_count = work->target_count * work->size_count;
	judgment->cases = xcalloc(judgment->case_count + 1, sizeof(*judgment->cases));
	parallel_for(threads, work->target_count, evaluate_target, work);
	for (size_t i = 0; i < work->target_count; i++)
		if (errors[i].code)
			return err_set(err, errors[i].code, "%s", errors[i].text);
	if (atomic_load(&work->stopped))
		return err_set(err, ECANCELED, "the evaluation was interrupted");
	drop_empty_cases(judgment);
	return judgment->case_count ? 0
				    : err_set(err, ENODATA,
					      "no target has enough reference writes of both "
					      "states for training "
					      "and testing");
}

/* Selects all sizes but the probe size, or the one of the plan. */
static int choose_sizes(struct work *work, struct err *err)
{
	const struct chronicle *chronicle = work->chronicle;
	int size = 1;

	work->size_count = chronicle->size_count ? chronicle->size_count - 1 : 0;
	if (work->plan->bytes) {
		size = chronicle_find_size(chronicle, work->plan->bytes);
		work->size_count = 1;
	}
	if (size < 1 || !work->size_count || !chronicle->target_count)
		return err_set(err, ENODATA, "no reference writes of this size");
	work->first_size = (size_t)size;
	return 0;
}

/* Sets up the features of all methods; the chains are those of the training range. */
static int evaluate_with_features(struct work *work, const struct site *site, struct err *err)
{
	const struct judgment_plan *plan = work->plan;
	struct judgment *judgment = work->judgment;
	struct features_plan own = plan->features, choice = plan->features;
	int r;

	own.ignores_programs = choice.ignores_programs = judgment->ignores_programs;
	choice.groups = CHOICE_FEATURES;
	if (own.groups & FEATURE_STATE || judgment->methods[JUDGMENT_AUTO])
		judgment->chains =
			chains_new(work->chronicle, plan->labels.from_s, plan->labels.to_s);
	own.chains = choice.chains = judgment->chains;
	judgment->borders = borders_new(&judgment->states,
					(const char(*)[CHRONICLE_NAME])work->chronicle->targets,
					work->chronicle->sizes);
	own.borders = choice.borders = judgment->borders;
	features_init(&work->features, work->chronicle, site, &own);
	if (judgment->methods[JUDGMENT_AUTO])
		features_init(&work->choices, work->chronicle, site, &choice);
	r = evaluate_cases(work, err);
	if (judgment->methods[JUDGMENT_AUTO])
		features_release(&work->choices);
	features_release(&work->features);
	return r;
}

/* The same decisions as in training (forecaster.c). */
static int fit_states(struct judgment *judgment, const struct chronicle *chronicle,
		      const struct site *site, const struct judgment_plan *plan, struct err *err)
{
	struct labels_plan labels = plan->labels;
	struct programs_task task = { .chronicle = chronicle,
				      .site = site,
				      .states = &judgment->states,
				      .features = &plan->features,
				      .labels = &labels,
				      .folds = plan->folds };
	int r;

	labels.ignores_programs = plan->programs == PROGRAMS_IGNORE;
	r = states_fit(&judgment->states, chronicle, &labels, err);
	if (r >= 0)
		judgment->ignores_programs = programs_are_ignored(plan->programs, &task);
	return r;
}

int judgment_run(struct judgment *judgment, const struct chronicle *chronicle,
		 const struct site *site, const struct judgment_plan *plan, struct err *err)
{
	struct judgment made = { .from_s = plan->labels.from_s,
				 .to_s = plan->labels.to_s,
				 .test_to_s = plan->test_to_s };
	struct work work = {
		.judgment = &made,
		.chronicle = chronicle,
		.plan = plan,
		.targets = plan->targets,
		.target_count = plan->targets ? plan->target_count : chronicle->target_count,
	};
	int r = parse_methods(made.methods, plan->methods, err);

	if (r >= 0)
		r = choose_sizes(&work, err);
	if (r >= 0)
		r = fit_states(&made, chronicle, site, plan, err);
	if (r < 0)
		return r;
	r = evaluate_with_features(&work, site, err);
	if (r < 0)
		judgment_release(&made);
	else
		*judgment = made;
	return r;
}

void judgment_release(struct judgment *judgment)
{
	for (size_t i = 0; i < judgment->case_count; i++)
		case_release(&judgment->cases[i]);
	free(judgment->cases);
	states_release(&judgment->states);
	chains_free(judgment->chains);
	borders_free(judgment->borders);
	*judgment = (struct judgment){ 0 };
}
