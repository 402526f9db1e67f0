/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice lab learn show: describes a model, a table or the available methods.
 */
#include "base/mem.h"
#include "lab/learn/learn.h"
#include "lab/learn/print.h"
#include "learn/model/model.h"
#include "learn/table/csv.h"
#include "learn/table/dataset.h"

struct show_args {
	const char *coverage;
	bool json;
};

static const struct option show_options[] = {
	{ 0, "coverage", "SHARE", LEARN_COVERAGE,
	  "show the prediction interval of a model with this coverage", OPTION_TEXT,
	  offsetof(struct show_args, coverage) },
	{ 'j', "json", NULL, NULL, "print one JSON object of schema " LEARN_SCHEMA, OPTION_FLAG,
	  offsetof(struct show_args, json) },
	{ 0 }
};

static int show_model(struct command *command, const char *path)
{
	const struct show_args *args = command->args;
	struct model model;
	struct err err = { 0 };
	double coverage;
	int r = learn_parse_coverage(command, args->coverage, &coverage);

	if (r)
		return r;
	r = model_load(&model, path, &err);
	if (r < 0)
		return learn_fail(command, r, &err);
	learn_print_model(path, &model, coverage, args->json);
	model_release(&model);
	return command_finish(command);
}

static int show_run(struct command *command)
{
	const struct show_args *args = command->args;
	const char *path = command->argc ? command->argv[0] : NULL;
	AUTO_DATASET struct dataset dataset = { 0 };
	struct err err = { 0 };
	int r;

	if (!path) {
		learn_print_methods(args->json);
		return command_finish(command);
	}
	if (model_probe(path))
		return show_model(command, path);
	r = csv_read(&dataset, path, &err);
	if (r < 0)
		return learn_fail(command, r, &err);
	learn_print_table(path, &dataset, args->json);
	return command_finish(command);
}

const struct command_ops command_learn_show = {
	.name = "show",
	.help = "describe a model, a table or the available methods",
	.operands = "[MODEL|DATA]",
	.operands_max = 1,
	.about = "Describes a fitted model or the columns of a table. Without a file, lists the "
		 "methods, their settings and their preparations.",
	.options = show_options,
	.args_bytes = sizeof(struct show_args),
	.run = show_run,
};
