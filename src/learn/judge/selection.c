/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A race: runners (candidates) take part in all folds, one task each. Tasks are handed out runner
 * by runner, so that few runners are under way at once and only these hold guesses. What is kept
 * of a runner does not depend on who ran first: ranks are a total order, and of several failures
 * that of the first fold is told.
 */
#include "learn/judge/selection.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <xxhash.h>

#include "base/err.h"
#include "base/mem.h"
#include "learn/table/folds.h"
#include "base/parallel.h"
#include "learn/maths/random.h"
#include "learn/judge/metrics.h"

/* Draws in a row that gave nothing new: the method has no more to offer. */
#define DRAWS_IN_VAIN 50

struct runner {
	struct selection_entry entry;
	size_t order;	 /* decides where scores are equal */
	double *guesses; /* while it runs, and of the best */
	size_t left;	 /* folds that are not complete */
	size_t failed;	 /* the first fold that failed; SIZE_MAX: none */
};

struct race {
	const struct selection_plan *plan;
	const struct samples *samples;
	const struct folds *folds;
	size_t answers; /* numbers per prediction */
	struct runner *runners;
	size_t count, cap;
	struct runner *best;
	pthread_mutex_t lock; /* guards best, and guesses, left, failed and failure of runners */
	atomic_size_t done;
	atomic_bool stopped;
};

bool selection_falls(enum selection_score score)
{
	return score == SELECT_RMSE || score == SELECT_MEDIAN_ERROR || score == SELECT_LOG_LOSS;
}

/* ---- candidates ---- */

/* Three digits are all that a search needs, and people can type them. */
static double round_digits(double value)
{
	double unit;

	if (value == 0)
		return 0;
	unit = pow(10, 2 - floor(log10(fabs(value))));
	return round(value * unit) / unit;
}

static double setting_draw(const struct learner_setting *setting, struct random *random)
{
	double low = setting->low, high = setting->high, value;

	if (!(low < high))
		return setting->fallback;
	if ((setting->whole || setting->words) && !setting->logarithmic)
		return low + (double)random_below(random, (size_t)(high - low) + 1);
	value = random_real(random);
	value = setting->logarithmic ? low * pow(high / low, value) : low + (high - low) * value;
	value = setting->whole ? round(value) : round_digits(value);
	return fmin(fmax(value, low), high);
}

static const char *recipe_of(const struct pipeline_plan *plan)
{
	return plan->recipe ? plan->recipe : plan->learner->recipe;
}

static bool plan_equal(const struct pipeline_plan *a, const struct pipeline_plan *b)
{
	size_t count = learner_setting_count(a->learner);

	return a->learner == b->learner && strcmp(recipe_of(a), recipe_of(b)) == 0 &&
	       memcmp(a->settings, b->settings, count * sizeof(*a->settings)) == 0;
}

/* False if this candidate is there already. */
static bool runner_add(struct race *race, const struct pipeline_plan *plan, size_t order)
{
	for (size_t i = 0; i < race->count; i++) {
		if (plan_equal(&race->runners[i].entry.plan, plan))
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

/* The draws of a method do not depend on which others take part. */
static void candidates_add(struct race *race, const struct learner_ops *learner, size_t order)
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
		/* The first ones are the defaults. */
		for (size_t i = 0; drawn && drawn >= recipes && i < settings; i++)
			plan.settings[i] = setting_draw(&learner->settings[i], &random);
		if (runner_add(race, &plan, order + added)) {
			added++;
			vain = 0;
		} else {
			vain++;
		}
	}
}

