/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Runs the candidates ("runners") in parallel. There is one task per candidate and fold. Tasks are
 * handed out candidate by candidate, so that only a few candidates are in progress and hold
 * predictions. The outcome does not depend on the order of execution: ranks are a total order, and
 * of several failures that of the first fold is reported.
 * Papers: HYB-41.
 */
#include "learn/judge/selection.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "learn/judge/metrics.h"
#include "learn/math/random.h"
#include "learn/math/vector.h"
#include "learn/table/folds.h"

/* After this number of draws without a new candidate, the method has no more to offer. */
#define DRAWS_IN_VAIN 50

struct runner {
	struct selection_entry entry;
	size_t order;	 /* breaks ties of equal scores */
	double *guesses; /* predictions while it runs, and of the best candidate */
	size_t left;	 /* folds that are not complete */
	size_t failed;	 /* first fold that failed; SIZE_MAX: none */
};

struct race {
	const struct selection_plan *plan;
	const struct samples *samples;
	const struct folds *folds;
	size_t answers; /* numbers per prediction */
	struct runner *runners;
	size_t count, cap;
	struct runner *best;
	/* Protects best, and the fields guesses, left, failed and failure of runners. */
	pthread_mutex_t lock;
	atomic_size_t done;
	atomic_bool stopped;
};

static bool lower_is_better(enum selection_score score)
{
	return score == SELECT_RMSE || score == SELECT_MEDIAN_ERROR || score == SELECT_LOG_LOSS;
}

/* A search needs no more than three digits, and people can type them. */
static double round_to_three_digits(double value)
{
	double unit;

	if (value == 0)
		return 0;
	unit = pow(10, 2 - floor(log10(fabs(value))));
	return round(value * unit) / unit;
}

static double draw_setting(const struct learner_setting *setting, struct random *random)
{
	double low = setting->low, high = setting->high, value;

	if (!(low < high))
		return setting->fallback;
	if ((setting->whole || setting->words) && !setting->logarithmic)
		return low + (double)random_below(random, (size_t)(high - low) + 1);
	value = random_real(random);
	value = setting->logarithmic ? low * pow(high / low, value) : low + (high - low) * value;
	value = setting->whole ? round(value) : round_to_three_digits(value);
	return fmin(fmax(value, low), high);
}

static const char *plan_recipe(const struct pipeline_plan *plan)
{
	return plan->recipe ? plan->recipe : plan->learner->recipe;
}

static bool plans_are_equal(const struct pipeline_plan *a, const struct pipeline_plan *b)
{
	size_t count = learner_setting_count(a->learner);

	return a->learner == b->learner && strcmp(plan_recipe(a), plan_recipe(b)) == 0 &&
	       memcmp(a->settings, b->settings, count * sizeof(*a->settings)) == 0;
}

/* Returns false if this candidate already exists. */
static bool add_runner(struct race *race, const struct pipeline_plan *plan, size_t order)
{
	for (size_t i = 0; i < race->count; i++) {
		if (plans_are_equal(&race->runners[i].entry.plan, plan))
			return false;
	}
	race->runners = xgrow(race->runners, &race->cap, race->count + 1, sizeof(*race->runners));
	race->runners[race->count++] = (struct runner){
		.entry = { .plan = *plan },
		.order = order,
		.left = race->folds->count,
		.failed = SIZE_MAX,
	};
	return true;
}

static size_t recipe_count(const struct selection_plan *plan)
{
	size_t count = 0;

	while (plan->recipes && plan->recipes[count])
		count++;
	return count;
}

