/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Selects a method, its settings and its preparation. Each method contributes `budget` candidates,
 * cross-validation scores each candidate, and the best one wins. The candidates of a method are its
 * defaults under every recipe, then seeded random settings with the recipes in turn, without
 * duplicates (a method with few settings has fewer candidates). Preparations are fitted inside each
 * fold. Folds run in parallel on `threads` threads; the result does not depend on their number.
 * Methods take turns, so that a search that is interrupted has tried all of them.
 *
 * Memory: besides the samples, each thread needs the memory of one fit (learner.h) and the
 * predictions of one candidate.
 * Papers: HYB-44.
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
	/* Ends with NULL; NULL: all methods for the task. */
	const struct learner_ops *const *learners;
	/* Ends with NULL; NULL: the default of each learner. Must outlive the selection. */
	const char *const *recipes;
	bool log_target;
	size_t budget; /* candidates per method; the paper uses 30 */
	enum selection_score score;
	uint64_t seed;
	unsigned threads;
	/*
	 * Optional. Called at times from one thread. If it returns true, the search stops and ranks
	 * the completed candidates.
	 */
	bool (*progress)(void *arg, size_t done, size_t total);
	void *progress_arg;
};

/* One evaluated candidate. Arrays have one value per fold. */
struct selection_entry {
	struct pipeline_plan plan;
	double *first, *second;		/* regression: RMSE and R2; classes: accuracy and AUC */
	double mean_first, mean_second; /* over folds in which they are defined */
	/*
	 * The value that ranks it: a mean over folds, or over all rows for median error and log
	 * loss.
	 */
	double score;
	double seconds; /* CPU time of the fits of all folds */
	char *failure;	/* reason why it was disqualified; else NULL */
};

struct selection {
	struct selection_entry *entries; /* best first, failed candidates last */
	size_t count, folds;
	size_t planned;	      /* planned candidates; more than count if the search was stopped */
	struct pipeline best; /* the winner, fitted to all rows */
	double *guesses; /* out-of-fold predictions of the winner: rows x 1 or rows x classes */
};

/*
 * Runs the selection. With log_target, RMSE and R2 refer to logarithms, as for the black box of the
 * paper; median-error does not. Returns -ECANCELED if it was stopped before any candidate was
 * complete. selection is untouched on failure.
 */
int selection_run(struct selection *selection, const struct selection_plan *plan,
		  const struct samples *samples, const struct folds *folds, struct err *err);
void selection_release(struct selection *selection);

/*
 * Cross-validates one plan: out-of-fold predictions (NAN for a row that is never tested) and the
 * deviations that the method expects (pipeline_spread(); spreads NULL: not wanted).
 */
int selection_guesses(const struct pipeline_plan *plan, const struct samples *samples,
		      const struct folds *folds, const struct effort *effort, double *guesses,
		      double *spreads, struct err *err);

#endif
