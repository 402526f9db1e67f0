/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice learn select: a race of methods. Ctrl-C ends it early, and what is complete is shown.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/term.h"
#include "lab/learn/learn.h"
#include "lab/learn/show.h"
#include "learn/table/csv.h"
#include "learn/table/dataset.h"
#include "learn/table/folds.h"
#include "learn/judge/selection.h"
#include "learn/model/model.h"

/* Set by the first Ctrl-C; the second one ends us. */
static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal)
{
	(void)signal;
	interrupted = 1;
}

struct race_shown {
	struct progress progress;
	bool started;
};

static bool race_progress(void *arg, size_t done, size_t total)
{
	struct race_shown *shown = arg;

	if (!shown->started)
		progress_start(&shown->progress, "judging candidates", total);
	shown->started = true;
	progress_show(&shown->progress, done);
	return interrupted;
}

/* Lists that the options name. */
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

static int learners_read(const struct command *command, struct choice *choice)
{
	const struct learn_args *args = command->args;
	unsigned task = args->classify ? LEARNER_CLASSIFIES : LEARNER_REGRESSES;
	struct err err = { 0 };

	if (learner_find_all(args->learners, task, &choice->learners, &err) < 0)
		return command_misuse(command, "--learners: %s", err.text);
	return COMMAND_GOOD;
}

static int recipes_read(const struct command *command, struct choice *choice)
{
	const struct learn_args *args = command->args;
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

static int choice_read(const struct command *command, struct choice *choice,
		       struct selection_plan *plan)
{
	const struct learn_args *args = command->args;
	int r = COMMAND_GOOD;

	*plan = (struct selection_plan){
		.log_target = args->logarithm,
		.budget = args->budget,
		.score = args->score >= 0 ? (enum selection_score)args->score
			 : args->classify ? SELECT_ACCURACY
					  : SELECT_RMSE,
		.seed = args->seed,
		.threads = learn_threads(args),
	};
	if (args->learners)
		r = learners_read(command, choice);
	if (!r && args->recipes)
		r = recipes_read(command, choice);
	plan->learners = (const struct learner_ops *const *)choice->learners;
	plan->recipes = (const char *const *)choice->recipes;
	return r;
}

/* The winner as a model: the same plan and seed give the same folds. */
static int winner_save(const struct command *command, const struct dataset *dataset,
		       const struct selection *selection, struct model_plan *plan)
{
	const struct learn_args *args = command->args;
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
	fprintf(stderr, "sluice learn: the best is written to %s\n", args->output);
	return COMMAND_GOOD;
}

static int race_run(struct selection *selection, const struct selection_plan *wanted,
		    const struct model_rows *rows, const struct folds *folds, struct err *err)
{
	struct sigaction catch = { .sa_handler = on_interrupt, .sa_flags = SA_RESETHAND }, old;
	struct samples samples = model_rows_samples(rows);
	struct selection_plan plan = *wanted;
	struct race_shown shown = { 0 };
	int r;

	plan.progress = race_progress;
	plan.progress_arg = &shown;
	sigaction(SIGINT, &catch, &old);
	if (old.sa_handler == SIG_IGN)
		sigaction(SIGINT, &old, NULL);
	r = selection_run(selection, &plan, &samples, folds, err);
	sigaction(SIGINT, &old, NULL);
	if (shown.started)
		progress_end(&shown.progress);
	return r;
}

static int select_rows(const struct command *command, struct selection *selection,
		       const struct selection_plan *plan, const struct dataset *dataset,
		       const struct model_plan *wanted)
{
	const struct learn_args *args = command->args;
	struct model_rows rows = { 0 };
	struct folds folds = { 0 };
	struct err err = { 0 };
	char split[32];
	int r = model_rows_init(&rows, dataset, wanted, &err);

	if (r >= 0)
		r = model_rows_split(&rows, dataset, wanted, &folds, &err);
	if (r >= 0)
		r = race_run(selection, plan, &rows, &folds, &err);
	if (r < 0) {
		r = learn_fail(command, r, &err);
	} else {
		learn_left_out(command, rows.left_out, args->target);
		option_choice_name(FOLDS_WORDS, (int)folds.kind, split, sizeof(split));
		learn_show_board(selection, plan, &rows, split, args->all, args->json);
		r = command_finish(command);
	}
	folds_release(&folds);
	model_rows_release(&rows);
	return r;
}

static int select_table(const struct command *command, const struct selection_plan *plan,
			const struct dataset *dataset)
{
	const struct learn_args *args = command->args;
	struct selection selection = { 0 };
	struct model_plan wanted;
	char split[32];
	int r;

	learn_plan(&wanted, args, split, sizeof(split));
	r = select_rows(command, &selection, plan, dataset, &wanted);
	if (!r && selection.count && args->output)
		r = winner_save(command, dataset, &selection, &wanted);
	if (!r && selection.count < selection.planned) {
		command_warn(command, "it was stopped: %zu of %zu candidates are complete",
			     selection.count, selection.planned);
		r = COMMAND_FAILED;
	}
	selection_release(&selection);
	return r;
}

int learn_select(struct command *command)
{
	AUTO_DATASET struct dataset dataset = { 0 };
	struct choice choice = { 0 };
	struct selection_plan plan;
	struct err err = { 0 };
	int r = learn_target(command);

	if (!r)
		r = choice_read(command, &choice, &plan);
	if (!r) {
		r = csv_read(&dataset, command->argv[1], &err);
		r = r < 0 ? learn_fail(command, r, &err) : select_table(command, &plan, &dataset);
	}
	choice_release(&choice);
	return r;
}