/* The draws of a method do not depend on the other methods. */
static void add_candidates(struct race *race, const struct learner_ops *learner, size_t order)
{
	size_t recipes = recipe_count(race->plan), settings = learner_setting_count(learner);
	size_t drawn = 0, vain = 0;
	struct pipeline_plan plan;
	struct random random;

	random_stream(&random, race->plan->seed, XXH64(learner->name, strlen(learner->name), 0));
	pipeline_plan_init(&plan, learner);
	plan.log_target = race->plan->log_target;
	for (size_t added = 0; added < race->plan->budget && vain < DRAWS_IN_VAIN; drawn++) {
		if (recipes)
			plan.recipe = race->plan->recipes[drawn % recipes];
		/* The first candidates are the defaults. */
		for (size_t i = 0; drawn && drawn >= recipes && i < settings; i++)
			plan.settings[i] = draw_setting(&learner->settings[i], &random);
		if (add_runner(race, &plan, order + added)) {
			added++;
			vain = 0;
		} else {
			vain++;
		}
	}
}

/* Methods take turns. Their first candidates are their defaults. */
static int compare_turns(const void *a, const void *b, void *arg)
{
	const struct runner *x = a, *y = b;
	size_t budget = *(const size_t *)arg;
	size_t p = x->order % budget, q = y->order % budget;

	if (p != q)
		return p < q ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static int make_candidates(struct race *race, struct err *err)
{
	const struct learner_ops *const *list = race->plan->learners;
	unsigned task = race->samples->classes ? LEARNER_CLASSIFIES : LEARNER_REGRESSES;
	size_t budget = race->plan->budget;

	for (size_t i = 0; (list ? list : learners)[i]; i++) {
		const struct learner_ops *learner = (list ? list : learners)[i];

		if (learner->tasks & task)
			add_candidates(race, learner, i * budget);
		else if (list)
			return err_set(err, EINVAL, "%s cannot learn %s", learner->name,
				       race->samples->classes ? "classes" : "numbers");
	}
	if (!race->count)
		return err_set(err, EINVAL, "no method to choose from");
	qsort_r(race->runners, race->count, sizeof(*race->runners), compare_turns, &budget);
	return 0;
}

/* The rows of a fold and their predictions. */
struct trial {
	size_t *train, *test; /* both in one array */
	size_t train_count, test_count;
	double *guesses; /* test_count x answers */
	double *spreads; /* test_count; NULL: not wanted */
};

static void trial_release(struct trial *trial)
{
	free(trial->train);
	free(trial->guesses);
	free(trial->spreads);
}

static int check_guesses(const double *guesses, size_t count, struct err *err)
{
	for (size_t i = 0; i < count; i++) {
		if (!isfinite(guesses[i]))
			return err_set(err, EDOM, "a prediction is not finite");
	}
	return 0;
}

static int trial_run(struct trial *trial, const struct pipeline_plan *plan,
		     const struct samples *samples, const struct folds *folds, size_t fold,
		     const struct effort *effort, struct err *err)
{
	size_t answers = samples->classes ? samples->classes : 1;
	struct pipeline pipeline = { 0 };
	int r;

	trial->train = xmalloc(2 * samples->rows * sizeof(*trial->train));
	trial->test = trial->train + samples->rows;
	folds_split(folds, fold, trial->train, &trial->train_count, trial->test,
		    &trial->test_count);
	r = pipeline_fit(&pipeline, plan, samples, trial->train, trial->train_count, effort, err);
	if (r < 0)
		return r;
	trial->guesses = xmalloc(trial->test_count * answers * sizeof(*trial->guesses));
	pipeline_predict_rows(&pipeline, samples->x, trial->test, trial->test_count,
			      trial->guesses);
	for (size_t i = 0; trial->spreads && i < trial->test_count; i++)
		trial->spreads[i] =
			pipeline_spread(&pipeline, samples->x + trial->test[i] * samples->width);
	pipeline_release(&pipeline);
	return check_guesses(trial->guesses, trial->test_count * answers, err);
}

/* Copies numbers or their logarithms. */
static void copy_values(double *out, const double *values, const size_t *rows, size_t count,
			bool logarithm)
{
	for (size_t i = 0; i < count; i++) {
		double value = values[rows ? rows[i] : i];

		out[i] = logarithm ? log(value) : value;
	}
}

static void score_trial(const struct trial *trial, const struct race *race,
			struct selection_entry *entry, size_t fold)
{
	const struct samples *samples = race->samples;
	size_t count = trial->test_count, classes = samples->classes;
	bool logarithm = race->plan->log_target && !classes;
	AUTO_FREE double *truth = xmalloc(2 * count * sizeof(*truth));
	double *guess = truth + count;

	copy_values(truth, samples->y, trial->test, count, logarithm);
	if (classes) {
		entry->first[fold] = metrics_accuracy(truth, trial->guesses, count, classes);
		entry->second[fold] = metrics_auc_classes(truth, trial->guesses, count, classes);
		return;
	}
	copy_values(guess, trial->guesses, NULL, count, logarithm);
	entry->first[fold] = metrics_rmse(truth, guess, count);
	entry->second[fold] = metrics_r2(truth, guess, count);
}

static void store_guesses(double *guesses, const struct trial *trial, size_t answers)
{
	for (size_t i = 0; i < trial->test_count; i++)
		memcpy(guesses + trial->test[i] * answers, trial->guesses + i * answers,
		       answers * sizeof(*guesses));
}

static double mean_of_defined(const double *values, size_t count)
{
	double sum = 0;
	size_t defined = 0;

	for (size_t i = 0; i < count; i++) {
		if (isnan(values[i]))
			continue;
		sum += values[i];
		defined++;
	}
	return defined ? sum / (double)defined : NAN;
}

/* The score of all tested rows together. */
static double pooled_score(const struct race *race, const double *guesses)
{
	const struct samples *samples = race->samples;
	size_t answers = race->answers, count = 0;
	AUTO_FREE double *truth = xmalloc(samples->rows * sizeof(*truth));
	AUTO_FREE double *tested = xmalloc(samples->rows * answers * sizeof(*tested));

	for (size_t i = 0; i < samples->rows; i++) {
		if (isnan(guesses[i * answers]))
			continue;
		truth[count] = samples->y[i];
		memcpy(tested + count++ * answers, guesses + i * answers,
		       answers * sizeof(*tested));
	}
	return samples->classes ? metrics_log_loss(truth, tested, count, answers)
				: metrics_median_error(truth, tested, count);
}

static void score_entry(const struct race *race, struct selection_entry *entry,
			const double *guesses)
{
	entry->mean_first = mean_of_defined(entry->first, race->folds->count);
	entry->mean_second = mean_of_defined(entry->second, race->folds->count);
	switch (race->plan->score) {
	case SELECT_RMSE:
	case SELECT_ACCURACY:
		entry->score = entry->mean_first;
		break;
	case SELECT_R2:
	case SELECT_AUC:
		entry->score = entry->mean_second;
		break;
	case SELECT_MEDIAN_ERROR:
	case SELECT_LOG_LOSS:
		entry->score = pooled_score(race, guesses);
		break;
	}
}

/* Larger numbers first, NAN last. */
static int compare_descending(double a, double b)
{
	if (isnan(a) || isnan(b))
		return isnan(a) - isnan(b);
	return (a < b) - (a > b);
}

static int compare_runners(const struct runner *a, const struct runner *b, bool falls)
{
	double sign = falls ? -1 : 1;
	int order = (a->entry.failure != NULL) - (b->entry.failure != NULL);

	if (!order)
		order = compare_descending(sign * a->entry.score, sign * b->entry.score);
	if (!order)
		order = compare_descending(a->entry.mean_second, b->entry.mean_second);
	if (!order)
		order = a->order < b->order ? -1 : 1;
	return order;
}

static int compare_entries(const void *a, const void *b, void *arg)
{
	return a == b ? 0 : compare_runners(a, b, *(const bool *)arg);
}

/*
 * Called when the last fold of a candidate is complete. Only the best candidate keeps its
 * predictions.
 */
static void runner_finish(struct race *race, struct runner *runner)
{
	struct runner *loser = runner;

	if (!runner->entry.failure) {
		score_entry(race, &runner->entry, runner->guesses);
		if (!race->best ||
		    compare_runners(runner, race->best, lower_is_better(race->plan->score)) < 0) {
			loser = race->best;
			race->best = runner;
		}
	}
	if (loser) {
		free(loser->guesses);
		loser->guesses = NULL;
	}
}

/* Skips folds after a failed one. Earlier folds have begun already. */
static bool runner_begin(struct race *race, struct runner *runner, size_t fold)
{
	struct selection_entry *entry = &runner->entry;
	bool wanted;

	pthread_mutex_lock(&race->lock);
	wanted = runner->failed > fold;
	if (!entry->first) {
		entry->first = vector_new_nan(race->folds->count);
		entry->second = vector_new_nan(race->folds->count);
		runner->guesses = vector_new_nan(race->samples->rows * race->answers);
	}
	pthread_mutex_unlock(&race->lock);
	return wanted;
}

static void runner_end(struct race *race, struct runner *runner, size_t fold, double seconds,
		       const struct err *err)
{
	struct selection_entry *entry = &runner->entry;

	pthread_mutex_lock(&race->lock);
	entry->seconds += seconds;
	if (err->code && fold < runner->failed) {
		runner->failed = fold;
		free(entry->failure);
		entry->failure = xstrdup(err->text);
	}
	if (--runner->left == 0)
		runner_finish(race, runner);
	pthread_mutex_unlock(&race->lock);
}

static void run_task(struct race *race, struct runner *runner, size_t fold)
{
	struct effort effort = { .seed = race->plan->seed, .threads = 1 };
	double began = clock_thread_cpu_s();
	struct trial trial = { 0 };
	struct err err = { 0 };

	if (runner_begin(race, runner, fold) &&
	    trial_run(&trial, &runner->entry.plan, race->samples, race->folds, fold, &effort,
		      &err) >= 0) {
		score_trial(&trial, race, &runner->entry, fold);
		store_guesses(runner->guesses, &trial, race->answers);
	}
	trial_release(&trial);
	runner_end(race, runner, fold, clock_thread_cpu_s() - began, &err);
}

static void run_task_piece(void *arg, size_t piece, unsigned worker)
{
	struct race *race = arg;
	size_t folds = race->folds->count, done;

	/* A candidate that completes after the stop is simply counted as complete. */
	if (atomic_load_explicit(&race->stopped, memory_order_relaxed))
		return;
	run_task(race, &race->runners[piece / folds], piece % folds);
	done = atomic_fetch_add_explicit(&race->done, 1, memory_order_relaxed) + 1;
	if (worker == 0 && race->plan->progress &&
	    race->plan->progress(race->plan->progress_arg, done, race->count * folds))
		atomic_store_explicit(&race->stopped, true, memory_order_relaxed);
}

static int check_plan(const struct selection_plan *plan, const struct samples *samples,
		      const struct folds *folds, struct err *err)
{
	bool of_classes = plan->score >= SELECT_ACCURACY;

	if (folds->rows != samples->rows || !folds->count)
		return err_set(err, EINVAL, "the folds do not match the rows");
	if (!plan->budget)
		return err_set(err, EINVAL, "the number of candidates must be at least 1");
	if (of_classes != (samples->classes > 0))
		return err_set(err, EINVAL, "this metric is for %s, but the target has %s",
			       of_classes ? "classes" : "numbers",
			       samples->classes ? "classes" : "numbers");
	return 0;
}

static void entry_release(struct selection_entry *entry)
{
	free(entry->first);
	free(entry->second);
	free(entry->failure);
}

/* Sorts the completed candidates by rank and drops the others. */
static void rank_entries(struct race *race, struct selection *selection)
{
	bool falls = lower_is_better(race->plan->score);
	size_t count = 0;

	selection->guesses = race->best ? race->best->guesses : NULL;
	for (size_t i = 0; i < race->count; i++) {
		if (!race->runners[i].left) {
			race->runners[count++] = race->runners[i];
			continue;
		}
		entry_release(&race->runners[i].entry);
		free(race->runners[i].guesses);
	}
	qsort_r(race->runners, count, sizeof(*race->runners), compare_entries, &falls);
	selection->entries = xcalloc(count ? count : 1, sizeof(*selection->entries));
	for (size_t i = 0; i < count; i++)
		selection->entries[i] = race->runners[i].entry;
	selection->count = count;
	selection->planned = race->count;
	selection->folds = race->folds->count;
}

static int fit_winner(struct selection *selection, const struct race *race, struct err *err)
{
	struct effort effort = { .seed = race->plan->seed, .threads = race->plan->threads };

	if (!selection->count)
		return err_set(err, ECANCELED, "interrupted before any candidate was complete");
	if (selection->entries[0].failure)
		return err_set(err, EINVAL, "all candidates failed; %s: %s",
			       selection->entries[0].plan.learner->name,
			       selection->entries[0].failure);
	return pipeline_fit(&selection->best, &selection->entries[0].plan, race->samples, NULL, 0,
			    &effort, err);
}

int selection_run(struct selection *selection, const struct selection_plan *plan,
		  const struct samples *samples, const struct folds *folds, struct err *err)
{
	struct race race = { .plan = plan,
			     .samples = samples,
			     .folds = folds,
			     .answers = samples->classes ? samples->classes : 1,
			     .lock = PTHREAD_MUTEX_INITIALIZER };
	struct selection made = { 0 };
	int r = check_plan(plan, samples, folds, err);

	if (r >= 0)
		r = make_candidates(&race, err);
	if (r >= 0) {
		parallel_for(plan->threads, race.count * folds->count, run_task_piece, &race);
		rank_entries(&race, &made);
		r = fit_winner(&made, &race, err);
	}
	free(race.runners);
	if (r < 0) {
		selection_release(&made);
		return r;
	}
	*selection = made;
	return 0;
}

void selection_release(struct selection *selection)
{
	for (size_t i = 0; i < selection->count; i++)
		entry_release(&selection->entries[i]);
	free(selection->entries);
	free(selection->guesses);
	pipeline_release(&selection->best);
	*selection = (struct selection){ 0 };
}

struct validation {
	const struct pipeline_plan *plan;
	const struct samples *samples;
	const struct folds *folds;
	uint64_t seed;
	double *guesses, *spreads;
	struct err *errors; /* one per fold */
};

static void validate_fold_piece(void *arg, size_t fold, unsigned worker)
{
	struct validation *v = arg;
	struct effort effort = { .seed = v->seed, .threads = 1 };
	struct trial trial = { 0 };

	(void)worker;
	if (v->spreads)
		trial.spreads = xmalloc(v->samples->rows * sizeof(*trial.spreads));
	if (trial_run(&trial, v->plan, v->samples, v->folds, fold, &effort, &v->errors[fold]) >=
	    0) {
		store_guesses(v->guesses, &trial, v->samples->classes ? v->samples->classes : 1);
		for (size_t i = 0; v->spreads && i < trial.test_count; i++)
			v->spreads[trial.test[i]] = trial.spreads[i];
	}
	trial_release(&trial);
}

int selection_guesses(const struct pipeline_plan *plan, const struct samples *samples,
		      const struct folds *folds, const struct effort *effort, double *guesses,
		      double *spreads, struct err *err)
{
	size_t answers = samples->classes ? samples->classes : 1;
	AUTO_FREE struct err *errors = xcalloc(folds->count, sizeof(*errors));
	struct validation v = { plan, samples, folds, effort->seed, guesses, spreads, errors };

	if (folds->rows != samples->rows)
		return err_set(err, EINVAL, "the folds do not match the rows");
	for (size_t i = 0; i < samples->rows * answers; i++)
		guesses[i] = NAN;
	for (size_t i = 0; spreads && i < samples->rows; i++)
		spreads[i] = NAN;
	parallel_for(effort->threads, folds->count, validate_fold_piece, &v);
	for (size_t i = 0; i < folds->count; i++) {
		if (errors[i].code)
			return err_set(err, errors[i].code, "fold %zu: %s", i, errors[i].text);
	}
	return 0;
}
