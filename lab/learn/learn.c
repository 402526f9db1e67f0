/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice learn: models from tables, for anyone with a CSV. Options become a plan; the work is done
 * by learn/, and what is printed comes from learn_show.c and learn_board.c. Here are the options,
 * fit and describe.
 */
#include "lab/learn/learn.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "lab/learn/show.h"
#include "cli/verb.h"
#include "learn/table/csv.h"
#include "learn/table/dataset.h"
#include "learn/table/folds.h"
#include "base/parallel.h"
#include "learn/judge/selection.h"
#include "learn/model/model.h"

#define FIELD(name) offsetof(struct learn_args, name)

static const struct option learn_options[] = {
	{ 't', "target", "COLUMN", NULL, "fit, select: the column to learn", OPTION_TEXT,
	  FIELD(target) },
	{ 'f', "features", "LIST", NULL,
	  "fit, select: columns to learn from, such as a,b,fs_*,-fs_max; else all others",
	  OPTION_TEXT, FIELD(features) },
	{ 'c', "classify", NULL, NULL, "fit, select: the target is a class, even if it is a number",
	  OPTION_FLAG, FIELD(classify) },
	{ 0, "log", NULL, NULL, "fit, select: learn the logarithm of the target", OPTION_FLAG,
	  FIELD(logarithm) },
	{ 'l', "learner", "METHOD", "forest", "fit: the method, such as forest or forest:trees=100",
	  OPTION_TEXT, FIELD(learner) },
	{ 0, "learners", "METHODS", NULL,
	  "select: methods to choose from, such as linear,svm; else all", OPTION_TEXT,
	  FIELD(learners) },
	{ 'r', "recipe", "RECIPE", NULL,
	  "fit: preparation, such as boxcox,centre,scale or none; else the method's own",
	  OPTION_TEXT, FIELD(recipe) },
	{ 0, "recipes", "RECIPES", NULL, "select: preparations to choose from, with ; between",
	  OPTION_TEXT, FIELD(recipes) },
	{ 'k', "folds", "N", "10", "fit, select: folds to judge by; fit takes 0 for none",
	  OPTION_COUNT, FIELD(folds) },
	{ 0, "split", FOLDS_WORDS, NULL, "fit, select: how rows become folds", OPTION_CHOICE,
	  FIELD(split) },
	{ 0, "by", "LIST", NULL, "fit, select: columns that the split goes by", OPTION_TEXT,
	  FIELD(by) },
	{ 0, "time", "COLUMN", NULL,
	  "fit, select: rows have this time, and are judged by earlier ones", OPTION_TEXT,
	  FIELD(time) },
	{ 'b', "budget", "N", "30", "select: candidates per method", OPTION_COUNT, FIELD(budget) },
	{ 0, "score", SELECTION_SCORES, NULL, "select: what the best has best", OPTION_CHOICE,
	  FIELD(score) },
	{ 'a', "all", NULL, NULL, "select: show every candidate, not the best of each method",
	  OPTION_FLAG, FIELD(all) },
	{ 0, "calibrate", CALIBRATION_WORDS, "none",
	  "fit: make chances of two classes mean what they say", OPTION_CHOICE, FIELD(calibrate) },
	{ 0, "refresh", "MODEL", NULL, "fit: let this model learn the rows of DATA as well",
	  OPTION_TEXT, FIELD(refresh) },
	{ 0, "coverage", "SHARE", "0.9", "predict, describe: share of truths inside intervals",
	  OPTION_TEXT, FIELD(coverage) },
	{ 's', "seed", "N", "1", "fit, select: the same seed gives the same result", OPTION_COUNT,
	  FIELD(seed) },
	{ 'T', "threads", "N", NULL, "threads to work with; else as many as there are cores",
	  OPTION_COUNT, FIELD(threads) },
	{ 'o', "output", "FILE", NULL, "fit, select: write the model; predict: write the CSV",
	  OPTION_TEXT, FIELD(output) },
	{ 'j', "json", NULL, NULL, "print one JSON object of schema " LEARN_SCHEMA, OPTION_FLAG,
	  FIELD(json) },
	{ 0 }
};

#undef FIELD

int learn_fail(const struct command *command, int r, const struct err *err)
{
	command_fail(command, "%s", err->text);
	return r == -ENODATA ? COMMAND_NO_DATA : COMMAND_FAILED;
}

