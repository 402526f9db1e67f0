/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice model fit and show: learn the cost of elemental operations from measurements, and print
 * how well that worked.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "base/place.h"
#include "base/term.h"
#include "base/trusted.h"
#include "cmd/model/model.h"
#include "learn/learner.h"
#include "predict/model/costs/rows.h"
#include "store/elements.h"
#include "tune/program/identity.h"

#define FIELD(name) offsetof(struct model_args, name)
#define ALL_OPTION                                                                          \
	{                                                                                   \
		0, "all", NULL, NULL, "show every candidate model, not only the best ones", \
			OPTION_FLAG, FIELD(all)                                             \
	}

static const struct option fit_options[] = {
	{ 0, "rows", "CSV", NULL, "read measurements from CSV (default: the store)", OPTION_TEXT,
	  FIELD(rows) },
	{ 0, "platform", "NAME", NULL,
	  "use the measurements of this platform (default: this machine)", OPTION_TEXT,
	  FIELD(platform) },
	{ 0, "machine", "NAME|FILE", NULL,
	  "description of the machine (default: by the platform's name, else this machine)",
	  OPTION_TEXT, FIELD(machine) },
	{ 0, "dir", "PATH", ".",
	  "directory that was measured, from which this machine gets the stripes of new files",
	  OPTION_TEXT, FIELD(dir) },
	{ 'm', "model", "FILE", NULL, "write the model to FILE (default: setting model.path)",
	  OPTION_TEXT, FIELD(model) },
	{ 'o', "output", "FILE", NULL, "write the model to FILE; same as --model", OPTION_TEXT,
	  FIELD(output) },
	{ 0, "learners", "METHODS", NULL,
	  "choose among these methods, such as linear,svm (default: all)", OPTION_TEXT,
	  FIELD(learners) },
	{ 0, "candidates", "N", "30", "number of candidate models per method", OPTION_COUNT,
	  FIELD(candidates) },
	{ 'k', "folds", "N", "10", "number of cross-validation folds", OPTION_COUNT, FIELD(folds) },
	{ 0, "no-log", NULL, NULL, "learn seconds instead of their logarithm", OPTION_FLAG,
	  FIELD(no_log) },
	{ 0, "no-lookup", NULL, NULL,
	  "predict from the learned model even for measured configurations", OPTION_FLAG,
	  FIELD(no_lookup) },
	{ 0, "seed", "N", "1", "seed of the random numbers", OPTION_COUNT, FIELD(seed) },
	{ 'T', "threads", "N", NULL, "number of threads (default: all cores)", OPTION_COUNT,
	  FIELD(threads) },
	ALL_OPTION,
	OPTION_INCLUDE(model_json_options, 0),
	{ 0 }
};

static const struct option show_options[] = {
	OPTION_INCLUDE(model_file_options, 0),
	ALL_OPTION,
	OPTION_INCLUDE(model_json_options, 0),
	{ 0 },
};

#undef FIELD

static char *platform_name(const struct command *command, const struct model_args *args)
{
	return identity_platform(args->platform
					 ? args->platform
					 : config_text(command->config, SETTING_TUNE_PLATFORM));
}

static int append_platform(void *arg, const char *platform, uint64_t rows)
{
	struct buf *names = arg;

	(void)rows;
	buf_printf(names, "%s%s", names->len ? ", " : "", platform);
	return 0;
}

/* Reports that a platform has no rows, and which platforms have some. */
static int fail_without_rows(struct store *store, const char *platform, struct err *err)
{
	AUTO_BUF struct buf names = { 0 };

	if (store)
		elements_platforms(store, append_platform, &names, NULL);
	if (names.len)
		return err_set(err, ENODATA,
			       "no measurements of %s; choose one of %s with --platform", platform,
			       buf_text(&names));
	return err_set(err, ENODATA,
		       "no measurements of %s yet: run 'sluice model measure' once, or name a "
		       "file with --rows",
		       platform);
}

static int load_stored_rows(const struct command *command, const char *platform,
			    struct elements *rows, struct err *err)
{
	struct store *store = NULL;
	int r = store_open_existing(&store, config_text(command->config, SETTING_STORE_PATH), err);

	if (r == -ENOENT)
		return fail_without_rows(NULL, platform, err);
	if (r >= 0)
		r = elements_load(store, platform, NULL, rows, err);
	if (r >= 0 && !rows->count)
		r = fail_without_rows(store, platform, err);
	store_close(store);
	return r;
}

/* Reads the rows of one platform from --rows; *platform becomes its name. */
static int load_rows_file(const struct model_args *args, char **platform, struct elements *rows,
			  struct err *err)
{
	const char *wanted = args->platform;
	size_t kept = 0;
	int r = rows_read(rows, args->rows, err);

	if (r < 0)
		return r;
	if (!wanted && rows->count)
		wanted = rows->rows[0].platform;
	for (size_t i = 0; i < rows->count; i++) {
		if (strcmp(rows->rows[i].platform, wanted) == 0)
			rows->rows[kept++] = rows->rows[i];
		else if (!args->platform)
			return err_set(err, EINVAL,
				       "%s has rows of %s and of %s; choose one with --platform",
				       args->rows, wanted, rows->rows[i].platform);
	}
	rows->count = kept;
	if (!kept)
		return err_set(err, ENODATA, "%s has no rows%s%s", args->rows, wanted ? " of " : "",
			       wanted ? wanted : "");
	free(*platform);
	*platform = xstrdup(rows->rows[0].platform);
	return 0;
}

