/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice forecast import: adds probe data from files to the store: files that ranks have spooled,
 * exports of other machines, the data of the paper, or tables of other programs.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/term.h"
#include "cmd/forecast/probe.h"
#include "predict/forecast/chronicle/blocks.h"
#include "predict/forecast/chronicle/samples_table.h"
#include "store/store.h"

static const struct option import_options[] = {
	{ 0, "system", "NAME", NULL,
	  "name that the probe data is stored under (default: as in the file, else setting "
	  "probe.system)",
	  OPTION_TEXT, offsetof(struct probe_args, system) },
	{ 0, "columns", "NAME=COLUMN,...", NULL,
	  "read FILE as a CSV table with one write per row, and these columns: time, target, "
	  "bytes, "
	  "seconds and, if aborted, timeout; a number stands for all rows",
	  OPTION_TEXT, offsetof(struct probe_args, columns) },
	OPTION_INCLUDE(probe_json_options, 0),
	{ 0 },
};

struct import {
	struct command *command;
	const struct probe_args *args;
	struct store *store;
	uint8_t key[OWNER_KEY_BYTES];
	struct json json;
	size_t samples, snapshots;
};

static void show_file(struct import *import, const char *path, const struct chronicle *chronicle,
		      const struct blocks_facts *facts)
{
	if (!import->args->json) {
		term_printf(stderr,
			    "%s: %zu samples of %zu targets and %zu snapshots of jobs, %s\n", path,
			    facts->samples, chronicle->target_count, facts->snapshots,
			    chronicle->system);
		return;
	}
	json_open(&import->json, NULL, '{');
	json_text(&import->json, "path", path);
	json_text(&import->json, "system", chronicle->system);
	json_count(&import->json, "blocks", facts->blocks);
	json_count(&import->json, "targets", chronicle->target_count);
	json_count(&import->json, "samples", facts->samples);
	json_count(&import->json, "snapshots", facts->snapshots);
	json_count(&import->json, "torn", facts->torn);
	json_close(&import->json);
}

/* Sets the name of the system: --system, else the name in the file, else the setting. */
static void set_system(const struct import *import, struct chronicle *chronicle)
{
	AUTO_FREE char *name = NULL;

	if (*chronicle->system && !import->args->system)
		return;
	name = probe_system(import->command, import->args);
	chronicle_rename(chronicle, name);
}

static int read_table(struct import *import, const char *path, struct chronicle *chronicle,
		      struct blocks_facts *facts, struct err *err)
{
	struct samples_table_facts table;
	int r = samples_table_read(chronicle, path, import->args->columns, &table, err);

	if (r < 0) {
		err_prefix(err, "%s", path);
		return r;
	}
	facts->samples = table.samples;
	if (table.skipped)
		command_warn(import->command,
			     "%s: skipped %zu rows without a time, target, size or duration", path,
			     table.skipped);
	return 0;
}

static int import_file(struct import *import, const char *path, struct chronicle *chronicle,
		       struct err *err)
{
	struct blocks_facts facts = { 0 };
	int r = import->args->columns ? read_table(import, path, chronicle, &facts, err)
				      : blocks_read(chronicle, path, import->key, &facts, err);

	if (r < 0)
		return r;
	set_system(import, chronicle);
	if (facts.torn)
		command_warn(import->command,
			     "%s:%zu: incomplete block, because its writer was killed; a row or a "
			     "job list is missing%s",
			     path, facts.torn_line,
			     facts.torn > 1 ? ", here and in other places" : "");
	if (facts.blocks || facts.samples)
		r = chronicle_save(chronicle, import->store, -INFINITY, INFINITY, err);
	else
		command_warn(import->command, "%s: the file contains no probe data", path);
	if (r < 0)
		return r;
	import->samples += facts.samples;
	import->snapshots += facts.snapshots;
	show_file(import, path, chronicle, &facts);
	return 0;
}

static int import_files(struct import *import, struct err *err)
{
	int r = 0;

	for (int i = 0; r >= 0 && i < import->command->argc; i++) {
		struct chronicle chronicle = { 0 };

		r = import_file(import, import->command->argv[i], &chronicle, err);
		chronicle_release(&chronicle);
	}
	return r;
}

static int open_import(struct import *import, struct err *err)
{
	const char *path = config_text(import->command->config, SETTING_STORE_PATH);
	const char *system = import->args->system;
	int r;

	if (system && strlen(system) >= CHRONICLE_NAME)
		return err_set(err, EINVAL, "--system must have at most %d characters",
			       CHRONICLE_NAME - 1);
	r = store_open(&import->store, path, err);
	return r < 0 ? r : probe_owner_key(import->command, import->key, err);
}

static int import_run(struct command *command)
{
	const struct probe_args *args = command->args;
	struct import import = { .command = command, .args = args };
	struct err err = { 0 };
	int r = open_import(&import, &err);

	if (r >= 0 && args->json) {
		json_start(&import.json, stdout, PROBE_SCHEMA);
		json_open(&import.json, "files", '[');
	}
	if (r >= 0)
		r = import_files(&import, &err);
	if (import.json.out)
		json_end(&import.json);
	store_close(import.store);
	if (r < 0) {
		command_fail(command, "%s%s", err.text,
			     import.samples ? " (the files before it were imported)" : "");
		return COMMAND_FAILED;
	}
	if (!import.samples && !import.snapshots)
		return COMMAND_NO_DATA;
	return command_finish(command);
}

const struct command_ops command_forecast_import = {
	.name = "import",
	.help = "add probe data from files to the store",
	.operands = "FILE...",
	.operands_min = 1,
	.operands_max = -1,
	.about = "FILE is written by 'sluice forecast export' or 'sluice forecast probe "
		 "--spool-dir', and may be compressed; - is standard input. Data that the store "
		 "already has is not added again. With --columns, FILE is a table of write times "
		 "that another program has collected.\n\n"
		 "  sluice forecast import rows/*\n"
		 "  sluice forecast import --columns time=start,target=fs,bytes=size runs.csv",
	.options = import_options,
	.args_bytes = sizeof(struct probe_args),
	.run = import_run,
};
