/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice lab learn fit: fits a model of one method to a table, or updates a fitted model.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "lab/learn/learn.h"
#include "lab/learn/print.h"
#include "learn/model/model.h"
#include "learn/table/csv.h"
#include "learn/table/dataset.h"

struct fit_args {
	struct learn_task task;
	const char *learner, *recipe, *refresh, *coverage, *output;
	int calibrate;
	bool json;
};

#define FIELD(name) offsetof(struct fit_args, name)

static const struct option fit_options[] = {
	OPTION_INCLUDE(learn_task_options, FIELD(task)),
	{ 0, "learner", "METHOD", "forest", "use this method, such as forest or forest:trees=100",
	  OPTION_TEXT, FIELD(learner) },
	{ 0, "recipe", "RECIPE", NULL,
	  "prepare inputs in these steps, such as fill,scale, or none (default: the method's own)",
	  OPTION_TEXT, FIELD(recipe) },
	{ 0, "calibrate", CALIBRATION_WORDS, "none",
	  "calibrate the probabilities of two classes with this method", OPTION_CHOICE,
	  FIELD(calibrate) },
	{ 0, "refresh", "MODEL", NULL,
	  "update this model with the rows of DATA instead of fitting a new one", OPTION_TEXT,
	  FIELD(refresh) },
	{ 0, "coverage", "SHARE", LEARN_COVERAGE, "show the prediction interval with this coverage",
	  OPTION_TEXT, FIELD(coverage) },
	{ 'o', "output", "FILE", NULL, "write the model to FILE", OPTION_TEXT, FIELD(output) },
	{ 'j', "json", NULL, NULL, "print one JSON object of schema " LEARN_SCHEMA, OPTION_FLAG,
	  FIELD(json) },
	{ 0 }
};

#undef FIELD

/* Parses a method with its settings, such as "forest:trees=100", and the recipe. */
static int parse_method(const struct command *command, struct pipeline_plan *plan)
{
	const struct fit_args *args = command->args;
	size_t n = strcspn(args->learner, ":");
	AUTO_FREE char *name = xstrndup(args->learner, n);
	unsigned task = args->task.classify ? LEARNER_CLASSIFIES : LEARNER_REGRESSES;
	const struct learner_ops *learner;
	struct err err = { 0 };

	learner = learner_find(name, task, &err);
	if (!learner)
		return command_misuse(command, "--learner: %s", err.text);
	pipeline_plan_init(plan, learner);
	plan->recipe = args->recipe;
	plan->log_target = args->task.logarithm;
	if (learner_parse(learner, args->learner[n] ? args->learner + n + 1 : "", plan->settings,
			  &err) < 0)
		return command_misuse(command, "--learner: %s", err.text);
	if (args->recipe && preparation_check(args->recipe, &err) < 0)
		return command_misuse(command, "--recipe: %s", err.text);
	return COMMAND_GOOD;
}

static int save_and_show(const struct command *command, const struct model *model)
{
	const struct fit_args *args = command->args;
	struct err err = { 0 };
	double coverage;
	int ret = learn_parse_coverage(command, args->coverage, &coverage);

	if (ret)
		return ret;
	if (args->output && model_save(model, args->output, &err) < 0)
		return command_fail(command, "%s", err.text);
	learn_print_model(NULL, model, coverage, args->json);
	if (args->output && !args->json)
		learn_note(command, "wrote the model to %s", args->output);
	return command_finish(command);
}

static int update_model(const struct command *command, const struct dataset *dataset)
{
	const struct fit_args *args = command->args;
	struct effort effort = { .seed = args->task.seed, .threads = learn_threads(&args->task) };
	struct err err = { 0 };
	struct model model;
	int r = model_load(&model, args->refresh, &err);

	if (r < 0)
		return learn_fail(command, r, &err);
	r = model_refresh(&model, dataset, &effort, &err);
	r = r < 0 ? learn_fail(command, r, &err) : save_and_show(command, &model);
	model_release(&model);
	return r;
}

static int fit_new_model(const struct command *command, const struct dataset *dataset)
{
	const struct fit_args *args = command->args;
	struct model_plan plan;
	struct model model;
	struct err err = { 0 };
	char split[32];
	int r;

	learn_make_plan(&plan, &args->task, split, sizeof(split));
	plan.calibration = (enum calibration_kind)args->calibrate;
	r = parse_method(command, &plan.pipeline);
	if (r)
		return r;
	r = model_fit(&model, dataset, &plan, &err);
	if (r < 0)
		return learn_fail(command, r, &err);
	learn_warn_empty(command, dataset);
	learn_warn_left_out(command, dataset->rows - model.origin.rows, args->task.response);
	r = save_and_show(command, &model);
	model_release(&model);
	return r;
}

static int fit_run(struct command *command)
{
	const struct fit_args *args = command->args;
	AUTO_DATASET struct dataset dataset = { 0 };
	struct err err = { 0 };
	int r = learn_check_threads(command, &args->task);

	if (!r && !args->refresh)
		r = learn_check_response(command, &args->task);
	if (r)
		return r;
	if (args->refresh && !args->output)
		return command_misuse(command,
				      "--refresh requires --output, the file for the new model");
	r = csv_read(&dataset, command->argv[0], &err);
	if (r < 0)
		return learn_fail(command, r, &err);
	return args->refresh ? update_model(command, &dataset) : fit_new_model(command, &dataset);
}

const struct command_ops command_learn_fit = {
	.name = "fit",
	.help = "fit a model of one method",
	.operands = "DATA",
	.operands_min = 1,
	.operands_max = 1,
	.about =
		"Fits one method to the table and prints its cross-validated score, its prediction "
		"interval and the importance of its inputs. --folds 0 skips the "
		"cross-validation.\n\n"
		"'sluice lab learn show' lists the methods, their settings and the preparations. "
		"--split is one of plain, stratified (the default for classes), grouped (the "
		"default with --by), blocked and forward (blocks in time; forward is the default "
		"with --time-column), and given (--by names the column with the fold).\n\n"
		"  sluice lab learn fit runs.csv --response bw --learner svm --by nodes,size "
		"-o bw.model\n"
		"  sluice lab learn fit new.csv --refresh old.model -o new.model",
	.options = fit_options,
	.args_bytes = sizeof(struct fit_args),
	.run = fit_run,
};
