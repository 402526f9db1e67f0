/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the subcommands of `sluice lab learn` share: the options of fit and select that describe the
 * learning task, and their translation into a model plan.
 */
#ifndef SLUICE_LAB_LEARN_LEARN_H
#define SLUICE_LAB_LEARN_LEARN_H

#include "cli/command.h"

struct dataset;
struct model_plan;

#define LEARN_COVERAGE "0.9" /* default of --coverage */

/* Filled by learn_task_options. The texts point into argv. */
struct learn_task {
	const char *response, *features, *by, *time_column;
	uint64_t folds, threads, seed;
	int split;
	bool classify, logarithm;
};

/* Include it with OPTION_INCLUDE(). */
extern const struct option learn_task_options[];

/* Prints the error. Returns COMMAND_NO_DATA if the table has no rows, else COMMAND_FAILED. */
int learn_fail(const struct command *command, int r, const struct err *err);

/* Check options. They return COMMAND_GOOD, or COMMAND_MISUSE after they printed what is wrong. */
int learn_check_response(const struct command *command, const struct learn_task *task);
int learn_check_threads(const struct command *command, const struct learn_task *task);
int learn_parse_coverage(const struct command *command, const char *text, double *coverage);

unsigned learn_threads(const struct learn_task *task);

/*
 * Sets everything in the plan except the method. `split` receives the name of the split. The plan
 * refers to the task and to `split`, which must outlive it.
 */
void learn_make_plan(struct model_plan *plan, const struct learn_task *task, char *split,
		     size_t cap);

/* Warns of columns without any value; prints nothing if there are none. */
void learn_warn_empty(const struct command *command, const struct dataset *dataset);

/* Warns that rows without a response were left out; prints nothing if there are none. */
void learn_warn_left_out(const struct command *command, size_t rows, const char *response);

/* Prints a message that is neither data nor a warning. */
void learn_note(const struct command *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
