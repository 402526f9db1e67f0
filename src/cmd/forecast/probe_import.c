/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice probe import: files of blocks go to the store; those of ranks that had a spool, of other
 * machines, or of the paper.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "cmd/forecast/probe.h"
#include "predict/forecast/chronicle/blocks.h"
#include "store/store.h"

struct import {
	struct command *command;
	const struct probe_args *args;
	struct store *store;
	uint8_t key[OWNER_KEY_BYTES];
	struct json json;
	size_t samples, snapshots;
};

static void file_show(struct import *import, const char *path, const struct chronicle *chronicle,
		      const struct blocks_facts *facts)
{
	if (!import->args->json) {
		fprintf(stderr, "%s: %zu samples of %zu targets and %zu snapshots of jobs, %s\n",
			path, facts->samples, chronicle->target_count, facts->snapshots,
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

/* The file's own name for the system stands back where one is given, and before a setting. */
static void system_settle(const struct import *import, struct chronicle *chronicle)
{
	AUTO_FREE char *name = NULL;

	if (*chronicle->system)
		return;
	name = probe_system(import->command, import->args);
	snprintf(chronicle->system, sizeof(chronicle->system), "%s", name);
}

static int file_take(struct import *import, const char *path, struct chronicle *chronicle,
		     struct err *err)
{
	struct blocks_facts facts;
	int r;

	if (import->args->system)
		snprintf(chronicle->system, sizeof(chronicle->system), "%s", import->args->system);
	r = blocks_read(chronicle, path, import->key, &facts, err);
	if (r < 0)
		return r;
	system_settle(import, chronicle);
	if (facts.torn)
		command_warn(import->command,
			     "%s:%zu: a block is not complete, as its writer was killed; what is "
			     "missing is a row or a listing%s",
			     path, facts.torn_line, facts.torn > 1 ? ", and more than once" : "");
	if (facts.blocks)
		r = chronicle_save(chronicle, import->store, -INFINITY, INFINITY, err);
	else
		command_warn(import->command, "%s: has no blocks", path);
	if (r < 0)
		return r;
	import->samples += facts.samples;
	import->snapshots += facts.snapshots;
	file_show(import, path, chronicle, &facts);
	return 0;
}

static int files_take(struct import *import, struct err *err)
{
	int r = 0;

	for (int i = 1; r >= 0 && i < import->command->argc; i++) {
		struct chronicle chronicle = { 0 };

		r = file_take(import, import->command->argv[i], &chronicle, err);
		chronicle_release(&chronicle);
	}
	return r;
}

static int import_open(struct import *import, struct err *err)
{
	const char *path = config_text(import->command->config, SETTING_STORE_PATH);
	const char *system = import->args->system;
	int r;

	if (system && strlen(system) >= CHRONICLE_NAME)
		return err_set(err, EINVAL, "--system: a name has at most %d bytes",
			       CHRONICLE_NAME - 1);
	r = store_open(&import->store, path, err);
	return r < 0 ? r : probe_owner_key(import->command, import->key, err);
}

int probe_import(struct command *command, const struct probe_args *args)
{
	struct import import = { .command = command, .args = args };
	struct err err = { 0 };
	int r = import_open(&import, &err);

	if (r >= 0 && args->json) {
		json_start(&import.json, stdout, PROBE_SCHEMA);
		json_open(&import.json, "files", '[');
	}
	if (r >= 0)
		r = files_take(&import, &err);
	if (import.json.out)
		json_end(&import.json);
	store_close(import.store);
	if (r < 0) {
		command_fail(command, "%s%s", err.text,
			     import.samples ? " (the files before it are in the store)" : "");
		return COMMAND_FAILED;
	}
	if (!import.samples && !import.snapshots)
		return COMMAND_NO_DATA;
	return command_finish(command);
}
