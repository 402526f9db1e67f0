/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice ls: lists the recorded runs, newest first.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/integer.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/place.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/format.h"
#include "observe/collect/parts.h"
#include "observe/report/applied.h"
#include "observe/report/loss.h"
#include "observe/tally/losses.h"
#include "trace/format.h"
#include "trace/runs/runs.h"

struct ls_args {
	uint64_t limit;
	bool json;
};

static const struct option ls_options[] = { { 'l', "limit", "N", NULL, "stop after N runs",
					      OPTION_COUNT, offsetof(struct ls_args, limit) },
					    { 'j', "json", NULL, NULL,
					      "print one JSON object of schema sluice.ls/1",
					      OPTION_FLAG, offsetof(struct ls_args, json) },
					    { 0 } };

/* "0", "7", or "137 (KILL)" if a signal may have ended the program. */
static void add_exit_status(struct table *table, int32_t status)
{
	const char *signal = status > COMMAND_SIGNAL ? sigabbrev_np(status - COMMAND_SIGNAL) : NULL;

	if (status < 0)
		table_add(table, "?");
	else if (signal)
		table_add(table, "%d (%s)", (int)status, signal);
	else
		table_add(table, "%d", (int)status);
}

static void add_run(struct table *table, const struct runs *runs, const struct run_file *file,
		    const struct trace_head *head)
{
	char when[FORMAT_TIME], text[UNIT_TEXT];
	AUTO_BUF struct buf applied = { 0 };

	table_add(table, "%.*s", runs->id_digits, file->id);
	table_add(table, "%s", format_local_time(when, head->run.started_ns));
	table_add(table, "%s", unit_ns(text, head->end.duration_ns));
	add_exit_status(table, head->end.exit_status);
	table_add(table, "%" PRIu64, head->activities);
	table_add(table, "%" PRIu64, losses_sum(head).records);
	table_add(table, "%s", unit_bytes(text, (double)file->bytes));
	table_add(table, "%s", loss_state(head));
	applied_summarize(&applied, head);
	table_add(table, "%s", applied.len ? buf_text(&applied) : "-");
	table_add(table, "%s", text_or_empty(head->run.command));
}

/* Columns before the state that an unreadable trace and an unmerged job leave empty. */
#define UNREADABLE_COLUMNS 5
#define UNMERGED_COLUMNS 7

static void add_unreadable(struct table *table, const struct runs *runs,
			   const struct run_file *file, const struct err *err)
{
	char text[UNIT_TEXT];

	table_add(table, "%.*s", runs->id_digits, file->id);
	for (int i = 0; i < UNREADABLE_COLUMNS; i++)
		table_add(table, "-");
	table_add(table, "%s", unit_bytes(text, (double)file->bytes));
	table_add(table, "unreadable");
	table_add(table, "-");
	table_add(table, "%s", err->text);
}

static void json_run(struct json *json, const struct trace_head *head)
{
	json_number(json, "started_ns", head->run.started_ns);
	json_number(json, "duration_ns", head->end.duration_ns);
	json_number(json, "exit_status", head->end.exit_status);
	json_text(json, "command", head->run.command);
	json_text(json, "host", head->run.host);
	json_text(json, "user", head->run.user);
	json_count(json, "activities", head->activities);
	json_count(json, "processes", head->process_count);
	applied_json(json, head);
	loss_json(json, head);
}

/* A job on several nodes whose parts were not merged: a directory TRACE.parts. */
struct unmerged {
	char *path;
	size_t parts;
	uint64_t ranks;
};

struct unmerged_list {
	struct unmerged *jobs;
	size_t count, cap;
};

static void find_unmerged(struct unmerged_list *list, const char *directory)
{
	DIR *dir = opendir(directory);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		char *path = place_join(directory, entry->d_name);
		char *trace = parts_trace(path);
		struct parts parts = { 0 };

		if (trace && parts_list(path, NULL, &parts, NULL) >= 0) {
			list->jobs =
				xgrow(list->jobs, &list->cap, list->count + 1, sizeof(*list->jobs));
			list->jobs[list->count++] =
				(struct unmerged){ path, parts.count, parts.ranks };
		} else {
			free(path);
		}
		parts_release(&parts);
		free(trace);
	}
	if (dir)
		closedir(dir);
}

static void unmerged_release(struct unmerged_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->jobs[i].path);
	free(list->jobs);
}