unsigned learn_threads(const struct learn_args *args)
{
	uint64_t threads = args->threads == OPTION_NONE ? parallel_cores() : args->threads;

	return threads > 1024 ? 1024 : (unsigned)threads;
}

int learn_coverage(const struct command *command, double *coverage)
{
	const struct learn_args *args = command->args;
	char *end;

	*coverage = strtod(args->coverage, &end);
	if (end == args->coverage || *end || !(*coverage > 0 && *coverage < 1))
		return command_misuse(command, "--coverage: \"%s\" is not a share such as 0.9",
				      args->coverage);
	return COMMAND_GOOD;
}

/* ---- plans ---- */

int learn_target(const struct command *command)
{
	const struct learn_args *args = command->args;

	if (!args->target)
		return command_misuse(command, "--target: which column is to be learnt?");
	if (args->classify && args->logarithm)
		return command_misuse(command, "--log is for numbers, --classify for classes");
	return COMMAND_GOOD;
}

void learn_plan(struct model_plan *plan, const struct learn_args *args, char *split, size_t cap)
{
	*plan = (struct model_plan){
		.target = args->target,
		.features = args->features,
		.time = args->time,
		.by = args->by,
		.classify = args->classify,
		.folds = args->folds,
		.calibration = (enum calibration_kind)args->calibrate,
		.effort = { .seed = args->seed, .threads = learn_threads(args) },
	};
	if (args->split >= 0) {
		option_choice_name(FOLDS_WORDS, args->split, split, cap);
		plan->split = split;
	}
}

/* "forest:trees=100" */
static int learner_read(const struct command *command, struct pipeline_plan *plan)
{
	const struct learn_args *args = command->args;
	size_t n = strcspn(args->learner, ":");
	AUTO_FREE char *name = xstrndup(args->learner, n);
	unsigned task = args->classify ? LEARNER_CLASSIFIES : LEARNER_REGRESSES;
	const struct learner_ops *learner;
	struct err err = { 0 };

	learner = learner_find(name, task, &err);
	if (!learner)
		return command_misuse(command, "--learner: %s", err.text);
	pipeline_plan_init(plan, learner);
	plan->recipe = args->recipe;
	plan->log_target = args->logarithm;
	if (learner_parse(learner, args->learner[n] ? args->learner + n + 1 : "", plan->settings,
			  &err) < 0)
		return command_misuse(command, "--learner: %s", err.text);
	if (args->recipe && preparation_check(args->recipe, &err) < 0)
		return command_misuse(command, "--recipe: %s", err.text);
	return COMMAND_GOOD;
}

void learn_left_out(const struct command *command, size_t rows, const char *target)
{
	if (rows)
		command_warn(command, "%zu rows without a value of %s were left out", rows, target);
}

/* ---- fit ---- */

static int fit_done(const struct command *command, const struct model *model)
{
	const struct learn_args *args = command->args;
	struct err err = { 0 };
	double coverage;
	int ret = learn_coverage(command, &coverage);

	if (ret)
		return ret;
	if (args->output && model_save(model, args->output, &err) < 0)
		return command_fail(command, "%s", err.text);
	learn_show_model(NULL, model, coverage, args->json);
	if (args->output && !args->json)
		fprintf(stderr, "sluice learn: written to %s\n", args->output);
	return command_finish(command);
}

static int fit_refresh(const struct command *command, const struct dataset *dataset)
{
	const struct learn_args *args = command->args;
	struct effort effort = { .seed = args->seed, .threads = learn_threads(args) };
	struct err err = { 0 };
	struct model model;
	int r = model_load(&model, args->refresh, &err);

	if (r < 0)
		return learn_fail(command, r, &err);
	r = model_refresh(&model, dataset, &effort, &err);
	r = r < 0 ? learn_fail(command, r, &err) : fit_done(command, &model);
	model_release(&model);
	return r;
}

static int fit_new(const struct command *command, const struct dataset *dataset)
{
	const struct learn_args *args = command->args;
	struct model_plan plan;
	struct model model;
	struct err err = { 0 };
	char split[32];
	int r;

	learn_plan(&plan, args, split, sizeof(split));
	r = learner_read(command, &plan.pipeline);
	if (r)
		return r;
	r = model_fit(&model, dataset, &plan, &err);
	if (r < 0)
		return learn_fail(command, r, &err);
	learn_left_out(command, dataset->rows - model.origin.rows, args->target);
	r = fit_done(command, &model);
	model_release(&model);
	return r;
}

