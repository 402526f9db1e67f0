/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which method, with which settings and preparation? HYB-41: per method `budget` candidates, each
 * scored by cross-validation; the best wins. Candidates of a method: its defaults under every
 * recipe, then seeded draws from its settings, recipes in turn, no candidate twice (a method with
 * few settings has fewer). Preparations are fitted inside each fold. Folds run side by side on
 * `threads`; the result does not depend on their number. Methods take turns, so that a race that is
 * stopped has tried them all.
 *
 * Memory: beside the samples, each thread holds what one fit holds (learner.h) and the guesses of
 * one candidate.
 */
#ifndef SLUICE_LEARN_JUDGE_SELECTION_H
#define SLUICE_LEARN_JUDGE_SELECTION_H

#include "learn/pipeline.h"

struct folds;

enum selection_score {
	SELECT_RMSE,
	SELECT_R2,
	SELECT_MEDIAN_ERROR,
	SELECT_ACCURACY,
	SELECT_AUC,
	SELECT_LOG_LOSS
};
#define SELECTION_SCORES "rmse|r2|median-error|accuracy|auc|log-loss"

struct selection_plan {
	const struct learner_ops *const *learners; /* ends with NULL; NULL: all for the task */
	const char *const *recipes; /* ends with NULL; NULL: what each learner wants; they must
				       outlive the selection */
	bool log_target;
	size_t budget; /* candidates per method; 30 in the paper */
	enum selection_score score;
	uint64_t seed;
	unsigned threads;
	/* Called now and then from one thread; true stops, what is complete is ranked. Optional. */
	bool (*progress)(void *arg, size_t done, size_t total);
	void *progress_arg;
};

/* One candidate, judged. Per-fold values have one number per fold. */
struct selection_entry {
	struct pipeline_plan plan;
	double *first, *second;		/* regression: RMSE and R2; classes: accuracy and AUC */
	double mean_first, mean_second; /* over folds where they are defined */
	double score; /* by which it is ranked: such a mean; median error, log loss: of all rows */
	double seconds; /* CPU time of its fits, all folds */
	char *failure;	/* why it is out of the race; else NULL */
};

struct selection {
	struct selection_entry *entries; /* best first; failed ones last */
	size_t count, folds;
	size_t planned;	      /* candidates; more than count if it was stopped */
	struct pipeline best; /* the winner, fitted to all rows */
	double *guesses;      /* of the winner, out of fold: rows x 1 or rows x classes */
};

/*
 * log_target: RMSE and R2 are of logarithms, as the paper's black box; median-error is not. Fails
 * with -ECANCELED if it was stopped before a candidate was complete. selection is untouched on
 * failure.
 */
int selection_run(struct selection *selection, const struct selection_plan *plan,
		  const struct samples *samples, const struct folds *folds, struct err *err);
void selection_release(struct selection *selection);

/* Is less better? */
bool selection_falls(enum selection_score score);

/*
 * One plan, cross-validated: out-of-fold predictions (NAN where a row is never tested) and what
 * the method itself expects around them (pipeline_spread(); spreads NULL: not wanted).
 */
int selection_guesses(const struct pipeline_plan *plan, const struct samples *samples,
		      const struct folds *folds, const struct effort *effort, double *guesses,
		      double *spreads, struct err *err);

#endif
