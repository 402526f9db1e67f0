/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Fits costs: model selection among the paper's methods and preprocessing recipes per operation.
 * Papers: HYB-39.
 */
#include "predict/model/costs/costs.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "learn/judge/metrics.h"
#include "learn/judge/selection.h"
#include "learn/table/folds.h"
#include "predict/model/costs/costs_internal.h"
#include "store/elements.h"

extern const struct learner_ops learner_forest, learner_linear, learner_neighbors,
	learner_perceptron, learner_rules, learner_svm;

/* The methods of the paper; "rules" corresponds to Cubist. */
static const struct learner_ops *const paper_learners[] = {
	&learner_linear, &learner_neighbors,  &learner_rules, &learner_svm,
	&learner_forest, &learner_perceptron, NULL,
};
static const char *const paper_recipes[] = { "center,scale", "boxcox,center,scale",
					     "boxcox,center,scale,pca", NULL };

/* With fewer cells none can be held out; a linear model is fitted then. */
#define CELLS_JUDGED 4

#define DEFAULT_FOLDS 10
#define DEFAULT_BUDGET 30

struct fitting {
	const struct costs_plan *plan;
	enum operation operation;
	struct cost *cost;
	double *x, *y;
	struct samples samples;
	const struct cost_trial *trials; /* NULL: the cells are not smoothed */
};

static void choose_inputs(struct fitting *f)
{
	struct cost *cost = f->cost;
	double least[OPERATION_FEATURES], most[OPERATION_FEATURES];
	size_t features = operation_features(f->operation, &cost->least, least, NULL);

	operation_features(f->operation, &cost->most, most, NULL);
	cost->input_count = 0;
	for (size_t i = 0; i < features; i++)
		if (least[i] != most[i])
			cost->inputs[cost->input_count++] = i;
}

static void make_matrices(struct fitting *f)
{
	struct cost *cost = f->cost;

	f->x = xmalloc((cost->cell_count * cost->input_count + 1) * sizeof(*f->x));
	f->y = xmalloc((cost->cell_count + 1) * sizeof(*f->y));
	cost->floor = INFINITY;
	for (size_t i = 0; i < cost->cell_count; i++) {
		cost_inputs(cost, f->operation, &cost->cells[i].at, f->x + i * cost->input_count);
		f->y[i] = cost->cells[i].seconds;
		if (f->y[i] > 0)
			cost->floor = fmin(cost->floor, f->y[i]);
	}
	f->samples = (struct samples){
		.x = f->x, .y = f->y, .rows = cost->cell_count, .width = cost->input_count
	};
}

/* Takes logarithms of positive times; a model of plain seconds may predict negative ones. */
static size_t take_logarithms(const double *truth, const double *guess, size_t count, double floor,
			      double *log_truth, double *log_guess)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		if (!(truth[i] > 0))
			continue;
		log_truth[n] = log(truth[i]);
		log_guess[n++] = log(fmax(guess[i], floor));
	}
	return n;
}

static int score_cost(struct cost *cost, const double *truth, const double *guess, size_t count,
		      struct err *err)
{
	AUTO_FREE double *log_truth = xmalloc(2 * count * sizeof(*log_truth));
	double *log_guess = log_truth + count;
	size_t n = take_logarithms(truth, guess, count, cost->floor, log_truth, log_guess);

	cost->score = (struct cost_score){
		.rmse = metrics_rmse(truth, guess, count),
		.r2 = metrics_r2(truth, guess, count),
		.log_rmse = metrics_rmse(log_truth, log_guess, n),
		.log_r2 = metrics_r2(log_truth, log_guess, n),
		.median_error = metrics_median_error(truth, guess, count),
	};
	cost->spread = cost->score.log_rmse;
	return conformal_fit(&cost->conformal, log_truth, log_guess, NULL, n, err);
}

static void keep_leaderboard(struct cost *cost, const struct selection *selection)
{
	cost->entries = xcalloc(selection->count + 1, sizeof(*cost->entries));
	for (size_t i = 0; i < selection->count; i++) {
		const struct selection_entry *from = &selection->entries[i];
		AUTO_BUF struct buf settings = { 0 };

		learner_format(from->plan.learner, from->plan.settings, &settings);
		cost->entries[cost->entry_count++] = (struct cost_entry){
			.learner = xstrdup(from->plan.learner->name),
			.settings = xstrdup(buf_text(&settings)),
			.recipe = xstrdup(from->plan.recipe ? from->plan.recipe
							    : from->plan.learner->recipe),
			.rmse = from->failure ? NAN : from->mean_first,
			.r2 = from->failure ? NAN : from->mean_second,
			.failure = xstrdup(from->failure),
		};
	}
}

