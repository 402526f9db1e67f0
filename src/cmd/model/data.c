/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice model data: lists, exports, imports and deletes the rows of `sluice model measure`.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cmd/model/measure.h"
#include "predict/model/costs/rows.h"
#include "store/elements.h"

struct data_args {
	const char *platform, *output;
	bool json;
};

static const struct option list_options[] = {
	{ 0, "platform", "NAME", NULL, "list only the measurements of this platform", OPTION_TEXT,
	  offsetof(struct data_args, platform) },
	{ 'j', "json", NULL, NULL, "print one JSON object of schema " MEASURE_SCHEMA, OPTION_FLAG,
	  offsetof(struct data_args, json) },
	{ 0 }
};

static const struct option export_options[] = {
	{ 0, "platform", "NAME", NULL,
	  "use the measurements of this platform (default: this machine)", OPTION_TEXT,
	  offsetof(struct data_args, platform) },
	{ 'o', "output", "FILE", "-", "write to FILE; - is standard output", OPTION_TEXT,
	  offsetof(struct data_args, output) },
	{ 0 }
};

static const struct option import_options[] = {
	{ 0, "platform", "NAME", NULL,
	  "name that the measurements are stored under (default: as in the file)", OPTION_TEXT,
	  offsetof(struct data_args, platform) },
	{ 0 }
};

/* Opens the store, calls `run`, and turns its result into an exit code. */
static int with_store(struct command *command, bool create,
		      int (*run)(struct command *command, struct store *store, struct err *err))
{
	const char *path = config_text(command->config, SETTING_STORE_PATH);
	struct store *store = NULL;
	struct err err = { 0 };
	int r = create ? store_open(&store, path, &err) : store_open_existing(&store, path, &err);

	if (r >= 0)
		r = run(command, store, &err);
	store_close(store);
	return r < 0 ? command_fail_err(command, r, &err) : command_finish(command);
}

static int export_rows(struct command *command, struct store *store, struct err *err)
{
	const struct data_args *args = command->args;
	AUTO_FREE char *platform = measure_platform(command, args->platform);
	struct elements rows = { 0 };
	int r = elements_load(store, platform, NULL, &rows, err);

	if (r >= 0 && !rows.count)
		r = err_set(err, ENODATA, "no measurements of \"%s\"", platform);
	if (r >= 0)
		r = rows_save(&rows, args->output, err);
	elements_release(&rows);
	return r;
}

static int import_rows(struct command *command, struct store *store, struct err *err)
{
	const struct data_args *args = command->args;
	struct elements rows = { 0 };
	int r = rows_read(&rows, command->argv[0], err);

	for (size_t i = 0; r >= 0 && args->platform && i < rows.count; i++)
		snprintf(rows.rows[i].platform, ELEMENT_PLATFORM, "%s", args->platform);
	if (r >= 0) {
		rows_number(&rows);
		r = elements_save(store, rows.rows, rows.count, err);
	}
	if (r >= 0)
		fprintf(stderr, "sluice model data import: imported %zu rows\n", rows.count);
	elements_release(&rows);
	return r;
}

static int forget_rows(struct command *command, struct store *store, struct err *err)
{
	return elements_forget(store, command->argv[0], err);
}

static int list_run(struct command *command)
{
	const struct data_args *args = command->args;
	struct store *store = NULL;
	struct err err = { 0 };
	int ret;

	if (store_open(&store, config_text(command->config, SETTING_STORE_PATH), &err) < 0)
		return command_fail(command, "%s", err.text);
	ret = measure_show_list(command, args->platform, args->json, store);
	store_close(store);
	return ret;
}

static int export_run(struct command *command)
{
	return with_store(command, false, export_rows);
}

static int import_run(struct command *command)
{
	const struct data_args *args = command->args;

	if (args->platform && (!*args->platform || strlen(args->platform) >= ELEMENT_PLATFORM))
		return command_misuse(command, "--platform must have between 1 and %d characters",
				      ELEMENT_PLATFORM - 1);
	return with_store(command, true, import_rows);
}

static int forget_run(struct command *command)
{
	return with_store(command, false, forget_rows);
}

static const struct command_ops command_list = {
	.name = "list",
	.help = "list platforms and summarize their measurements",
	.options = list_options,
	.args_bytes = sizeof(struct data_args),
	.run = list_run,
};

static const struct command_ops command_export = {
	.name = "export",
	.help = "write the measurements of a platform as CSV",
	.about = "  sluice model data export -o machine.csv",
	.options = export_options,
	.args_bytes = sizeof(struct data_args),
	.flags = COMMAND_NO_JSON,
	.run = export_run,
};

static const struct command_ops command_import = {
	.name = "import",
	.help = "add measurements from a CSV file to the store",
	.operands = "FILE",
	.operands_min = 1,
	.operands_max = 1,
	.options = import_options,
	.args_bytes = sizeof(struct data_args),
	.flags = COMMAND_NO_JSON,
	.run = import_run,
};

static const struct command_ops command_forget = {
	.name = "forget",
	.help = "delete the measurements of a platform",
	.operands = "PLATFORM",
	.operands_min = 1,
	.operands_max = 1,
	.args_bytes = sizeof(struct data_args),
	.flags = COMMAND_NO_JSON,
	.run = forget_run,
};

static const struct command_ops *const subcommands[] = { &command_list, &command_export,
							 &command_import, &command_forget, NULL };

const struct command_ops command_model_data = {
	.name = "data",
	.help = "list, exchange and delete the measurements that models are fitted to",
	.subcommands = subcommands,
	.fallback = "list",
};
