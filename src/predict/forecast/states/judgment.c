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
#include "predict/forecast/states/forecaster.h"
#include "predict/forecast/states/judgment_internal.h"

static const char *const baselines[] = {
	"hidden",      /* a hidden Markov filter on probes */
	"persistence", /* the last known label */
	"majority",    /* the more frequent label */
};

const char *judgment_method(size_t method)
{
	return method < JUDGMENT_HIDDEN ? forecast_methods[method].name
					: baselines[method - JUDGMENT_HIDDEN];
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
		methods[i] = all;
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
	const struct features *features;
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

enum { RELIABILITY_BINS = 10 };

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
					.ask_s = NAN };
	cell->score = xcalloc(test + 1, sizeof(*cell->score));
	cell->chance = xcalloc(test + 1, sizeof(*cell->chance));
}

static void evaluate_probabilities(struct judgment_cell *cell, const double *labels, size_t test)
{
	struct metrics_bin bins[RELIABILITY_BINS];
	double brier = 0;

	if (!cell->is_known || !test)
		return;
	for (size_t i = 0; i < test; i++)
		brier += (cell->chance[i] - labels[i]) * (cell->chance[i] - labels[i]);
	cell->brier = brier / (double)test;
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
			    const struct judgment_rows *rows, const struct chain *chain,
			    struct err *err)
{
	double horizon_s = work->plan->features.horizon_s;
	int r = 0;

	for (size_t m = 0; r >= 0 && m < JUDGMENT_METHODS; m++) {
		struct judgment_cell *cell = &judged->cells[m];

		cell_init(cell, judged->test);
		if (!work->judgment->methods[m] ||
		    atomic_load_explicit(&work->stopped, memory_order_relaxed))
			continue;
		if (m == JUDGMENT_HIDDEN)
			baseline_hidden(cell, rows, chain, horizon_s);
		else if (m == JUDGMENT_PERSISTENCE)
			baseline_persistence(cell, rows, horizon_s);
		else if (m == JUDGMENT_MAJORITY)
			baseline_majority(cell, rows);
		else
			r = evaluate_classifier(cell, m, rows, work->plan, err);
		evaluate_probabilities(cell, judged->labels, judged->test);
	}
	return r;
}

static int evaluate_case(const struct work *work, struct judgment_case *judged,
			 const struct chain *chain, struct err *err)
{
	struct judgment_rows rows;
	int r = 0;

	if (!states_mixture(&work->judgment->states, judged->target, judged->size))
		return 0;
	r = judgment_rows_make(&rows, work->judgment, work->chronicle, work->features, work->plan,
			       judged->target, judged->size, err);
	if (r < 0)
		return r;
	if (has_enough_rows(&rows)) {
		fill_case(judged, &rows);
		r = evaluate_methods(work, judged, &rows, chain, err);
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
	struct chain chain = { 0 };
	int r = 0;

	if (atomic_load_explicit(&work->stopped, memory_order_relaxed))
		return;
	if (work->judgment->methods[JUDGMENT_HIDDEN])
		chain_init(&chain, work->chronicle, target, plan->labels.from_s, plan->labels.to_s,
			   plan->test_to_s);
	for (size_t s = 0; r >= 0 && s < work->size_count; s++) {
		struct judgment_case *judged = &work->judgment->cases[piece * work->size_count + s];

		judged->target = target;
		judged->size = work->first_size + s;
		r = evaluate_case(work, judged, &chain, err);
		atomic_fetch_add_explicit(&work->done, 1, memory_order_relaxed);
		if (!worker && plan->progress &&
		    plan->progress(plan->progress_arg,
				   atomic_load_explicit(&work->done, memory_order_relaxed),
				   work->target_count * work->size_count))
			atomic_store_explicit(&work->stopped, true, memory_order_relaxed);
	}
	chain_release(&chain);
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

int judgment_run(struct judgment *judgment, const struct chronicle *chronicle,
		 const struct site *site, const struct judgment_plan *plan, struct err *err)
{
	struct judgment made = { .from_s = plan->labels.from_s,
				 .to_s = plan->labels.to_s,
				 .test_to_s = plan->test_to_s };
	struct features features;
	struct work work = {
		.judgment = &made,
		.chronicle = chronicle,
		.features = &features,
		.plan = plan,
		.targets = plan->targets,
		.target_count = plan->targets ? plan->target_count : chronicle->target_count,
	};
	int r = parse_methods(made.methods, plan->methods, err);

	if (r >= 0)
		r = choose_sizes(&work, err);
	if (r >= 0)
		r = states_fit(&made.states, chronicle, &plan->labels, err);
	if (r < 0)
		return r;
	features_init(&features, chronicle, site, &plan->features);
	r = evaluate_cases(&work, err);
	features_release(&features);
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
	*judgment = (struct judgment){ 0 };
}