static bool report_progress(void *arg, size_t done, size_t total)
{
	const struct fitting *f = arg;

	return f->plan->progress(f->plan->progress_arg, f->operation, done, total);
}

/*
 * Scores the winner on other folds than those of the selection: the best of many candidates was
 * also lucky, the more so the fewer cells there are.
 */
static int score_winner(struct fitting *f, const struct pipeline_plan *winner, size_t count,
			struct err *err)
{
	struct effort effort = { .seed = f->plan->seed,
				 .threads =
					 f->plan->threads ? f->plan->threads : parallel_cores() };
	AUTO_FREE double *guesses = xmalloc(f->samples.rows * sizeof(*guesses));
	struct folds folds = { 0 };
	int r = folds_init(&folds, FOLDS_PLAIN, count, f->samples.rows, NULL, f->plan->seed + 1,
			   err);

	if (r >= 0)
		r = selection_guesses(winner, &f->samples, &folds, &effort, guesses, NULL, err);
	if (r >= 0)
		r = score_cost(f->cost, f->y, guesses, f->samples.rows, err);
	folds_release(&folds);
	return r;
}

static size_t fold_count(const struct fitting *f)
{
	size_t count = f->plan->folds ? f->plan->folds : DEFAULT_FOLDS;

	return count < f->samples.rows ? count : f->samples.rows;
}

/* A winner that fails on other folds is scored on the folds of the selection. */
static int finish_selection(struct fitting *f, struct selection *selection, struct err *err)
{
	int r;

	if (selection->count < selection->planned)
		return err_set(err, ECANCELED, "interrupted");
	r = score_winner(f, &selection->entries[0].plan, fold_count(f), NULL);
	if (r < 0)
		r = score_cost(f->cost, f->y, selection->guesses, f->samples.rows, err);
	if (r < 0)
		return r;
	keep_leaderboard(f->cost, selection);
	f->cost->pipeline = selection->best;
	selection->best = (struct pipeline){ 0 };
	return 0;
}

static int select_method(struct fitting *f, struct err *err)
{
	const struct costs_plan *plan = f->plan;
	struct selection_plan wanted = {
		.learners = plan->learners ? plan->learners : paper_learners,
		.recipes = paper_recipes,
		.log_target = !plan->plain_target,
		.budget = plan->budget ? plan->budget : DEFAULT_BUDGET,
		.score = SELECT_RMSE,
		.seed = plan->seed,
		.threads = plan->threads ? plan->threads : parallel_cores(),
		.progress = plan->progress ? report_progress : NULL,
		.progress_arg = f,
	};
	struct selection selection = { 0 };
	struct folds folds = { 0 };
	int r = folds_init(&folds, FOLDS_PLAIN, fold_count(f), f->samples.rows, NULL, plan->seed,
			   err);

	if (r >= 0)
		r = selection_run(&selection, &wanted, &f->samples, &folds, err);
	folds_release(&folds);
	if (r >= 0)
		r = finish_selection(f, &selection, err);
	selection_release(&selection);
	return r;
}

static int make_plan(struct pipeline_plan *plan, const struct cost_entry *entry, bool logarithm,
		     struct err *err)
{
	const struct learner_ops *learner = learner_find(entry->learner, LEARNER_REGRESSES, err);

	if (!learner)
		return -EINVAL;
	pipeline_plan_init(plan, learner);
	plan->recipe = entry->recipe;
	plan->log_target = logarithm;
	return learner_parse(learner, entry->settings, plan->settings, err);
}