static int verb_fit(struct command *command)
{
	const struct learn_args *args = command->args;
	AUTO_DATASET struct dataset dataset = { 0 };
	struct err err = { 0 };
	int r = args->refresh ? COMMAND_GOOD : learn_target(command);

	if (r)
		return r;
	if (args->refresh && !args->output)
		return command_misuse(command, "--refresh: name the new model by --output");
	r = csv_read(&dataset, command->argv[1], &err);
	if (r < 0)
		return learn_fail(command, r, &err);
	return args->refresh ? fit_refresh(command, &dataset) : fit_new(command, &dataset);
}

/* ---- describe ---- */

static int describe_model(struct command *command, const char *path)
{
	const struct learn_args *args = command->args;
	struct model model;
	struct err err = { 0 };
	double coverage;
	int r = learn_coverage(command, &coverage);

	if (r)
		return r;
	r = model_load(&model, path, &err);
	if (r < 0)
		return learn_fail(command, r, &err);
	learn_show_model(path, &model, coverage, args->json);
	model_release(&model);
	return command_finish(command);
}

static int verb_describe(struct command *command)
{
	const struct learn_args *args = command->args;
	const char *path = command->argc > 1 ? command->argv[1] : NULL;
	AUTO_DATASET struct dataset dataset = { 0 };
	struct err err = { 0 };
	int r;

	if (!path) {
		learn_show_methods(args->json);
		return command_finish(command);
	}
	if (model_probe(path))
		return describe_model(command, path);
	r = csv_read(&dataset, path, &err);
	if (r < 0)
		return learn_fail(command, r, &err);
	learn_show_table(path, &dataset, args->json);
	return command_finish(command);
}

static const struct {
	struct verb verb;
	int (*run)(struct command *command);
} verbs[] = {
	{ { "fit", "DATA", 1, 1 }, verb_fit },
	{ { "select", "DATA", 1, 1 }, learn_select },
	{ { "predict", "MODEL DATA", 2, 2 }, learn_predict },
	{ { "describe", "[MODEL|DATA]", 0, 1 }, verb_describe },
	{ .verb = { 0 } },
};

static int learn_run(struct command *command)
{
	const struct learn_args *args = command->args;
	int row = verb_choose(command, command->argv[0], &verbs[0].verb, sizeof(verbs[0]));

	if (row < 0)
		return COMMAND_MISUSE;
	if (!args->threads)
		return command_misuse(command, "--threads: there must be one at least");
	return verbs[row].run(command);
}

const struct command_ops command_learn = {
	.name = "learn",
	.help = "learn from a table: fit models, choose among methods, predict",
	.operands = "fit|select|predict|describe [FILE]...",
	.operands_min = 1,
	.operands_max = 3,
	.about =
		"DATA is a CSV, plain or gzip, whose first line names its columns; texts are "
		"taken as they are, and - is standard input.\n\n"
		"  sluice learn select DATA --target bw        which method predicts bw best?\n"
		"  sluice learn fit DATA --target bw -o M      a model of one method\n"
		"  sluice learn predict M NEW                  NEW with its predictions, as CSV\n"
		"  sluice learn describe [M|DATA]              a model, a table, or the methods\n\n"
		"A score is always that of rows which the model had not seen. Rows that are "
		"repetitions of one configuration must not be split, else the score tells how "
		"well the model remembers: --by nodes,size keeps together what agrees in these "
		"columns (grouped folds). Rows in time are judged by earlier ones with --time. "
		"Other splits are plain, stratified (the default for classes), blocked (in "
		"time), and given (--by names the column of the fold).\n\n"
		"select tries each method with its defaults and with settings drawn at random, "
		"and ranks them by the mean over folds of RMSE (numbers) or accuracy (classes), "
		"or by --score. Interrupted, it shows what is complete; exit status 1 then "
		"tells so.\n\n"
		"predict adds the columns prediction, and low and high (numbers: the interval "
		"that has the truth with the chance --coverage) or chance_CLASS. If the target "
		"is in the table, it tells on standard error how good the predictions are.\n\n"
		"Methods, their settings and preparations are listed by describe. Models are "
		"files; one that is damaged, foreign or of a later version is refused.",
	.options = learn_options,
	.args_bytes = sizeof(struct learn_args),
	.run = learn_run,
};