struct shown {
	struct progress progress;
	int operation; /* -1: none yet */
};

static bool show_progress(void *arg, enum operation operation, size_t done, size_t total)
{
	struct shown *shown = arg;

	if (shown->operation != (int)operation) {
		if (shown->operation >= 0)
			progress_end(&shown->progress);
		progress_start(&shown->progress, operations[operation].title, total);
		shown->operation = (int)operation;
	}
	progress_show(&shown->progress, done);
	return false;
}

static int learn_costs(const struct command *command, const struct model_args *args,
		       const struct machine *machine, const struct elements *rows,
		       struct hybrid *hybrid)
{
	AUTO_FREE const struct learner_ops **methods = NULL;
	struct shown shown = { .operation = -1 };
	struct costs_plan plan = {
		.budget = args->candidates,
		.folds = args->folds,
		.plain_target = args->no_log,
		.surrogates_alone = args->no_lookup,
		.seed = args->seed,
		.threads =
			args->threads == OPTION_NONE ? parallel_cores() : (unsigned)args->threads,
		.progress = show_progress,
		.progress_arg = &shown,
	};
	struct err err = { 0 };
	int r;

	if (!args->candidates)
		return command_misuse(command, "--candidates must be at least 1");
	if (args->folds < 2)
		return command_misuse(command, "--folds must be at least 2");
	if (!args->threads)
		return command_misuse(command, "--threads must be at least 1");
	if (args->learners &&
	    learner_find_all(args->learners, LEARNER_REGRESSES, &methods, &err) < 0)
		return command_misuse(command, "--learners: %s", err.text);
	plan.learners = methods;
	r = hybrid_fit(hybrid, machine, rows, &plan, &err);
	if (shown.operation >= 0)
		progress_end(&shown.progress);
	if (r < 0)
		return command_fail_err(command, r, &err);
	return COMMAND_GOOD;
}

/* Creates the directory of the default path if necessary. */
static int save_model(const struct command *command, const struct model_args *args,
		      const struct hybrid *hybrid, const char *path)
{
	struct err err = { 0 };
	int r = 0;

	if (!args->output && !args->model)
		r = place_make_parent(path, TRUSTED_DIRECTORY_MODE, &err);
	if (r >= 0)
		r = hybrid_save(hybrid, path, &err);
	return r < 0 ? command_fail_err(command, r, &err) : COMMAND_GOOD;
}

static int show_model(const struct command *command, const struct model_args *args,
		      const struct hybrid *hybrid, const char *path)
{
	struct json json;

	if (args->json) {
		json_start(&json, stdout, MODEL_SCHEMA);
		json_text(&json, "path", path);
		hybrid_json(hybrid, &json, HYBRID_CANDIDATES);
		json_end(&json);
	} else {
		model_show_costs(hybrid, args->all);
	}
	return command_finish(command);
}

static int fit_rows(const struct command *command, const struct model_args *args,
		    const struct machine *machine, const struct elements *rows)
{
	AUTO_FREE char *path = args->output ? xstrdup(args->output) : model_path(command, args);
	struct hybrid hybrid = { 0 };
	int ret = learn_costs(command, args, machine, rows, &hybrid);

	if (!ret)
		ret = save_model(command, args, &hybrid, path);
	if (!ret)
		ret = show_model(command, args, &hybrid, path);
	if (!ret)
		term_printf(stderr, "sluice model fit: wrote %s\n", path);
	hybrid_release(&hybrid);
	return ret;
}

static int fit_run(struct command *command)
{
	const struct model_args *args = command->args;
	AUTO_FREE char *platform = platform_name(command, args);
	struct elements rows = { 0 };
	struct machine machine;
	struct err err = { 0 };
	int r = args->rows ? load_rows_file(args, &platform, &rows, &err)
			   : load_stored_rows(command, platform, &rows, &err);

	if (r >= 0)
		r = model_machine(args, platform, &machine, &err);
	r = r < 0 ? command_fail_err(command, r, &err) : fit_rows(command, args, &machine, &rows);
	elements_release(&rows);
	return r;
}

static int show_run(struct command *command)
{
	const struct model_args *args = command->args;
	struct model_args wanted = *args;
	struct hybrid hybrid = { 0 };
	AUTO_FREE char *path = NULL;
	int ret;

	if (command->argc)
		wanted.model = command->argv[0];
	path = model_path(command, &wanted);
	ret = model_open(command, &wanted, &hybrid);
	if (ret)
		return ret;
	if (!args->json)
		term_sentence(stdout, "%s: cost of operations on %s\n\n", path,
			      hybrid.machine.title);
	ret = show_model(command, args, &hybrid, path);
	hybrid_release(&hybrid);
	return ret;
}

const struct command_ops command_model_fit = {
	.name = "fit",
	.help = "learn the cost of elemental operations from measurements",
	.about = "Several methods compete for each operation, judged by cross-validation on "
		 "arguments that they had not seen. Repeated measurements with the same arguments "
		 "are averaged. The ranking is stored with the model ('sluice model show --all').",
	.options = fit_options,
	.args_bytes = sizeof(struct model_args),
	.run = fit_run,
};

const struct command_ops command_model_show = {
	.name = "show",
	.help = "show how well each cost was learned",
	.operands = "[MODEL]",
	.operands_max = 1,
	.about = "Without MODEL, the model of --model is shown.\n\n"
		 "  sluice model show --all",
	.options = show_options,
	.args_bytes = sizeof(struct model_args),
	.run = show_run,
};