/* Fits the method of an earlier selection and scores it on these cells. */
static int fit_known_method(struct fitting *f, const struct cost_entry *winner, struct err *err)
{
	struct effort effort = { .seed = f->plan->seed, .threads = 1 };
	struct pipeline_plan plan;
	int r = make_plan(&plan, winner, !f->plan->plain_target, err);

	if (r >= 0)
		r = score_winner(f, &plan, fold_count(f), err);
	if (r < 0)
		return r;
	f->cost->entries = xcalloc(1, sizeof(*f->cost->entries));
	f->cost->entries[f->cost->entry_count++] = (struct cost_entry){
		.learner = xstrdup(winner->learner),
		.settings = xstrdup(winner->settings),
		.recipe = xstrdup(winner->recipe),
		.rmse = plan.log_target ? f->cost->score.log_rmse : f->cost->score.rmse,
		.r2 = plan.log_target ? f->cost->score.log_r2 : f->cost->score.r2,
	};
	return pipeline_fit(&f->cost->pipeline, &plan, &f->samples, NULL, 0, &effort, err);
}

static const struct cost_entry *find_winner(const struct fitting *f)
{
	const struct costs *like = f->plan->like;

	return like && like->of[f->operation].entry_count ? like->of[f->operation].entries : NULL;
}

/* Fits a linear model. A cost between two measured cells lies between theirs, so half the range is
 * the deviation. */
static int fit_line(struct fitting *f, struct err *err)
{
	struct effort effort = { .seed = f->plan->seed, .threads = 1 };
	struct pipeline_plan line;
	double most = 0;

	for (size_t i = 0; i < f->samples.rows; i++)
		most = fmax(most, f->y[i]);
	f->cost->spread = most > 0 ? log(most / f->cost->floor) / 2 : 0;
	f->cost->score = (struct cost_score){ NAN, NAN, NAN, NAN, NAN };
	if (f->samples.rows < 2 || !f->samples.width)
		return 0;
	pipeline_plan_init(&line, &learner_linear);
	line.log_target = !f->plan->plain_target;
	return pipeline_fit(&f->cost->pipeline, &line, &f->samples, NULL, 0, &effort, err);
}

/* Adds the squared errors at the cells of a fold, if the surrogate learns from the other cells. */
static int add_trial_errors(struct fitting *f, const struct pipeline_plan *plan, size_t fold,
			    double *sum, struct err *err)
{
	struct effort effort = { .seed = f->plan->seed, .threads = 1 };
	AUTO_FREE size_t *rows = xmalloc(f->samples.rows * sizeof(*rows));
	struct pipeline pipeline;
	size_t count = 0;
	int r;

	for (size_t i = 0; i < f->samples.rows; i++)
		if (!isnan(f->trials[i].without[fold]))
			rows[count++] = i;
	r = pipeline_fit(&pipeline, plan, &f->samples, rows, count, &effort, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < f->samples.rows; i++) {
		double guess;

		if (!isnan(f->trials[i].without[fold]))
			continue;
		pipeline_predict(&pipeline, f->x + i * f->samples.width, &guess);
		guess = log(fmax(guess, f->cost->floor)) - f->trials[i].target;
		*sum += guess * guess;
	}
	pipeline_release(&pipeline);
	return 0;
}

/* True if learning from smoothed cells predicts unknown cells better. */
static bool smooth_is_better(struct fitting *f, const struct pipeline_plan *plan)
{
	double raw = 0, smooth = 0;
	int r = 0;

	for (size_t fold = 0; fold < COST_TRIALS && r >= 0; fold++) {
		for (size_t i = 0; i < f->samples.rows; i++)
			f->y[i] = f->cost->cells[i].seconds;
		r = add_trial_errors(f, plan, fold, &raw, NULL);
		for (size_t i = 0; i < f->samples.rows; i++)
			if (!isnan(f->trials[i].without[fold]))
				f->y[i] = f->trials[i].without[fold];
		if (r >= 0)
			r = add_trial_errors(f, plan, fold, &smooth, NULL);
	}
	return r >= 0 && smooth < raw;
}

/* Refits the winner to smoothed cells if that helps. Scores remain those of raw cells. */
static int refit_smoothed(struct fitting *f, struct err *err)
{
	struct effort effort = { .seed = f->plan->seed, .threads = 1 };
	struct pipeline_plan plan;
	struct pipeline better;
	int r = make_plan(&plan, f->cost->entries, !f->plan->plain_target, err);

	if (r < 0 || !smooth_is_better(f, &plan))
		return r;
	for (size_t i = 0; i < f->samples.rows; i++)
		f->y[i] = f->cost->cells[i].smooth;
	if (pipeline_fit(&better, &plan, &f->samples, NULL, 0, &effort, NULL) < 0)
		return 0;
	pipeline_release(&f->cost->pipeline);
	f->cost->pipeline = better;
	return 0;
}

