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
 * Members of the average come first. The others are ordered from fast to slow. Those with jobs (the
 * paper's features) are tried separately: jobs mislead if their mix changes.
 */
static const struct candidate {
	const char *name, *learner, *settings;
	unsigned groups;
	bool is_member; /* of the average */
	/* Tested only if the best so far has the same name, or nothing was tested: it is slow. */
	bool is_variant;
	/*
	 * Its probabilities are used as they are, once it is chosen. If the share of busy writes
	 * drifts, a model that is tested on a block has learned from the opposite deviation, which
	 * misleads the calibration.
	 */
	bool is_calibrated;
} candidates[] = {
	{ "hidden", "logistic", "", FEATURE_STATE, .is_member = true, .is_calibrated = true },
	{ "logistic", "logistic", "", FEATURE_RECENT | FEATURE_STATE, .is_member = true,
	  .is_calibrated = true },
	{ "forest", "forest", "trees=50,leaf=10", FEATURE_RECENT | FEATURE_STATE,
	  .is_member = true },
	{ "forest", "forest", "trees=50,leaf=10", OTHER_FEATURES, .is_member = false },
	{ "boosting", "boosting", "trees=50,depth=2", FEATURE_RECENT | FEATURE_STATE,
	  .is_member = false },
	{ "boosting", "boosting", "trees=50,depth=2", OTHER_FEATURES, .is_member = false },
	{ "boosting", "boosting", "trees=100,depth=4,leaf=10", FEATURE_RECENT | FEATURE_STATE,
	  .is_member = false },
	{ "svm", "svm", "folds=0", FEATURE_RECENT | FEATURE_STATE, .is_member = false },
	{ "svm", "svm", "folds=0,cost=0.1", FEATURE_RECENT | FEATURE_STATE, .is_variant = true },
	{ "svm", "svm", "folds=0", FEATURE_PAPER, .is_variant = true },
};
#define CANDIDATES (sizeof(candidates) / sizeof(candidates[0]))

/* Predictions of the tested rows, which are packed. */
struct trial {
	double *labels, *score;
	double *recent;			/* the share of busy among the last writes */
	double *share;			/* the forecast without a method */
	double *chance;			/* that of a candidate */
	double *best;			/* that of the best candidate so far */
	double *member[CHOICE_MEMBERS]; /* those of the members of the average */
	double *other;			/* for comparisons */
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
	double **const columns[] = { &trial->labels,   &trial->score,	  &trial->recent,
				     &trial->share,    &trial->chance,	  &trial->best,
				     &trial->other,    &trial->member[0], &trial->member[1],
				     &trial->member[2] };
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

/* False if the features of the candidate are missing. */
static bool member_init(struct choice_member *member, const struct candidate *candidate,
			const struct features_plan *features)
{
	const struct learner_ops *learner =
		learner_find(candidate->learner, LEARNER_CLASSIFIES, NULL);

	*member = (struct choice_member){ .method = candidate->name,
					  .groups = candidate->groups,
					  .is_calibrated = candidate->is_calibrated };
	pipeline_plan_init(&member->plan, learner);
	return !(candidate->groups & ~features->groups) &&
	       learner_parse(learner, candidate->settings, member->plan.settings, NULL) >= 0;
}

/*
 * Predicts each row by a model of the rows of other folds: pairs of probabilities, which the caller
 * frees. NULL if the method refuses a part, for example because it has only one state.
 */
static double *guess_rows(const struct choice_task *task, const struct folds *folds,
			  const struct choice_member *member)
{
	struct effort effort = { .seed = task->seed, .threads = 1 };
	struct samples samples = task->samples;
	AUTO_FREE double *x = NULL;
	double *guesses;

	x = choice_columns(task->features, member->groups, &samples, &samples.width);
	samples.x = x;
	guesses = xmalloc((samples.rows + 1) * 2 * sizeof(*guesses));
	if (selection_guesses(&member->plan, &samples, folds, &effort, guesses, NULL, NULL) >= 0)
		return guesses;
	free(guesses);
	return NULL;
}

/* Fills in the scores of a member; false if it cannot be tested. */
static bool score_member(const struct choice_task *task, const struct folds *folds,
			 const struct choice_member *member, struct trial *trial)
{
	AUTO_FREE double *guesses = guess_rows(task, folds, member);
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

/* Quantiles of Student's distribution, by degrees of freedom; more count as the last row. */
static double student_quantile(double confidence, size_t freedom)
{
	static const struct {
		double usual, replacing;
	} quantiles[] = { { INFINITY, INFINITY }, { 3.078, 31.82 }, { 1.886, 6.965 },
			  { 1.638, 4.541 },	  { 1.533, 3.747 }, { 1.476, 3.365 },
			  { 1.440, 3.143 },	  { 1.415, 2.998 }, { 1.397, 2.896 },
			  { 1.383, 2.821 },	  { 1.372, 2.764 } };
	size_t last = sizeof(quantiles) / sizeof(quantiles[0]) - 1;
	size_t row = freedom < last ? freedom : last;

	return confidence > CHOICE_CONFIDENCE ? quantiles[row].replacing : quantiles[row].usual;
}

/*
 * Are these probabilities better than others, with the confidence? The gain is judged by its
 * variation over blocks.
 */
static bool is_better(const struct trial *trial, const double *chance, const double *other,
		      double confidence)
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
	return mean > student_quantile(confidence, blocks - 1) *
			      sqrt(squares / (double)(blocks - 1) / (double)blocks);
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
		      !is_better(trial, trial->share, trial->recent, CHOICE_CONFIDENCE);

	if (recent)
		memcpy(trial->share, trial->recent, trial->count * sizeof(*trial->share));
	return recent;
}

/*
 * Calibrates the scores of a member, and starts from recent shares, unless it is better without
 * them. Returns false if that is impossible.
 */
static bool calibrate_trial(const struct choice_task *task, struct trial *trial,
			    struct choice_member *member)
{
	if (calibration_fit(&member->calibration, task->calibration, trial->labels, trial->score,
			    trial->count, NULL) < 0)
		return false;
	for (size_t i = 0; i < trial->count; i++) {
		trial->chance[i] = calibration_apply(&member->calibration, trial->score[i]);
		trial->other[i] =
			choice_shift(trial->chance[i], trial->busy_share, trial->recent[i]);
	}
	if (!(task->features->groups & FEATURE_SHARE) ||
	    is_better(trial, trial->chance, trial->other, CHOICE_CONFIDENCE))
		return true;
	swap_columns(&trial->chance, &trial->other);
	member->recent = true;
	return true;
}

/* Fills in the probabilities of a candidate; false if it cannot be tested. */
static bool test_candidate(const struct choice_task *task, const struct folds *folds,
			   const struct candidate *candidate, struct trial *trial,
			   struct choice_member *member)
{
	return member_init(member, candidate, task->features) &&
	       score_member(task, folds, member, trial) && calibrate_trial(task, trial, member);
}

/*
 * The log loss per row. Each parameter of a calibration, which is fitted to the same rows, counts
 * as one nat in all, as in Akaike's criterion; an average has as many as its members on average.
 */
static double penalized_loss(const struct trial *trial, const struct choice *choice)
{
	double parameters = 0;

	for (size_t i = 0; i < choice->member_count; i++) {
		const struct calibration *calibration = &choice->members[i].calibration;

		parameters +=
			calibration->kind == CALIBRATION_PLATT ? 2 : (double)calibration->knots;
	}
	return mean_loss(trial, trial->best) +
	       parameters / (double)choice->member_count / (double)trial->count;
}

static void release_members(struct choice *choice)
{
	for (size_t i = 0; i < choice->member_count; i++)
		calibration_release(&choice->members[i].calibration);
	choice->member_count = 0;
}

/* Makes the member the only one; its probabilities are the best ones. */
static void keep_member(struct choice *choice, const struct choice_member *member)
{
	release_members(choice);
	choice->members[0] = *member;
	choice->member_count = 1;
}

/* Tests the members of the average, whose probabilities become the best ones. */
static void average_members(struct choice *choice, const struct choice_task *task,
			    const struct folds *folds, struct trial *trial)
{
	for (size_t i = 0; i < CANDIDATES; i++) {
		size_t count = choice->member_count;

		if (!candidates[i].is_member ||
		    !test_candidate(task, folds, &candidates[i], trial, &choice->members[count]))
			continue;
		swap_columns(&trial->chance, &trial->member[count]);
		choice->member_count++;
	}
	for (size_t i = 0; i < trial->count; i++) {
		trial->best[i] = 0;
		for (size_t k = 0; k < choice->member_count; k++)
			trial->best[i] += trial->member[k][i] / (double)choice->member_count;
	}
}

/* A member that is better than the average replaces it. */
static void replace_average(struct choice *choice, struct trial *trial)
{
	size_t best = CHOICE_MEMBERS;
	struct choice_member member;

	for (size_t i = 0; choice->member_count > 1 && i < choice->member_count; i++) {
		if (!is_better(trial, trial->member[i], trial->best, CHOICE_REPLACING))
			continue;
		swap_columns(&trial->member[i], &trial->best);
		best = i;
	}
	if (best == CHOICE_MEMBERS)
		return;
	member = choice->members[best];
	choice->members[best].calibration = (struct calibration){ 0 };
	keep_member(choice, &member);
}

/* Tests the candidates in their order. */
static void keep_best(struct choice *choice, const struct choice_task *task,
		      const struct folds *folds, struct trial *trial)
{
	average_members(choice, task, folds, trial);
	replace_average(choice, trial);
	for (size_t i = 0; i < CANDIDATES; i++) {
		const struct candidate *candidate = &candidates[i];
		struct choice_member member;

		if (candidate->is_member ||
		    (candidate->is_variant && choice->member_count &&
		     strcmp(choice->members[0].method, candidate->name) != 0) ||
		    !test_candidate(task, folds, candidate, trial, &member))
			continue;
		if (choice->member_count &&
		    !is_better(trial, trial->chance, trial->best, CHOICE_REPLACING)) {
			calibration_release(&member.calibration);
			continue;
		}
		swap_columns(&trial->chance, &trial->best);
		keep_member(choice, &member);
	}
}

static void judge_best(struct choice *choice, const struct trial *trial)
{
	size_t right = 0;

	choice->method = choice->member_count > 1 ? CHOICE_AVERAGE : choice->members[0].method;
	choice->recent = false;
	for (size_t i = 0; i < choice->member_count; i++)
		choice->recent |= choice->members[i].recent;
	choice->log_loss = penalized_loss(trial, choice);
	for (size_t i = 0; i < trial->count; i++)
		right += (trial->best[i] > 0.5) == (trial->labels[i] == 1);
	choice->accuracy = (double)right / (double)trial->count;
	choice->auc = metrics_auc(trial->labels, trial->best, trial->count);
}

/*
 * Calibrates a member on blocks that are predicted from all other blocks, if it has no
 * probabilities of its own. The models of the first blocks of the test have few rows, so their
 * scores differ from those of the model of all rows.
 */
static void calibrate_member(struct choice_member *member, const struct choice_task *task)
{
	size_t rows = task->samples.rows;
	AUTO_FREE double *guesses = NULL;
	struct calibration calibration = { 0 };
	struct folds folds = { 0 };

	if (member->is_calibrated) {
		calibration_release(&member->calibration);
		return;
	}
	if (folds_init(&folds, FOLDS_BLOCKED, task->folds, rows, task->time_s, task->seed, NULL) <
	    0)
		return;
	guesses = guess_rows(task, &folds, member);
	folds_release(&folds);
	if (!guesses)
		return;
	for (size_t i = 0; i < rows; i++)
		guesses[i] = guesses[2 * i + 1];
	if (calibration_fit(&calibration, task->calibration, task->samples.y, guesses, rows, NULL) <
	    0)
		return;
	calibration_release(&member->calibration);
	member->calibration = calibration;
}

void choice_make(struct choice *choice, const struct choice_task *task)
{
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
	keep_best(choice, task, &folds, &trial);
	if (choice->member_count)
		judge_best(choice, &trial);
	if (!choice->member_count ||
	    !is_better(&trial, trial.best, trial.share, CHOICE_CONFIDENCE) ||
	    choice->log_loss >= choice->share_log_loss) {
		choice->method = NULL;
		choice->recent = recent;
		release_members(choice);
	}
	for (size_t i = 0; i < choice->member_count; i++)
		calibrate_member(&choice->members[i], task);
	trial_release(&trial);
	folds_release(&folds);
}

void choice_release(struct choice *choice)
{
	release_members(choice);
	*choice = (struct choice){ 0 };
}

static int fit_member(struct choice_model *model, struct choice_member *member,
		      const struct choice_task *task, struct err *err)
{
	struct effort effort = { .seed = task->seed, .threads = 1 };
	struct samples part = task->samples;
	AUTO_FREE double *x = NULL;
	int r;

	x = choice_columns(task->features, member->groups, &task->samples, &part.width);
	part.x = x;
	r = pipeline_fit(&model->pipeline, &member->plan, &part, NULL, 0, &effort, err);
	if (r < 0)
		return r;
	model->groups = member->groups;
	model->recent = member->recent;
	model->calibration = member->calibration;
	member->calibration = (struct calibration){ 0 };
	return 0;
}

int choice_fit(struct choice_model models[CHOICE_MEMBERS], size_t *count, struct choice *choice,
	       const struct choice_task *task, struct err *err)
{
	int r = 0;

	*count = 0;
	while (r >= 0 && *count < choice->member_count) {
		r = fit_member(&models[*count], &choice->members[*count], task, err);
		*count += r >= 0;
	}
	if (r < 0) {
		choice_models_release(models, *count);
		*count = 0;
	}
	return r;
}

void choice_models_release(struct choice_model *models, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		pipeline_release(&models[i].pipeline);
		calibration_release(&models[i].calibration);
	}
}

static double predict_one(const struct choice_model *model, const struct features_plan *features,
			  const double *row, double train_share)
{
	double share = model->recent ? choice_share(features, row, train_share) : train_share;
	double chances[2], part[FEATURES_MAX];

	features_select(features, model->groups, row, part);
	pipeline_predict(&model->pipeline, part, chances);
	return choice_shift(calibration_apply(&model->calibration, chances[1]), train_share, share);
}

double choice_predict(const struct choice_model *models, size_t count,
		      const struct features_plan *features, const double *row, double train_share)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += predict_one(&models[i], features, row, train_share);
	return sum / (double)count;
}
