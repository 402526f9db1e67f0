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
#define SHARE_LEAST 1e-3
#define OTHER_FEATURES (FEATURE_PAPER | FEATURE_RECENT | FEATURE_STATE)

/*
 * With recent shares, the first one was the best of the simple ones on the traces with which this
 * was developed. The others are ordered from fast to slow. Those with jobs (the paper's features)
 * are tried separately: jobs mislead if their mix changes.
 */
static const struct candidate {
	const char *name, *learner, *settings;
	unsigned groups;
	/* Tested only if the best so far has the same name, or nothing was tested: it is slow. */
	bool is_variant;
	/*
	 * Its probabilities are used as they are, once it is chosen. If the share of busy writes
	 * drifts, a model that is tested on a block has learned from the opposite deviation, which
	 * misleads the calibration.
	 */
	bool is_calibrated;
} candidates[] = {
	{ "hidden", "logistic", "", FEATURE_STATE, false, true },
	{ "logistic", "logistic", "", FEATURE_RECENT | FEATURE_STATE, false, true },
	{ "forest", "forest", "trees=50,leaf=10", FEATURE_RECENT | FEATURE_STATE, false, false },
	{ "forest", "forest", "trees=50,leaf=10", OTHER_FEATURES, false, false },
	{ "boosting", "boosting", "trees=50,depth=2", FEATURE_RECENT | FEATURE_STATE, false,
	  false },
	{ "boosting", "boosting", "trees=50,depth=2", OTHER_FEATURES, false, false },
	{ "boosting", "boosting", "trees=100,depth=4,leaf=10", FEATURE_RECENT | FEATURE_STATE,
	  false, false },
	{ "svm", "svm", "folds=0", FEATURE_RECENT | FEATURE_STATE, false, false },
	{ "svm", "svm", "folds=0,cost=0.1", FEATURE_RECENT | FEATURE_STATE, true, false },
	{ "svm", "svm", "folds=0", FEATURE_PAPER, true, false },
};
#define CANDIDATES (sizeof(candidates) / sizeof(candidates[0]))

