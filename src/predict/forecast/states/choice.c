/* SPDX-License-Identifier: BSD-3-Clause */
#include "predict/forecast/states/choice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "learn/judge/metrics.h"
#include "learn/judge/selection.h"
#include "learn/table/folds.h"

#define CHANCE_LEAST 1e-6

/*
 * Ordered from fast to slow, because the first of equally good candidates wins. Those with
 * jobs (the paper's features) are tried separately: jobs mislead if their mix changes.
 */
static const struct candidate {
	const char *name, *learner, *settings;
	unsigned groups;
	/* Tested only if the best so far has the same name, or nothing was tested: it is slow. */
	bool is_variant;
} candidates[] = {
	{ "hidden", "logistic", "", FEATURE_STATE, false },
	{ "logistic", "logistic", "", FEATURE_RECENT | FEATURE_STATE, false },
	{ "forest", "forest", "trees=50,leaf=10", FEATURE_RECENT | FEATURE_STATE, false },
	{ "forest", "forest", "trees=50,leaf=10", CHOICE_FEATURES, false },
	{ "boosting", "boosting", "trees=50,depth=2", FEATURE_RECENT | FEATURE_STATE, false },
	{ "boosting", "boosting", "trees=50,depth=2", CHOICE_FEATURES, false },
	{ "boosting", "boosting", "trees=100,depth=4,leaf=10", FEATURE_RECENT | FEATURE_STATE,
	  false },
	{ "svm", "svm", "folds=0", FEATURE_RECENT | FEATURE_STATE, false },
	{ "svm", "svm", "folds=0,cost=0.1", FEATURE_RECENT | FEATURE_STATE, true },
	{ "svm", "svm", "folds=0", FEATURE_PAPER, true },
};
#define CANDIDATES (sizeof(candidates) / sizeof(candidates[0]))

/* Predictions of the tested rows, which are packed. */
struct trial {
	double *labels, *score, *chance, *share;
	uint32_t *block;
	size_t count;
};

double *choice_columns(const struct features_plan *features, unsigned groups,
		       const struct samples *samples, size_t *width)
{
	struct features_plan part = { .groups = groups };
	size_t stride = samples->width; /* width may point to it */
	double *x;

	*width = features_width(&part);
	x = xmalloc((samples->rows + 1) * *width * sizeof(*x));
	for (size_t i = 0; i < samples->rows; i++)
		features_select(features, groups, samples->x + i * stride, x + i * *width);
	return x;
}

static double log_loss(double label, double chance)
{
	chance = fmin(fmax(chance, CHANCE_LEAST), 1 - CHANCE_LEAST);
	return -log(label == 1 ? chance : 1 - chance);
}

/* Lists the tested rows, with the share of busy labels (plus one of each) in earlier blocks. */
static void trial_init(struct trial *trial, const struct choice_task *task,
		       const struct folds *folds)
{
	size_t rows = task->samples.rows;
	double busy = 0, count = 0;

	*trial = (struct trial){ .labels = xmalloc(4 * (rows + 1) * sizeof(double)),
				 .block = xmalloc((rows + 1) * sizeof(uint32_t)) };
	trial->score = trial->labels + rows + 1;
	trial->chance = trial->score + rows + 1;
	trial->share = trial->chance + rows + 1;
	for (uint32_t block = 0; block <= folds->count; block++) {
		double share = (busy + 1) / (count + 2);

		for (size_t i = 0; i < rows; i++) {
			if (folds->of[i] != block)
				continue;
			busy += task->samples.y[i];
			count++;
			if (!block)
				continue;
			trial->labels[trial->count] = task->samples.y[i];
			trial->share[trial->count] = share;
			trial->block[trial->count++] = block - 1;
		}
	}
}

static void trial_release(struct trial *trial)
{
	free(trial->labels);
	free(trial->block);
}

static int candidate_plan(const struct candidate *candidate, struct pipeline_plan *plan)
{
	const struct learner_ops *learner =
		learner_find(candidate->learner, LEARNER_CLASSIFIES, NULL);

	pipeline_plan_init(plan, learner);
	return learner_parse(learner, candidate->settings, plan->settings, NULL);
}

/*
 * Predicts each row by a model of the rows of other folds: pairs of probabilities, which the caller
 * frees. NULL if the features are missing, or the method refuses a part, for example because it has
 * only one state.
 */
static double *guess_rows(const struct choice_task *task, const struct folds *folds,
			  const struct candidate *candidate)
{
	struct effort effort = { .seed = task->seed, .threads = 1 };
	struct samples samples = task->samples;
	AUTO_FREE double *x = NULL;
	struct pipeline_plan plan;
	double *guesses;

	if (candidate->groups & ~task->features->groups || candidate_plan(candidate, &plan) < 0)
		return NULL;
	x = choice_columns(task->features, candidate->groups, &samples, &samples.width);
	samples.x = x;
	guesses = xmalloc((samples.rows + 1) * 2 * sizeof(*guesses));
	if (selection_guesses(&plan, &samples, folds, &effort, guesses, NULL, NULL) >= 0)
		return guesses;
	free(guesses);
	return NULL;
}

/* Fills in the scores of a candidate; false if it cannot be tested. */
static bool test_candidate(const struct choice_task *task, const struct folds *folds,
			   const struct candidate *candidate, struct trial *trial)
{
	AUTO_FREE double *guesses = guess_rows(task, folds, candidate);
	size_t count = 0;

	/* In the order of trial_init(): rows are in the order of time, and so are blocks. */
	for (size_t i = 0; guesses && i < task->samples.rows; i++)
		if (folds->of[i])
			trial->score[count++] = guesses[2 * i + 1];
	return guesses != NULL;
}

