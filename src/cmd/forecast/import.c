/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice forecast import: adds probe data from files to the store: files that ranks have spooled,
 * exports of other machines, or the data of the paper.
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
#include "store/store.h"

static const struct option import_options[] = {
	{ 0, "system", "NAME", NULL,
	  "name that the probe data is stored under (default: as in the file, else setting "
	  "probe.system)",
	  OPTION_TEXT, offsetof(struct probe_args, system) },
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

static int import_file(struct import *import, const char *path, struct chronicle *chronicle,
		       struct err *err)
{
	struct blocks_facts facts;
	int r = blocks_read(chronicle, path, import->key, &facts, err);

	if (r < 0)
		return r;
	set_system(import, chronicle);
	if (facts.torn)
		command_warn(import->command,
			     "%s:%zu: incomplete block, because its writer was killed; a row or a "
			     "job list is missing%s",
			     path, facts.torn_line,
			     facts.torn > 1 ? ", here and in other places" : "");
	if (facts.blocks)
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
		 "already has is not added again.\n\n"
		 "  sluice forecast import rows/*",
	.options = import_options,
	.args_bytes = sizeof(struct probe_args),
	.run = import_run,
};