static int cost_fit(struct fitting *f, struct err *err)
{
	int r;

	choose_inputs(f);
	make_matrices(f);
	if (!isfinite(f->cost->floor))
		r = err_set(err, EINVAL, "no measured time is positive");
	else if (f->samples.rows < CELLS_JUDGED || !f->samples.width)
		r = fit_line(f, err);
	else if (find_winner(f))
		r = fit_known_method(f, find_winner(f), err);
	else
		r = select_method(f, err);
	if (r >= 0 && f->trials && f->cost->entry_count)
		r = refit_smoothed(f, err);
	free(f->x);
	free(f->y);
	f->cost->is_fitted = r >= 0;
	if (r < 0 && err)
		err_prefix(err, "%s (%s)", operations[f->operation].name,
			   operations[f->operation].title);
	return r;
}

/* Smooths the operations from..to as one group. `room` owns the trials. */
static void smooth_group(struct costs *made, int from, int to, uint64_t seed,
			 struct cost_trial **room, const struct cost_trial **trials)
{
	struct cost *group[OPERATIONS];
	const struct cost_trial *next;
	size_t count = 0;

	for (int i = from; i < to; i++)
		if (made->of[i].cell_count)
			group[count++] = &made->of[i];
	next = room[from] = count ? costs_smooth(group, count, seed) : NULL;
	for (int i = from; i < to && next; i++) {
		trials[i] = next;
		next += made->of[i].cell_count;
	}
}

/*
 * First, full and partial rounds use the same path to the same disks, so the cells of one operation
 * are informative about the others, the more so the more noise there is.
 */
static void smooth_all(struct costs *made, uint64_t seed, struct cost_trial **room,
		       const struct cost_trial **trials)
{
	for (int i = 0; i < OPERATION_WRITE_FIRST; i++)
		smooth_group(made, i, i + 1, seed, room, trials);
	smooth_group(made, OPERATION_WRITE_FIRST, OPERATION_READ_FIRST, seed, room, trials);
	smooth_group(made, OPERATION_READ_FIRST, OPERATION_WRITE_CACHED, seed, room, trials);
	for (int i = OPERATION_PIECE_WRITE; i < OPERATIONS; i++)
		smooth_group(made, i, i + 1, seed, room, trials);
}

int costs_fit(struct costs *costs, const struct elements *rows, const struct costs_plan *plan,
	      struct err *err)
{
	struct cost_trial *room[OPERATIONS] = { 0 };
	const struct cost_trial *trials[OPERATIONS] = { 0 };
	struct costs made = { 0 };
	size_t fitted = 0;
	int r = cost_check_rows(rows, err);

	for (int i = 0; r >= 0 && i < OPERATIONS; i++) {
		cost_gather(&made.of[i], rows, (enum operation)i, !plan->plain_target);
		made.of[i].alone = plan->surrogates_alone;
	}
	if (r >= 0 && !plan->plain_target && !plan->surrogates_alone)
		smooth_all(&made, plan->seed, room, trials);
	for (int i = 0; r >= 0 && i < OPERATIONS; i++) {
		struct fitting f = {
			.plan = plan, .operation = i, .cost = &made.of[i], .trials = trials[i]
		};

		if (f.cost->cell_count)
			r = cost_fit(&f, err);
		fitted += f.cost->is_fitted;
	}
	for (int i = 0; i < OPERATIONS; i++)
		free(room[i]);
	if (r >= 0 && !fitted)
		r = err_set(err, ENODATA,
			    "no benchmark data to fit; run 'sluice model measure' first");
	if (r < 0) {
		costs_release(&made);
		return r;
	}
	*costs = made;
	return 0;
}

static void cost_release(struct cost *cost)
{
	for (size_t i = 0; i < cost->entry_count; i++) {
		free(cost->entries[i].learner);
		free(cost->entries[i].settings);
		free(cost->entries[i].recipe);
		free(cost->entries[i].failure);
	}
	free(cost->entries);
	free(cost->cells);
	pipeline_release(&cost->pipeline);
	conformal_release(&cost->conformal);
	*cost = (struct cost){ 0 };
}

void costs_release(struct costs *costs)
{
	for (int i = 0; i < OPERATIONS; i++)
		cost_release(&costs->of[i]);
}
