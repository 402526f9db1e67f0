/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What one elemental operation costs on a benchmarked platform: a learned surrogate per operation
 * that has rows (HYB-39 to HYB-44), each chosen by model selection; its leaderboard is kept.
 */
#ifndef SLUICE_PREDICT_MODEL_COSTS_H
#define SLUICE_PREDICT_MODEL_COSTS_H

#include "learn/judge/conformal.h"
#include "learn/judge/selection.h"
#include "predict/model/operation.h"

struct elements;

/* One line of a leaderboard. */
struct cost_entry {
	char *learner, *settings, *recipe;
	double rmse, r2; /* means over folds */
	char *failure;	 /* NULL: none */
};

struct cost {
	bool is_fitted;
	size_t rows, cells; /* that it was learnt from; distinct arguments */
	size_t inputs[OPERATION_FEATURES], input_count; /* features that vary */
	struct pipeline pipeline;
	struct conformal conformal; /* of errors out of fold, of logarithms */
	struct cost_entry *entries; /* best first */
	size_t entry_count;
	double low[OPERATION_FEATURES], high[OPERATION_FEATURES]; /* what was benchmarked */
};

struct costs {
	struct cost of[OPERATIONS];
};

struct costs_plan {
	const struct learner_ops *const *learners; /* NULL: those of HYB-40 */
	size_t budget, folds;			   /* 0: 30 and 10 */
	bool plain_target;			   /* learn seconds, not their logarithm */
	uint64_t seed;
	unsigned threads;
	bool (*progress)(void *arg, enum operation operation, size_t done, size_t total);
	void *progress_arg;
};

int costs_fit(struct costs *costs, const struct elements *rows, const struct costs_plan *plan,
	      struct err *err);
void costs_release(struct costs *costs);

/* Seconds; NAN where the operation was not benchmarked. Any thread; a counts_cost() of costs. */
double costs_price(void *costs, enum operation operation, const struct elemental *at);

void costs_save(const struct costs *costs, struct buf *buf);
int costs_load(struct costs *costs, struct blob *blob, struct err *err);

#endif