/* Methods take turns. Their first candidates are their defaults. */
static int turn_compare(const void *a, const void *b, void *arg)
{
	const struct runner *x = a, *y = b;
	size_t budget = *(const size_t *)arg;
	size_t p = x->order % budget, q = y->order % budget;

	if (p != q)
		return p < q ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static int candidates_make(struct race *race, struct err *err)
{
	const struct learner_ops *const *list = race->plan->learners;
	unsigned task = race->samples->classes ? LEARNER_CLASSIFIES : LEARNER_REGRESSES;
	size_t budget = race->plan->budget;

	for (size_t i = 0; (list ? list : learners)[i]; i++) {
		const struct learner_ops *learner = (list ? list : learners)[i];

		if (learner->tasks & task)
			candidates_add(race, learner, i * budget);
		else if (list)
			return err_set(err, EINVAL, "%s cannot learn %s", learner->name,
				       race->samples->classes ? "classes" : "numbers");
	}
	if (!race->count)
		return err_set(err, EINVAL, "there is no method to choose from");
	qsort_r(race->runners, race->count, sizeof(*race->runners), turn_compare, &budget);
	return 0;
}

/* ---- one fold ---- */

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Rows of a fold and what is said about them. */
struct trial {
	size_t *train, *test; /* one array */
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

static int guesses_check(const double *guesses, size_t count, struct err *err)
{
	for (size_t i = 0; i < count; i++) {
		if (!isfinite(guesses[i]))
			return err_set(err, EDOM, "it predicts what is not a finite number");
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
	return guesses_check(trial->guesses, trial->test_count * answers, err);
}

/* Numbers or their logarithms. */
static void values_copy(double *out, const double *values, const size_t *rows, size_t count,
			bool logarithm)
{
	for (size_t i = 0; i < count; i++) {
		double value = values[rows ? rows[i] : i];

		out[i] = logarithm ? log(value) : value;
	}
}

static void trial_judge(const struct trial *trial, const struct race *race,
			struct selection_entry *entry, size_t fold)
{
	const struct samples *samples = race->samples;
	size_t count = trial->test_count, classes = samples->classes;
	bool logarithm = race->plan->log_target && !classes;
	AUTO_FREE double *truth = xmalloc(2 * count * sizeof(*truth));
	double *guess = truth + count;

	values_copy(truth, samples->y, trial->test, count, logarithm);
	if (classes) {
		entry->first[fold] = metrics_accuracy(truth, trial->guesses, count, classes);
		entry->second[fold] = metrics_auc_classes(truth, trial->guesses, count, classes);
		return;
	}
	values_copy(guess, trial->guesses, NULL, count, logarithm);
	entry->first[fold] = metrics_rmse(truth, guess, count);
	entry->second[fold] = metrics_r2(truth, guess, count);
}

static void guesses_keep(double *guesses, const struct trial *trial, size_t answers)
{
	for (size_t i = 0; i < trial->test_count; i++)
		memcpy(guesses + trial->test[i] * answers, trial->guesses + i * answers,
		       answers * sizeof(*guesses));
}

static double *nowhere(size_t count)
{
	double *values = xmalloc(count * sizeof(*values));

	for (size_t i = 0; i < count; i++)
		values[i] = NAN;
	return values;
}

/* ---- ranks ---- */

static double mean_defined(const double *values, size_t count)
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

/* Of all rows that were tested. */
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

static void entry_score(const struct race *race, struct selection_entry *entry,
			const double *guesses)
{
	entry->mean_first = mean_defined(entry->first, race->folds->count);
	entry->mean_second = mean_defined(entry->second, race->folds->count);
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

/* Greater first; what is not a number last. */
static int descending(double a, double b)
{
	if (isnan(a) || isnan(b))
		return isnan(a) - isnan(b);
	return (a < b) - (a > b);
}

static int runner_compare(const struct runner *a, const struct runner *b, bool falls)
{
	double sign = falls ? -1 : 1;
	int order = (a->entry.failure != NULL) - (b->entry.failure != NULL);

	if (!order)
		order = descending(sign * a->entry.score, sign * b->entry.score);
	if (!order)
		order = descending(a->entry.mean_second, b->entry.mean_second);
	if (!order)
		order = a->order < b->order ? -1 : 1;
	return order;
}

static int entry_compare(const void *a, const void *b, void *arg)
{
	return a == b ? 0 : runner_compare(a, b, *(const bool *)arg);
}

/* ---- the race ---- */

/* Its last fold is complete. Only the best one's guesses are worth their memory. */
static void runner_finish(struct race *race, struct runner *runner)
{
	struct runner *loser = runner;

	if (!runner->entry.failure) {
		entry_score(race, &runner->entry, runner->guesses);
		if (!race->best ||
		    runner_compare(runner, race->best, selection_falls(race->plan->score)) < 0) {
			loser = race->best;
			race->best = runner;
		}
	}
	if (loser) {
		free(loser->guesses);
		loser->guesses = NULL;
	}
}

/* Folds that come after one that failed are not run. Those before it are: they began before. */
static bool runner_begin(struct race *race, struct runner *runner, size_t fold)
{
	struct selection_entry *entry = &runner->entry;
	bool wanted;

	pthread_mutex_lock(&race->lock);
	wanted = runner->failed > fold;
	if (!entry->first) {
		entry->first = nowhere(race->folds->count);
		entry->second = nowhere(race->folds->count);
		runner->guesses = nowhere(race->samples->rows * race->answers);
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

static void race_task(struct race *race, struct runner *runner, size_t fold)
{
	struct effort effort = { .seed = race->plan->seed, .threads = 1 };
	double began = cpu_seconds();
	struct trial trial = { 0 };
	struct err err = { 0 };

	if (runner_begin(race, runner, fold) &&
	    trial_run(&trial, &runner->entry.plan, race->samples, race->folds, fold, &effort,
		      &err) >= 0) {
		trial_judge(&trial, race, &runner->entry, fold);
		guesses_keep(runner->guesses, &trial, race->answers);
	}
	trial_release(&trial);
	runner_end(race, runner, fold, cpu_seconds() - began, &err);
}

static void race_piece(void *arg, size_t piece, unsigned worker)
{
	struct race *race = arg;
	size_t folds = race->folds->count, done;

	/* What is stopped a moment late is merely complete. */
	if (atomic_load_explicit(&race->stopped, memory_order_relaxed))
		return;
	race_task(race, &race->runners[piece / folds], piece % folds);
	done = atomic_fetch_add_explicit(&race->done, 1, memory_order_relaxed) + 1;
	if (worker == 0 && race->plan->progress &&
	    race->plan->progress(race->plan->progress_arg, done, race->count * folds))
		atomic_store_explicit(&race->stopped, true, memory_order_relaxed);
}

static int race_check(const struct selection_plan *plan, const struct samples *samples,
		      const struct folds *folds, struct err *err)
{
	bool of_classes = plan->score >= SELECT_ACCURACY;

	if (folds->rows != samples->rows || !folds->count)
		return err_set(err, EINVAL, "the folds are those of other rows");
	if (!plan->budget)
		return err_set(err, EINVAL, "a budget of 0 candidates leaves nothing to choose");
	if (of_classes != (samples->classes > 0))
		return err_set(err, EINVAL, "this score is one of %s, and %s are to be learnt",
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

/* The complete ones in the order of their rank; the others are dropped. */
static void race_rank(struct race *race, struct selection *selection)
{
	bool falls = selection_falls(race->plan->score);
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
	qsort_r(race->runners, count, sizeof(*race->runners), entry_compare, &falls);
	selection->entries = xcalloc(count ? count : 1, sizeof(*selection->entries));
	for (size_t i = 0; i < count; i++)
		selection->entries[i] = race->runners[i].entry;
	selection->count = count;
	selection->planned = race->count;
	selection->folds = race->folds->count;
}

static int winner_fit(struct selection *selection, const struct race *race, struct err *err)
{
	struct effort effort = { .seed = race->plan->seed, .threads = race->plan->threads };

	if (!selection->count)
		return err_set(err, ECANCELED, "it was stopped before a candidate was complete");
	if (selection->entries[0].failure)
		return err_set(err, EINVAL, "no candidate can be used: %s: %s",
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
	int r = race_check(plan, samples, folds, err);

	if (r >= 0)
		r = candidates_make(&race, err);
	if (r >= 0) {
		parallel_for(plan->threads, race.count * folds->count, race_piece, &race);
		race_rank(&race, &made);
		r = winner_fit(&made, &race, err);
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

/* ---- one plan ---- */

struct validation {
	const struct pipeline_plan *plan;
	const struct samples *samples;
	const struct folds *folds;
	uint64_t seed;
	double *guesses, *spreads;
	struct err *errors; /* one per fold */
};

static void validation_piece(void *arg, size_t fold, unsigned worker)
{
	struct validation *v = arg;
	struct effort effort = { .seed = v->seed, .threads = 1 };
	struct trial trial = { 0 };

	(void)worker;
	if (v->spreads)
		trial.spreads = xmalloc(v->samples->rows * sizeof(*trial.spreads));
	if (trial_run(&trial, v->plan, v->samples, v->folds, fold, &effort, &v->errors[fold]) >=
	    0) {
		guesses_keep(v->guesses, &trial, v->samples->classes ? v->samples->classes : 1);
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
		return err_set(err, EINVAL, "the folds are those of other rows");
	for (size_t i = 0; i < samples->rows * answers; i++)
		guesses[i] = NAN;
	for (size_t i = 0; spreads && i < samples->rows; i++)
		spreads[i] = NAN;
	parallel_for(effort->threads, folds->count, validation_piece, &v);
	for (size_t i = 0; i < folds->count; i++) {
		if (errors[i].code)
			return err_set(err, errors[i].code, "fold %zu: %s", i, errors[i].text);
	}
	return 0;
}
