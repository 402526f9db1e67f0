/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice lab learn select: compares methods by cross-validation. Ctrl-C ends the search early; the
 * completed candidates are shown.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/mem.h"
#include "base/term.h"
#include "lab/learn/learn.h"
#include "lab/learn/print.h"
#include "learn/judge/selection.h"
#include "learn/model/model.h"
#include "learn/table/csv.h"
#include "learn/table/dataset.h"
#include "learn/table/folds.h"

struct select_args {
	struct learn_task task;
	const char *learners, *recipes, *output;
	uint64_t candidates;
	int score;
	bool all, json;
};

#define FIELD(name) offsetof(struct select_args, name)

static const struct option select_options[] = {
	OPTION_INCLUDE(learn_task_options, FIELD(task)),
	{ 0, "learners", "METHODS", NULL,
	  "choose among these methods, such as linear,svm (default: all)", OPTION_TEXT,
	  FIELD(learners) },
	{ 0, "recipes", "RECIPES", NULL,
	  "choose among these preparations, separated by ; (default: the method's own)",
	  OPTION_TEXT, FIELD(recipes) },
	{ 0, "candidates", "N", "30", "try N candidate models per method", OPTION_COUNT,
	  FIELD(candidates) },
	{ 0, "score", SELECTION_SCORES, NULL,
	  "rank candidates by this metric (default: rmse, or accuracy for classes)", OPTION_CHOICE,
	  FIELD(score) },
	{ 0, "all", NULL, NULL, "show every candidate instead of the best one of each method",
	  OPTION_FLAG, FIELD(all) },
	{ 'o', "output", "FILE", NULL, "write a model of the best candidate to FILE", OPTION_TEXT,
	  FIELD(output) },
	{ 'j', "json", NULL, NULL, "print one JSON object of schema " LEARN_SCHEMA, OPTION_FLAG,
	  FIELD(json) },
	{ 0 }
};

#undef FIELD

/* The values of --learners and --recipes. Both arrays end with NULL; NULL: not given. */
struct choice {
	const struct learner_ops **learners;
	char **recipes;
};

static void choice_release(struct choice *choice)
{
	for (size_t i = 0; choice->recipes && choice->recipes[i]; i++)
		free(choice->recipes[i]);
	free(choice->recipes);
	free(choice->learners);
}

static int parse_learners(const struct command *command, struct choice *choice)
{
	const struct select_args *args = command->args;
	unsigned task = args->task.classify ? LEARNER_CLASSIFIES : LEARNER_REGRESSES;
	struct err err = { 0 };

	if (learner_find_all(args->learners, task, &choice->learners, &err) < 0)
		return command_misuse(command, "--learners: %s", err.text);
	return COMMAND_GOOD;
}

static int parse_recipes(const struct command *command, struct choice *choice)
{
	const struct select_args *args = command->args;
	AUTO_FREE char *copy = xstrdup(args->recipes);
	struct err err = { 0 };
	char *rest = copy, *recipe;
	size_t count = 0;

	choice->recipes = xcalloc(strlen(args->recipes) + 2, sizeof(*choice->recipes));
	while ((recipe = strsep(&rest, ";"))) {
		if (preparation_check(recipe, &err) < 0)
			return command_misuse(command, "--recipes: %s", err.text);
		choice->recipes[count++] = xstrdup(recipe);
	}
	return COMMAND_GOOD;
}

static int make_selection_plan(const struct command *command, struct choice *choice,
			       struct selection_plan *plan)
{
	const struct select_args *args = command->args;
	int r = COMMAND_GOOD;

	*plan = (struct selection_plan){
		.log_target = args->task.logarithm,
		.budget = args->candidates,
		.score = args->score >= 0      ? (enum selection_score)args->score
			 : args->task.classify ? SELECT_ACCURACY
					       : SELECT_RMSE,
		.seed = args->task.seed,
		.threads = learn_threads(&args->task),
	};
	if (args->learners)
		r = parse_learners(command, choice);
	if (!r && args->recipes)
		r = parse_recipes(command, choice);
	plan->learners = (const struct learner_ops *const *)choice->learners;
	plan->recipes = (const char *const *)choice->recipes;
	return r;
}

