/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice lab measure: elemental measurements of a simulated machine, as `sluice model measure`
 * makes them on a real one.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/command.h"
#include "lab/replica/replica.h"
#include "predict/model/costs/rows.h"
#include "predict/model/operation.h"
#include "store/elements.h"

struct measure_args {
	const char *machine, *platform, *output;
	int contention;
	uint64_t seed;
};

static const struct option measure_options[] = {
	{ 0, "machine", "NAME|FILE", "vesta", "description of the machine", OPTION_TEXT,
	  offsetof(struct measure_args, machine) },
	{ 0, "contention", REPLICA_CONTENTION_WORDS, "queue",
	  "contention model of the simulated storage", OPTION_CHOICE,
	  offsetof(struct measure_args, contention) },
	{ 0, "seed", "N", "1", "seed of the simulated noise", OPTION_COUNT,
	  offsetof(struct measure_args, seed) },
	{ 0, "platform", "NAME", NULL,
	  "name that the measurements are stored under (default: the machine's)", OPTION_TEXT,
	  offsetof(struct measure_args, platform) },
	{ 'o', "output", "FILE", NULL,
	  "write CSV to FILE instead of the store; - is standard output", OPTION_TEXT,
	  offsetof(struct measure_args, output) },
	{ 0 }
};

/* Keeps the rows of the kind that `what` names, under the name of the platform. */
static void filter_rows(struct elements *rows, const char *what, const char *platform)
{
	bool all = strcmp(what, "all") == 0;
	size_t kept = 0;

	for (size_t i = 0; i < rows->count; i++) {
		struct element row = rows->rows[i];
		int operation = operation_by_name(row.operation);
		bool is_storage = operation >= 0 && operations[operation].kind == OPERATION_STORAGE;

		if (!all && strcmp(what, is_storage ? "storage" : "comm") != 0)
			continue;
		snprintf(row.platform, sizeof(row.platform), "%s", platform);
		rows->rows[kept++] = row;
	}
	rows->count = kept;
}

static int store_rows(const struct command *command, struct elements *rows, struct err *err)
{
	struct store *store = NULL;
	int r = store_open(&store, config_text(command->config, SETTING_STORE_PATH), err);

	if (r >= 0) {
		rows_number(rows);
		r = elements_save(store, rows->rows, rows->count, err);
	}
	store_close(store);
	return r;
}

static int measure_run(struct command *command)
{
	const struct measure_args *args = command->args;
	const char *what = command->argc ? command->argv[0] : "all";
	const char *platform = args->platform ? args->platform : args->machine;
	struct replica *replica = NULL;
	struct elements rows = { 0 };
	struct err err = { 0 };
	int r;

	if (strcmp(what, "comm") != 0 && strcmp(what, "storage") != 0 && strcmp(what, "all") != 0)
		return command_misuse(
			command, "unknown benchmark \"%s\" (expected comm, storage or all)", what);
	if (!*platform || strlen(platform) >= ELEMENT_PLATFORM)
		return command_misuse(command, "--platform must have between 1 and %d characters",
				      ELEMENT_PLATFORM - 1);
	r = replica_open(&replica, args->machine, (enum replica_contention)args->contention, &err);
	if (r >= 0)
		r = replica_benchmark(replica, args->seed, &rows, &err);
	replica_close(replica);
	if (r >= 0)
		filter_rows(&rows, what, platform);
	if (r >= 0)
		r = args->output ? rows_save(&rows, args->output, &err)
				 : store_rows(command, &rows, &err);
	elements_release(&rows);
	if (r < 0)
		return command_fail(command, "%s", err.text);
	return command_finish(command);
}

const struct command_ops command_measure = {
	.name = "measure",
	.help = "generate elemental measurements of a simulated machine",
	.operands = "[comm|storage|all]",
	.operands_max = 1,
	.options = measure_options,
	.args_bytes = sizeof(struct measure_args),
	.flags = COMMAND_NO_JSON,
	.run = measure_run,
};
