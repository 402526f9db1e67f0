/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice model fit and describe: costs of operations from rows of benchmarks.
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
#include "cmd/model/model.h"
#include "learn/learner.h"
#include "predict/model/costs/rows.h"
#include "store/elements.h"
#include "tune/program/identity.h"

/* ---- rows ---- */

static char *platform_name(const struct command *command, const struct model_args *args)
{
	return identity_platform(args->platform
					 ? args->platform
					 : config_text(command->config, SETTING_TUNE_PLATFORM));
}

static int platform_list(void *arg, const char *platform, uint64_t rows)
{
	struct buf *names = arg;

	(void)rows;
	buf_printf(names, "%s%s", names->len ? ", " : "", platform);
	return 0;
}

/* What there is instead, for who mistyped a name. */
static int rows_missing(struct store *store, const char *platform, struct err *err)
{
	AUTO_BUF struct buf names = { 0 };

	if (store)
		elements_platforms(store, platform_list, &names, NULL);
	if (names.len)
		return err_set(err, ENODATA,
			       "there are no benchmarks of %s; there are some of %s (--platform)",
			       platform, buf_text(&names));
	return err_set(err, ENODATA,
		       "there are no benchmarks of %s yet: run 'sluice bench comm' and 'sluice "
		       "bench storage' once, or name rows by --rows",
		       platform);
}

static int rows_stored(const struct command *command, const char *platform, struct elements *rows,
		       struct err *err)
{
	struct store *store = NULL;
	int r = store_open_existing(&store, config_text(command->config, SETTING_STORE_PATH), err);

	if (r == -ENOENT)
		return rows_missing(NULL, platform, err);
	if (r >= 0)
		r = elements_load(store, platform, NULL, rows, err);
	if (r >= 0 && !rows->count)
		r = rows_missing(store, platform, err);
	store_close(store);
	return r;
}

/* Those of one platform; *platform becomes its name. */
static int rows_filed(const struct model_args *args, char **platform, struct elements *rows,
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
				       "%s has rows of %s and of %s: choose by --platform",
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

/* ---- fit ---- */

struct shown {
	struct progress progress;
	int operation; /* -1: none yet */
};

static bool fit_progress(void *arg, enum operation operation, size_t done, size_t total)
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

static int costs_learn(const struct command *command, const struct model_args *args,
		       const struct machine *machine, const struct elements *rows,
		       struct hybrid *hybrid)
{
	AUTO_FREE const struct learner_ops **methods = NULL;
	struct shown shown = { .operation = -1 };
	struct costs_plan plan = {
		.budget = args->budget,
		.folds = args->folds,
		.plain_target = args->plain,
		.surrogates_alone = args->alone,
		.seed = args->seed,
		.threads =
			args->threads == OPTION_NONE ? parallel_cores() : (unsigned)args->threads,
		.progress = fit_progress,
		.progress_arg = &shown,
	};
	struct err err = { 0 };
	int r;

	if (!args->budget || args->folds < 2)
		return command_misuse(command, "--budget must be 1 at least, --folds 2");
	if (args->learners &&
	    learner_find_all(args->learners, LEARNER_REGRESSES, &methods, &err) < 0)
		return command_misuse(command, "--learners: %s", err.text);
	plan.learners = methods;
	r = hybrid_fit(hybrid, machine, rows, &plan, &err);
	if (shown.operation >= 0)
		progress_end(&shown.progress);
	if (r < 0)
		return model_fail(command, r, &err);
	return COMMAND_GOOD;
}

/* The folder of the default path may not be there yet. */
static int model_keep(const struct command *command, const struct model_args *args,
		      const struct hybrid *hybrid, const char *path)
{
	struct err err = { 0 };
	int r = 0;

	if (!args->output && !args->model)
		r = place_make_parent(path, 0777, &err);
	if (r >= 0)
		r = hybrid_save(hybrid, path, &err);
	return r < 0 ? model_fail(command, r, &err) : COMMAND_GOOD;
}

static int fit_show(const struct command *command, const struct model_args *args,
		    const struct hybrid *hybrid, const char *path)
{
	struct json json;

	if (args->json) {
		json_start(&json, stdout, MODEL_SCHEMA);
		json_text(&json, "path", path);
		model_json_costs(&json, hybrid);
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
	int ret = costs_learn(command, args, machine, rows, &hybrid);

	if (!ret)
		ret = model_keep(command, args, &hybrid, path);
	if (!ret)
		ret = fit_show(command, args, &hybrid, path);
	if (!ret)
		fprintf(stderr, "sluice model: written to %s\n", path);
	hybrid_release(&hybrid);
	return ret;
}

int model_fit_costs(struct command *command, const struct model_args *args)
{
	AUTO_FREE char *platform = platform_name(command, args);
	struct elements rows = { 0 };
	struct machine machine;
	struct err err = { 0 };
	int r = args->rows ? rows_filed(args, &platform, &rows, &err)
			   : rows_stored(command, platform, &rows, &err);

	if (r >= 0)
		r = model_machine(args, platform, &machine, &err);
	r = r < 0 ? model_fail(command, r, &err) : fit_rows(command, args, &machine, &rows);
	elements_release(&rows);
	return r;
}

/* ---- describe ---- */

int model_describe_file(struct command *command, const struct model_args *args)
{
	struct model_args wanted = *args;
	struct hybrid hybrid = { 0 };
	AUTO_FREE char *path = NULL;
	int ret;

	if (command->argc > 1)
		wanted.model = command->argv[1];
	path = model_path(command, &wanted);
	ret = model_open(command, &wanted, &hybrid);
	if (ret)
		return ret;
	if (!args->json)
		printf("%s: costs on %s\n\n", path, hybrid.machine.title);
	ret = fit_show(command, args, &hybrid, path);
	hybrid_release(&hybrid);
	return ret;
}