/* Predictions of the tested rows, which are packed. */
struct trial {
	double *labels, *score;
	double *recent; /* the share of busy among the last writes */
	double *share;	/* the forecast without a method */
	double *chance; /* that of a candidate */
	double *best;	/* that of the best candidate so far */
	double *other;	/* for comparisons */
	uint32_t *block;
	size_t count, blocks;
	double busy_share; /* of the tested labels */
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

double choice_share(const struct features_plan *features, const double *row, double train_share)
{
	double share = NAN;

	if (features->groups & FEATURE_SHARE)
		features_select(features, FEATURE_SHARE, row, &share);
	return isnan(share) ? train_share : share;
}

static double odds(double chance, double least)
{
	chance = fmin(fmax(chance, least), 1 - least);
	return chance / (1 - chance);
}

double choice_shift(double chance, double train_share, double share)
{
	double shifted;

	if (share == train_share)
		return chance;
	shifted = odds(chance, CHANCE_LEAST) * odds(share, SHARE_LEAST) /
		  odds(train_share, SHARE_LEAST);
	return shifted / (1 + shifted);
}

static double log_loss(double label, double chance)
{
	chance = fmin(fmax(chance, CHANCE_LEAST), 1 - CHANCE_LEAST);
	return -log(label == 1 ? chance : 1 - chance);
}

static void trial_alloc(struct trial *trial, size_t rows)
{
	double **const columns[] = { &trial->labels, &trial->score, &trial->recent, &trial->share,
				     &trial->chance, &trial->best,  &trial->other };
	size_t count = sizeof(columns) / sizeof(columns[0]);
	double *all = xmalloc(count * (rows + 1) * sizeof(*all));

	*trial = (struct trial){ .block = xmalloc((rows + 1) * sizeof(uint32_t)) };
	for (size_t i = 0; i < count; i++)
		*columns[i] = all + i * (rows + 1);
}

/* Lists the tested rows, with the share of busy labels (plus one of each) in earlier blocks. */
static void trial_init(struct trial *trial, const struct choice_task *task,
		       const struct folds *folds)
{
	const struct samples *samples = &task->samples;
	double busy = 0, count = 0, tested = 0;

	trial_alloc(trial, samples->rows);
	trial->blocks = folds->count;
	for (uint32_t block = 0; block <= folds->count; block++) {
		double share = (busy + 1) / (count + 2);

		for (size_t i = 0; i < samples->rows; i++) {
			const double *row = samples->x + i * samples->width;

			if (folds->of[i] != block)
				continue;
			busy += samples->y[i];
			count++;
			if (!block)
				continue;
			tested += samples->y[i];
			trial->labels[trial->count] = samples->y[i];
			trial->share[trial->count] = share;
			trial->recent[trial->count] = choice_share(task->features, row, share);
			trial->block[trial->count++] = block - 1;
		}
	}
	trial->busy_share = tested / (double)trial->count;
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

static double mean_loss(const struct trial *trial, const double *chance)
{
	double sum = 0;

	for (size_t i = 0; i < trial->count; i++)
		sum += log_loss(trial->labels[i], chance[i]);
	return sum / (double)trial->count;
}

/* The quantile CHOICE_CONFIDENCE of Student's distribution, by degrees of freedom. */
static double student_quantile(size_t freedom)
{
	static const double quantiles[] = { INFINITY, 3.078, 1.886, 1.638, 1.533, 1.476,
					    1.440,    1.415, 1.397, 1.383, 1.372 };
	size_t known = sizeof(quantiles) / sizeof(quantiles[0]);

	return freedom < known ? quantiles[freedom] : 1.372;
}

/*
 * Are these probabilities better than others, with the confidence? The gain is judged by its
 * variation over blocks.
 */
static bool is_better(const struct trial *trial, const double *chance, const double *other)
{
	size_t blocks = trial->blocks;
	AUTO_FREE double *gain = xcalloc(2 * blocks, sizeof(*gain));
	double *count = gain + blocks, mean = 0, squares = 0;

	for (size_t i = 0; i < trial->count; i++) {
		gain[trial->block[i]] += log_loss(trial->labels[i], other[i]) -
					 log_loss(trial->labels[i], chance[i]);
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

static void swap_columns(double **one, double **other)
{
	double *kept = *one;

	*one = *other;
	*other = kept;
}

/* The forecast without a method: a recent share, unless that of earlier blocks is better. */
static bool choose_share(const struct choice_task *task, struct trial *trial)
{
	bool recent = task->features->groups & FEATURE_SHARE &&
		      !is_better(trial, trial->share, trial->recent);

	if (recent)
		memcpy(trial->share, trial->recent, trial->count * sizeof(*trial->share));
	return recent;
}

/*
 * Calibrates the scores of a candidate, and starts from recent shares, unless it is better without
 * them. Returns false if that is impossible.
 */
static bool calibrate_trial(const struct choice_task *task, struct trial *trial,
			    struct calibration *calibration, bool *recent)
{
	*calibration = (struct calibration){ 0 };
	*recent = false;
	if (calibration_fit(calibration, task->calibration, trial->labels, trial->score,
			    trial->count, NULL) < 0)
		return false;
	for (size_t i = 0; i < trial->count; i++) {
		trial->chance[i] = calibration_apply(calibration, trial->score[i]);
		trial->other[i] =
			choice_shift(trial->chance[i], trial->busy_share, trial->recent[i]);
	}
	if (!(task->features->groups & FEATURE_SHARE) ||
	    is_better(trial, trial->chance, trial->other))
		return true;
	swap_columns(&trial->chance, &trial->other);
	*recent = true;
	return true;
}

/*
 * The log loss per row. Each parameter of the calibration, which is fitted to the same rows, counts
 * as one nat in all, as in Akaike's criterion.
 */
static double penalized_loss(const struct trial *trial, const struct calibration *calibration)
{
	double parameters = calibration->kind == CALIBRATION_PLATT ? 2 : (double)calibration->knots;

	return mean_loss(trial, trial->chance) + parameters / (double)trial->count;
}

/* Keeps a candidate, whose probabilities become the best ones. */
static void keep_candidate(struct choice *choice, const struct candidate *candidate,
			   struct trial *trial, struct calibration *calibration, bool recent)
{
	size_t right = 0;

	calibration_release(&choice->calibration);
	choice->calibration = *calibration;
	choice->log_loss = penalized_loss(trial, calibration);
	choice->groups = candidate->groups;
	choice->method = candidate->name;
	choice->recent = recent;
	candidate_plan(candidate, &choice->plan);
	for (size_t i = 0; i < trial->count; i++)
		right += (trial->chance[i] > 0.5) == (trial->labels[i] == 1);
	choice->accuracy = (double)right / (double)trial->count;
	choice->auc = metrics_auc(trial->labels, trial->chance, trial->count);
	swap_columns(&trial->chance, &trial->best);
}

/* Tests the candidates in their order, and returns the one that was kept. */
static const struct candidate *keep_best(struct choice *choice, const struct choice_task *task,
					 const struct folds *folds, struct trial *trial)
{
	const struct candidate *best = NULL;

	for (size_t i = 0; i < CANDIDATES; i++) {
		struct calibration calibration;
		bool recent;

		if (candidates[i].is_variant && best && strcmp(best->name, candidates[i].name) != 0)
			continue;
		if (!test_candidate(task, folds, &candidates[i], trial) ||
		    !calibrate_trial(task, trial, &calibration, &recent))
			continue;
		if (best && !is_better(trial, trial->chance, trial->best)) {
			calibration_release(&calibration);
			continue;
		}
		keep_candidate(choice, &candidates[i], trial, &calibration, recent);
		best = &candidates[i];
	}
	return best;
}

/*
 * Calibrates the winner on blocks that are predicted from all other blocks, if it has no
 * probabilities of its own. The models of the first blocks of the test have few rows, so their
 * scores differ from those of the model of all rows.
 */
static void calibrate_winner(struct choice *choice, const struct choice_task *task,
			     const struct candidate *winner)
{
	size_t rows = task->samples.rows;
	AUTO_FREE double *guesses = NULL;
	struct calibration calibration = { 0 };
	struct folds folds = { 0 };

	if (winner->is_calibrated) {
		calibration_release(&choice->calibration);
		return;
	}
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
	const struct candidate *best;
	struct folds folds = { 0 };
	struct trial trial;
	bool recent;

	*choice = (struct choice){
		.log_loss = NAN, .share_log_loss = NAN, .accuracy = NAN, .auc = NAN
	};
	if (folds_init(&folds, FOLDS_FORWARD, task->folds, task->samples.rows, task->time_s,
		       task->seed, NULL) < 0)
		return;
	trial_init(&trial, task, &folds);
	recent = choose_share(task, &trial);
	choice->share_log_loss = mean_loss(&trial, trial.share);
	best = keep_best(choice, task, &folds, &trial);
	if (best && is_better(&trial, trial.best, trial.share) &&
	    choice->log_loss < choice->share_log_loss) {
		calibrate_winner(choice, task, best);
	} else {
		choice->method = NULL;
		choice->recent = recent;
	}
	trial_release(&trial);
	folds_release(&folds);
}

void choice_release(struct choice *choice)
{
	calibration_release(&choice->calibration);
	*choice = (struct choice){ 0 };
}