/* Fits the winner to all rows. The same plan and seed give the folds of the selection. */
static int save_winner(const struct command *command, const struct dataset *dataset,
		       const struct selection *selection, struct model_plan *plan)
{
	const struct select_args *args = command->args;
	struct model model;
	struct err err = { 0 };
	int r;

	plan->pipeline = selection->entries[0].plan;
	r = model_fit(&model, dataset, plan, &err);
	if (r < 0)
		return learn_fail(command, r, &err);
	r = model_save(&model, args->output, &err);
	model_release(&model);
	if (r < 0)
		return learn_fail(command, r, &err);
	learn_note(command, "wrote a model of the best candidate to %s", args->output);
	return COMMAND_GOOD;
}

static int run_selection(struct selection *selection, const struct selection_plan *wanted,
			 const struct model_rows *rows, const struct folds *folds, struct err *err)
{
	struct samples samples = model_rows_samples(rows);
	struct selection_plan plan = *wanted;
	struct progress progress;
	struct interrupt stop;
	int r;

	plan.progress = interrupt_show_progress;
	plan.progress_arg = &progress;
	progress_start(&progress, "candidates", 0);
	interrupt_catch(&stop);
	r = selection_run(selection, &plan, &samples, folds, err);
	interrupt_restore(&stop);
	progress_end(&progress);
	return r;
}

static int select_among_rows(const struct command *command, struct selection *selection,
			     const struct selection_plan *plan, const struct dataset *dataset,
			     const struct model_plan *wanted)
{
	const struct select_args *args = command->args;
	struct model_rows rows = { 0 };
	struct folds folds = { 0 };
	struct err err = { 0 };
	char split[32];
	int r = model_rows_init(&rows, dataset, wanted, &err);

	if (r >= 0)
		r = model_rows_split(&rows, dataset, wanted, &folds, &err);
	if (r >= 0)
		r = run_selection(selection, plan, &rows, &folds, &err);
	if (r < 0) {
		r = learn_fail(command, r, &err);
	} else {
		learn_warn_empty(command, dataset);
		learn_warn_left_out(command, rows.left_out, args->task.response);
		option_choice_name(FOLDS_WORDS, (int)folds.kind, split, sizeof(split));
		learn_print_board(selection, plan, &rows, split, args->all, args->json);
		r = command_finish(command);
	}
	folds_release(&folds);
	model_rows_release(&rows);
	return r;
}

static int select_for_table(const struct command *command, const struct selection_plan *plan,
			    const struct dataset *dataset)
{
	const struct select_args *args = command->args;
	struct selection selection = { 0 };
	struct model_plan wanted;
	char split[32];
	int r;

	learn_make_plan(&wanted, &args->task, split, sizeof(split));
	r = select_among_rows(command, &selection, plan, dataset, &wanted);
	if (!r && selection.count && args->output)
		r = save_winner(command, dataset, &selection, &wanted);
	if (!r && selection.count < selection.planned) {
		command_warn(command, "interrupted after %zu of %zu candidates", selection.count,
			     selection.planned);
		r = COMMAND_FAILED;
	}
	selection_release(&selection);
	return r;
}

static int select_run(struct command *command)
{
	const struct select_args *args = command->args;
	AUTO_DATASET struct dataset dataset = { 0 };
	struct choice choice = { 0 };
	struct selection_plan plan;
	struct err err = { 0 };
	int r = learn_check_threads(command, &args->task);

	if (!r)
		r = learn_check_response(command, &args->task);
	if (!r)
		r = make_selection_plan(command, &choice, &plan);
	if (!r) {
		r = csv_read(&dataset, command->argv[0], &err);
		r = r < 0 ? learn_fail(command, r, &err)
			  : select_for_table(command, &plan, &dataset);
	}
	choice_release(&choice);
	return r;
}

const struct command_ops command_learn_select = {
	.name = "select",
	.help = "compare methods by cross-validation",
	.operands = "DATA",
	.operands_min = 1,
	.operands_max = 1,
	.about =
		"Tries each method with its default settings and with random ones, and ranks the "
		"candidates by the mean over the folds of RMSE (numbers) or accuracy (classes), or "
		"by --score. --output fits the best candidate to all rows and writes the model.\n\n"
		"If the search is interrupted, the completed candidates are shown and the exit "
		"code "
		"is 1.\n\n"
		"  sluice lab learn select runs.csv --response bw --by nodes,size\n"
		"  sluice lab learn select states.csv --response label --classify --time-column t",
	.options = select_options,
	.args_bytes = sizeof(struct select_args),
	.run = select_run,
};
