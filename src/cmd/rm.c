/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice rm: deletes recorded runs. It deletes nothing but traces and their tags.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/term.h"
#include "base/unit.h"
#include "cli/command.h"
#include "cmd/run_argument.h"
#include "trace/output.h"
#include "trace/runs/runs.h"
#include "trace/runs/tags.h"

struct rm_args {
	int64_t older_ns;
	uint64_t keep;
	bool dry_run, json;
};

static const struct option rm_options[] = {
	{ 0, "older", "TIME", NULL, "delete all runs that ended more than TIME ago, such as 30d",
	  OPTION_TIME, offsetof(struct rm_args, older_ns) },
	{ 0, "keep", "N", NULL, "keep the newest N runs; without --older, delete all others",
	  OPTION_COUNT, offsetof(struct rm_args, keep) },
	{ 0, "dry-run", NULL, NULL, "show what would be deleted, but delete nothing", OPTION_FLAG,
	  offsetof(struct rm_args, dry_run) },
	{ 'j', "json", NULL, NULL, "print one JSON object of schema sluice.rm/1", OPTION_FLAG,
	  offsetof(struct rm_args, json) },
	{ 0 }
};

/* The runs that were deleted, or would be. */
struct removal {
	const struct command *command;
	struct json json;
	size_t count;
	uint64_t bytes;
	bool failed;
};

static void report_removed(struct removal *removal, const char *path, uint64_t bytes)
{
	const struct rm_args *args = removal->command->args;
	char text[UNIT_TEXT];

	removal->count++;
	removal->bytes += bytes;
	if (args->json) {
		json_open(&removal->json, NULL, '{');
		json_text(&removal->json, "path", path);
		json_count(&removal->json, "bytes", bytes);
		json_close(&removal->json);
	} else {
		term_printf(stdout, "%s %s (%s)\n", args->dry_run ? "would delete" : "deleted",
			    path, unit_bytes(text, (double)bytes));
	}
}

static void remove_trace(struct removal *removal, const char *path)
{
	const struct rm_args *args = removal->command->args;
	struct stat st;

	if (!trace_is_trace(path) || lstat(path, &st) < 0) {
		command_fail(removal->command, "%s: not a trace; it was not deleted", path);
		removal->failed = true;
	} else if (!args->dry_run && unlink(path) < 0) {
		command_fail(removal->command, "%s: %s", path, strerror(errno));
		removal->failed = true;
	} else {
		if (!args->dry_run)
			tags_delete(path);
		report_removed(removal, path, (uint64_t)st.st_size);
	}
}

/* Deletes the runs that --older and --keep select. */
static int remove_selected(struct removal *removal)
{
	const struct rm_args *args = removal->command->args;
	const char *directory = config_text(removal->command->config, SETTING_TRACE_DIR);
	int64_t limit_ns = clock_realtime_ns() - args->older_ns;
	struct err err = { 0 };
	struct runs runs;

	if (runs_read(&runs, directory, &err) < 0)
		return command_fail(removal->command, "%s", err.text);
	for (size_t i = args->keep == OPTION_NONE ? 0 : args->keep; i < runs.count; i++) {
		if (!args->older_ns || runs.list[i].modified_ns < limit_ns)
			remove_trace(removal, runs.list[i].path);
	}
	runs_release(&runs);
	return COMMAND_GOOD;
}

/* Deletes the runs that the operands name; none at all if one of them is not found. */
static int remove_named(struct removal *removal)
{
	const struct command *command = removal->command;
	char **paths = xcalloc((size_t)command->argc + 1, sizeof(*paths));
	int ret = COMMAND_GOOD;

	for (int i = 0; !ret && i < command->argc; i++)
		ret = run_argument_path(command, command->argv[i], &paths[i]);
	for (int i = 0; i < command->argc; i++) {
		if (!ret)
			remove_trace(removal, paths[i]);
		free(paths[i]);
	}
	free(paths);
	return ret;
}

static void report_total(struct removal *removal)
{
	const struct rm_args *args = removal->command->args;
	char text[UNIT_TEXT];

	if (args->json) {
		json_close(&removal->json);
		json_bool(&removal->json, "dry_run", args->dry_run);
		json_end(&removal->json);
	} else if (!removal->count && !removal->failed) {
		fputs("sluice rm: no run to delete\n", stderr);
	} else if (removal->count > 1) {
		term_printf(stdout, "%zu runs, %s\n", removal->count,
			    unit_bytes(text, (double)removal->bytes));
	}
}

static int rm_run(struct command *command)
{
	const struct rm_args *args = command->args;
	struct removal removal = { .command = command };
	bool selects = args->older_ns || args->keep != OPTION_NONE;
	int ret;

	if (selects == (command->argc > 0))
		return command_misuse(command, "name the runs to delete, or use --older or --keep");
	if (args->json) {
		json_start(&removal.json, stdout, "sluice.rm/1");
		json_open(&removal.json, "runs", '[');
	}
	ret = selects ? remove_selected(&removal) : remove_named(&removal);
	if (!ret || args->json)
		report_total(&removal);
	if (!ret && removal.failed)
		ret = COMMAND_FAILED;
	return ret ? ret : command_finish(command);
}

const struct command_ops command_rm = {
	.name = "rm",
	.help = "delete recorded runs",
	.operands = "[RUN]...",
	.operands_max = -1,
	.about = "RUN is an id from 'sluice ls', a unique prefix of one, or the path of a trace. "
		 "Files that are not traces are never deleted, except the tags of a run (see "
		 "'sluice tag'). What was learned from a run stays in the store (see 'sluice "
		 "config store').\n\n"
		 "  sluice rm 3f9a1                    delete one run\n"
		 "  sluice rm --older 30d --keep 20    delete old runs, but keep the newest 20",
	.options = rm_options,
	.args_bytes = sizeof(struct rm_args),
	.run = rm_run,
	.complete = run_argument_complete,
};