/*
 * Calibrates the scores and returns their log loss per row. Each parameter of the calibration,
 * which is fitted to the same rows, counts as one nat in all, as in Akaike's criterion.
 */
static double calibrate_trial(const struct choice_task *task, struct trial *trial,
			      struct calibration *calibration)
{
	double sum = 0, parameters;

	*calibration = (struct calibration){ 0 };
	if (calibration_fit(calibration, task->calibration, trial->labels, trial->score,
			    trial->count, NULL) < 0)
		return INFINITY;
	parameters = calibration->kind == CALIBRATION_PLATT ? 2 : (double)calibration->knots;
	for (size_t i = 0; i < trial->count; i++) {
		trial->chance[i] = calibration_apply(calibration, trial->score[i]);
		sum += log_loss(trial->labels[i], trial->chance[i]);
	}
	return (sum + parameters) / (double)trial->count;
}

/* The quantile CHOICE_CONFIDENCE of Student's distribution, by degrees of freedom. */
static double student_quantile(size_t freedom)
{
	static const double quantiles[] = { INFINITY, 3.078, 1.886, 1.638, 1.533, 1.476,
					    1.440,    1.415, 1.397, 1.383, 1.372 };
	size_t known = sizeof(quantiles) / sizeof(quantiles[0]);

	return freedom < known ? quantiles[freedom] : 1.372;
}

/* Is the gain over the shares larger than 0, judged by its variation over blocks? */
static bool beats_shares(const struct trial *trial, size_t blocks)
{
	AUTO_FREE double *gain = xcalloc(2 * blocks, sizeof(*gain));
	double *count = gain + blocks, mean = 0, squares = 0;

	for (size_t i = 0; i < trial->count; i++) {
		gain[trial->block[i]] += log_loss(trial->labels[i], trial->share[i]) -
					 log_loss(trial->labels[i], trial->chance[i]);
		count[trial->block[i]]++;
	}
	for (size_t i = 0; i < blocks; i++) {
		gain[i] /= count[i];
		mean += gain[i] / (double)blocks;
	}
	for (size_t i = 0; i < blocks; i++)
		squares += (gain[i] - mean) * (gain[i] - mean);
	return mean >
	       student_quantile(blocks - 1) * sqrt(squares / (double)(blocks - 1) / (double)blocks);
}

/* Keeps a candidate that is better than those before. */
static void keep_candidate(struct choice *choice, const struct candidate *candidate,
			   const struct trial *trial, size_t blocks, double loss,
			   struct calibration *calibration)
{
	size_t right = 0;

	calibration_release(&choice->calibration);
	choice->calibration = *calibration;
	choice->log_loss = loss;
	choice->groups = candidate->groups;
	choice->method = beats_shares(trial, blocks) && loss < choice->share_log_loss
				 ? candidate->name
				 : NULL;
	candidate_plan(candidate, &choice->plan);
	for (size_t i = 0; i < trial->count; i++)
		right += (trial->chance[i] > 0.5) == (trial->labels[i] == 1);
	choice->accuracy = (double)right / (double)trial->count;
	choice->auc = metrics_auc(trial->labels, trial->score, trial->count);
}

/*
 * Calibrates the winner on blocks that are predicted from all other blocks. The models of the first
 * blocks of the test have few rows, so their scores differ from those of the model of all rows.
 */
static void calibrate_winner(struct choice *choice, const struct choice_task *task,
			     const struct candidate *winner)
{
	size_t rows = task->samples.rows;
	AUTO_FREE double *guesses = NULL;
	struct calibration calibration = { 0 };
	struct folds folds = { 0 };

	if (folds_init(&folds, FOLDS_BLOCKED, task->folds, rows, task->time_s, task->seed, NULL) <
	    0)
		return;
	guesses = guess_rows(task, &folds, winner);
	folds_release(&folds);
	if (!guesses)
		return;
	for (size_t i = 0; i < rows; i++)
		guesses[i] = guesses[2 * i + 1];
	if (calibration_fit(&calibration, task->calibration, task->samples.y, guesses, rows, NULL) <
	    0)
		return;
	calibration_release(&choice->calibration);
	choice->calibration = calibration;
}

void choice_make(struct choice *choice, const struct choice_task *task)
{
	const struct candidate *best = NULL;
	struct folds folds = { 0 };
	struct trial trial;
	double sum = 0;

	*choice = (struct choice){
		.log_loss = INFINITY, .share_log_loss = NAN, .accuracy = NAN, .auc = NAN
	};
	if (folds_init(&folds, FOLDS_FORWARD, task->folds, task->samples.rows, task->time_s,
		       task->seed, NULL) < 0)
		return;
	trial_init(&trial, task, &folds);
	for (size_t i = 0; i < trial.count; i++)
		sum += log_loss(trial.labels[i], trial.share[i]);
	choice->share_log_loss = sum / (double)trial.count;
	for (size_t i = 0; i < CANDIDATES; i++) {
		struct calibration calibration;
		double loss;

		if (candidates[i].is_variant && best && strcmp(best->name, candidates[i].name) != 0)
			continue;
		if (!test_candidate(task, &folds, &candidates[i], &trial))
			continue;
		loss = calibrate_trial(task, &trial, &calibration);
		if (loss < choice->log_loss) {
			keep_candidate(choice, &candidates[i], &trial, folds.count, loss,
				       &calibration);
			best = &candidates[i];
		} else {
			calibration_release(&calibration);
		}
	}
	if (choice->method)
		calibrate_winner(choice, task, best);
	if (isinf(choice->log_loss))
		choice->log_loss = NAN;
	trial_release(&trial);
	folds_release(&folds);
}

void choice_release(struct choice *choice)
{
	calibration_release(&choice->calibration);
	*choice = (struct choice){ 0 };
}
