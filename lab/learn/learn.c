/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The group `sluice lab learn`, and what its subcommands share.
 */
#include "lab/learn/learn.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/parallel.h"
#include "base/term.h"
#include "learn/model/model.h"
#include "learn/table/dataset.h"
#include "learn/table/folds.h"

#define THREADS_MAX 1024

#define FIELD(name) offsetof(struct learn_task, name)

const struct option learn_task_options[] = {
	{ 0, "response", "COLUMN", NULL, "predict this column; required", OPTION_TEXT,
	  FIELD(response) },
	{ 0, "features", "LIST", NULL,
	  "learn from these columns, such as a,b,fs_*,-fs_max (default: all others)", OPTION_TEXT,
	  FIELD(features) },
	{ 0, "classify", NULL, NULL, "treat the response as a class even if it is a number",
	  OPTION_FLAG, FIELD(classify) },
	{ 0, "log", NULL, NULL, "learn the logarithm of the response", OPTION_FLAG,
	  FIELD(logarithm) },
	{ 'k', "folds", "N", "10", "use N folds for cross-validation", OPTION_COUNT, FIELD(folds) },
	{ 0, "split", FOLDS_WORDS, NULL,
	  "assign rows to folds in this way (default: depends on the other options)", OPTION_CHOICE,
	  FIELD(split) },
	{ 0, "by", "LIST", NULL, "keep rows that agree in these columns in one fold", OPTION_TEXT,
	  FIELD(by) },
	{ 0, "time-column", "COLUMN", NULL,
	  "take the time of each row from COLUMN and train on earlier rows only", OPTION_TEXT,
	  FIELD(time_column) },
	{ 0, "seed", "N", "1", "set the seed; the same seed gives the same result", OPTION_COUNT,
	  FIELD(seed) },
	{ 'T', "threads", "N", NULL, "use N threads (default: all cores)", OPTION_COUNT,
	  FIELD(threads) },
	{ 0 }
};

#undef FIELD

int learn_fail(const struct command *command, int r, const struct err *err)
{
	command_fail(command, "%s", err->text);
	return r == -ENODATA ? COMMAND_NO_DATA : COMMAND_FAILED;
}

void learn_note(const struct command *command, const char *format, ...)
{
	va_list ap;

	term_printf(stderr, "%s %s: ", command->program, command->name);
	va_start(ap, format);
	term_vprintf(stderr, format, ap);
	va_end(ap);
	putc('\n', stderr);
}

unsigned learn_threads(const struct learn_task *task)
{
	uint64_t threads = task->threads == OPTION_NONE ? parallel_cores() : task->threads;

	return threads > THREADS_MAX ? THREADS_MAX : (unsigned)threads;
}

int learn_check_threads(const struct command *command, const struct learn_task *task)
{
	if (!task->threads)
		return command_misuse(command, "--threads must be at least 1");
	return COMMAND_GOOD;
}

int learn_parse_coverage(const struct command *command, const char *text, double *coverage)
{
	char *end;

	*coverage = strtod(text, &end);
	if (end == text || *end || !(*coverage > 0 && *coverage < 1))
		return command_misuse(
			command, "--coverage: expected a number between 0 and 1, got \"%s\"", text);
	return COMMAND_GOOD;
}

int learn_check_response(const struct command *command, const struct learn_task *task)
{
	if (!task->response)
		return command_misuse(
			command, "missing --response: name the column that is to be predicted");
	if (task->classify && task->logarithm)
		return command_misuse(command, "--log applies to numbers and --classify to "
					       "classes; they cannot be combined");
	return COMMAND_GOOD;
}

void learn_make_plan(struct model_plan *plan, const struct learn_task *task, char *split,
		     size_t cap)
{
	*plan = (struct model_plan){
		.target = task->response,
		.features = task->features,
		.time = task->time_column,
		.by = task->by,
		.classify = task->classify,
		.folds = task->folds,
		.effort = { .seed = task->seed, .threads = learn_threads(task) },
	};
	if (task->split >= 0) {
		option_choice_name(FOLDS_WORDS, task->split, split, cap);
		plan->split = split;
	}
}

void learn_warn_left_out(const struct command *command, size_t rows, const char *response)
{
	if (rows)
		command_warn(command, "ignored %zu %s without a value of %s", rows,
			     rows == 1 ? "row" : "rows", response);
}

void learn_warn_empty(const struct command *command, const struct dataset *dataset)
{
	for (size_t c = 0; c < dataset->width; c++) {
		size_t row = 0;

		while (row < dataset->rows && isnan(dataset_row(dataset, row)[c]))
			row++;
		if (dataset->rows && row == dataset->rows)
			command_warn(command, "ignored column %s, which has no value in any row",
				     dataset->columns[c].name);
	}
}

extern const struct command_ops command_learn_fit, command_learn_select, command_learn_predict,
	command_learn_show;

static const struct command_ops *const subcommands[] = { &command_learn_fit, &command_learn_select,
							 &command_learn_predict,
							 &command_learn_show, NULL };

const struct command_ops command_learn = {
	.name = "learn",
	.help = "fit models to any table, select methods and predict",
	.about = "DATA is a CSV file, plain or compressed with gzip, whose first line names the "
		 "columns; - is standard input. Columns may hold numbers or text.\n\n"
		 "  sluice lab learn select DATA --response bw       compare methods for bw\n"
		 "  sluice lab learn fit DATA --response bw -o M     fit a model of one method\n"
		 "  sluice lab learn predict M NEW                   add predictions to NEW\n"
		 "  sluice lab learn show M                          describe a model\n"
		 "  sluice lab learn show                            list methods and settings\n\n"
		 "All scores come from cross-validation: they refer to rows that the model was not "
		 "trained on. Repeated measurements of one configuration must be in the same fold, "
		 "because otherwise the score shows only how well the model remembers. --by "
		 "nodes,size keeps rows together that agree in these columns.",
	.subcommands = subcommands,
};