static void add_unmerged(struct table *table, const struct unmerged *job)
{
	for (int i = 0; i < UNMERGED_COLUMNS; i++)
		table_add(table, "-");
	table_add(table, "unmerged");
	table_add(table, "-");
	table_add(table, "%s: %zu parts with %" PRIu64 " ranks; try 'sluice trace merge %s'",
		  path_base_name(job->path), job->parts, job->ranks, job->path);
}

static void json_unmerged(struct json *json, const struct unmerged_list *list)
{
	json_open(json, "unmerged", '[');
	for (size_t i = 0; i < list->count; i++) {
		json_open(json, NULL, '{');
		json_text(json, "path", list->jobs[i].path);
		json_count(json, "parts", list->jobs[i].parts);
		json_count(json, "ranks", list->jobs[i].ranks);
		json_close(json);
	}
	json_close(json);
}

static void show_table(const struct runs *runs, size_t count, const struct unmerged_list *list)
{
	static const char *const titles[] = { "id",	 "started", ">duration", "exit",
					      ">calls",	 ">lost",   ">size",	 "state",
					      "applied", "command", NULL };
	struct table table;

	table_init(&table, titles);
	for (size_t i = 0; i < list->count; i++)
		add_unmerged(&table, &list->jobs[i]);
	for (size_t i = 0; i < count; i++) {
		struct err err = { 0 };
		struct trace trace;

		if (trace_open(&trace, runs->list[i].path, NULL, &err) < 0)
			add_unreadable(&table, runs, &runs->list[i], &err);
		else
			add_run(&table, runs, &runs->list[i], &trace.head);
		trace_close(&trace);
	}
	table_print(&table, stdout, 0);
	table_release(&table);
}

static void show_json(const struct runs *runs, size_t count, const struct unmerged_list *list,
		      const char *directory)
{
	struct json json;

	json_start(&json, stdout, "sluice.ls/1");
	json_text(&json, "directory", directory);
	json_open(&json, "runs", '[');
	for (size_t i = 0; i < count; i++) {
		struct err err = { 0 };
		struct trace trace;

		json_open(&json, NULL, '{');
		json_text(&json, "id", runs->list[i].id);
		json_text(&json, "path", runs->list[i].path);
		json_count(&json, "bytes", runs->list[i].bytes);
		if (trace_open(&trace, runs->list[i].path, NULL, &err) < 0)
			json_text(&json, "error", err.text);
		else
			json_run(&json, &trace.head);
		json_close(&json);
		trace_close(&trace);
	}
	json_close(&json);
	json_unmerged(&json, list);
	json_end(&json);
}

static int ls_run(struct command *command)
{
	const struct ls_args *args = command->args;
	const char *directory =
		command->argc ? command->argv[0] : config_text(command->config, SETTING_TRACE_DIR);
	struct unmerged_list unmerged = { 0 };
	struct runs runs;
	struct err err = { 0 };
	size_t shown;

	if (runs_read(&runs, directory, &err) < 0)
		return command_fail(command, "%s", err.text);
	shown = (size_t)u64_min(runs.count, args->limit);
	find_unmerged(&unmerged, directory);
	if (args->json)
		show_json(&runs, shown, &unmerged, directory);
	else if (runs.count || unmerged.count)
		show_table(&runs, shown, &unmerged);
	else
		command_warn(command, "no run in %s yet; record one with 'sluice run -- PROGRAM'",
			     directory);
	unmerged_release(&unmerged);
	runs_release(&runs);
	return command_finish(command);
}

const struct command_ops command_ls = {
	.name = "ls",
	.help = "list recorded runs, newest first",
	.operands = "[DIRECTORY]",
	.operands_max = 1,
	.about = "DIRECTORY defaults to the setting trace.dir. Every command that takes a RUN "
		 "accepts the id in the first column, or a unique prefix of it:\n\n"
		 "  sluice report 3f9a1\n\n"
		 "The column \"exit\" shows the exit status of the program; a status above 128 "
		 "usually means that a signal ended it. \"with losses\" means that calls were "
		 "lost, and \"partial\" that some processes could not be recorded; 'sluice "
		 "report' says why. \"applied\" shows what Sluice did to the program: parameters, "
		 "and actions of plug-ins. \"truncated\" means that the collector "
		 "was killed; 'sluice trace recover' may find more. A job on several nodes whose "
		 "parts were not merged is shown as \"unmerged\"; 'sluice trace merge' completes "
		 "it.",
	.options = ls_options,
	.args_bytes = sizeof(struct ls_args),
	.run = ls_run,
};
