/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the verbs of `sluice learn` share: their options, and how these become a plan.
 */
#ifndef SLUICE_LAB_LEARN_LEARN_H
#define SLUICE_LAB_LEARN_LEARN_H

#include "cli/command.h"

struct model_plan;

struct learn_args {
	const char *target, *features, *by, *time, *output, *learner, *learners, *recipe, *recipes;
	const char *refresh, *coverage;
	uint64_t folds, budget, threads, seed;
	int split, score, calibrate;
	bool classify, logarithm, all, json;
};

/* The verbs that have a file of their own. They return exit codes. */
int learn_select(struct command *command);
int learn_predict(struct command *command);

/* Says what is wrong. COMMAND_NO_DATA where there are no rows, else COMMAND_FAILED. */
int learn_fail(const struct command *command, int r, const struct err *err);

/* Checks of options: COMMAND_GOOD, or COMMAND_MISUSE when it was said what is wrong. */
int learn_target(const struct command *command);
int learn_coverage(const struct command *command, double *coverage);

unsigned learn_threads(const struct learn_args *args);

/* What fit and select share, all but the method. Its texts are in args and split. */
void learn_plan(struct model_plan *plan, const struct learn_args *args, char *split, size_t cap);

void learn_left_out(const struct command *command, size_t rows, const char *target);

#endif
