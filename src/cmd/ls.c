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
#include "base/json.h"
#include "base/mem.h"
#include "base/place.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/format.h"
#include "observe/job/parts.h"
#include "observe/report/applied.h"
#include "observe/report/loss.h"
#include "observe/tally/losses.h"
#include "trace/format.h"
#include "trace/runs/runs.h"
#include "trace/runs/tags.h"

struct ls_args {
	uint64_t limit;
	const char *tag;
	bool json;
};

static const struct option ls_options[] = {
	{ 'l', "limit", "N", NULL, "stop after N runs", OPTION_COUNT,
	  offsetof(struct ls_args, limit) },
	{ 0, "tag", "TAG", NULL, "list only runs with this tag (see 'sluice tag')", OPTION_TEXT,
	  offsetof(struct ls_args, tag) },
	{ 'j', "json", NULL, NULL, "print one JSON object of schema sluice.ls/1", OPTION_FLAG,
	  offsetof(struct ls_args, json) },
	{ 0 }
};

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

/* A run that is listed, with its open trace. */
struct listed {
	const struct run_file *file;
	struct trace trace; /* zeroed if it cannot be read */
	struct err err;	    /* why */
	char *tags;
};

static void listed_close(struct listed *run)
{
	trace_close(&run->trace);
	free(run->tags);
}

/* Opens a run; false if it lacks the tag. tag NULL: all runs are listed. */
static bool listed_open(struct listed *run, const struct run_file *file, const char *tag)
{
	*run = (struct listed){ .file = file };
	if (trace_open(&run->trace, file->path, NULL, &run->err) >= 0)
		run->tags = tags_read(file->path, text_or_empty(run->trace.head.run.uuid));
	else
		run->tags = xstrdup("");
	if (!tag || tags_has(run->tags, tag))
		return true;
	listed_close(run);
	return false;
}

static void add_run(struct table *table, const struct runs *runs, const struct listed *run,
		    bool has_tags)
{
	const struct run_file *file = run->file;
	const struct trace_head *head = &run->trace.head;
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
	if (has_tags)
		table_add(table, "%s", *run->tags ? run->tags : "-");
	table_add(table, "%s", text_or_empty(head->run.command));
}

/* Columns before the state that an unreadable trace and an unmerged job leave empty. */
#define UNREADABLE_COLUMNS 5
#define UNMERGED_COLUMNS 7

static void add_unreadable(struct table *table, const struct runs *runs,
			   const struct run_file *file, const struct err *err, bool has_tags)
{
	char text[UNIT_TEXT];

	table_add(table, "%.*s", runs->id_digits, file->id);
	for (int i = 0; i < UNREADABLE_COLUMNS; i++)
		table_add(table, "-");
	table_add(table, "%s", unit_bytes(text, (double)file->bytes));
	table_add(table, "unreadable");
	for (int i = 0; i < 1 + has_tags; i++)
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

static void add_unmerged(struct table *table, const struct unmerged *job, bool has_tags)
{
	for (int i = 0; i < UNMERGED_COLUMNS; i++)
		table_add(table, "-");
	table_add(table, "unmerged");
	for (int i = 0; i < 1 + has_tags; i++)
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

/* Does any of the runs have tags? Otherwise the table has no column for them. */
static bool any_has_tags(const struct runs *runs)
{
	for (size_t i = 0; i < runs->count; i++) {
		AUTO_FREE char *path = xprintf("%s" TAGS_SUFFIX, runs->list[i].path);

		if (place_exists(path))
			return true;
	}
	return false;
}

static void show_table(const struct runs *runs, const struct ls_args *args,
		       const struct unmerged_list *list)
{
	static const char *const titles[] = { "id",	 "started", ">duration", "exit",
					      ">calls",	 ">lost",   ">size",	 "state",
					      "applied", "command", NULL };
	static const char *const titles_with_tags[] = { "id",	   "started", ">duration", "exit",
							">calls",  ">lost",   ">size",	   "state",
							"applied", "tags",    "command",   NULL };
	bool has_tags = any_has_tags(runs);
	struct table table;
	struct listed run;
	uint64_t shown = 0;

	table_init(&table, has_tags ? titles_with_tags : titles);
	for (size_t i = 0; i < list->count; i++)
		add_unmerged(&table, &list->jobs[i], has_tags);
	for (size_t i = 0; i < runs->count && shown < args->limit; i++) {
		if (!listed_open(&run, &runs->list[i], args->tag))
			continue;
		if (run.err.code)
			add_unreadable(&table, runs, run.file, &run.err, has_tags);
		else
			add_run(&table, runs, &run, has_tags);
		listed_close(&run);
		shown++;
	}
	table_print(&table, stdout, 0);
	table_release(&table);
}

static void show_json(const struct runs *runs, const struct ls_args *args,
		      const struct unmerged_list *list, const char *directory)
{
	struct json json;
	struct listed run;
	uint64_t shown = 0;

	json_start(&json, stdout, "sluice.ls/1");
	json_text(&json, "directory", directory);
	json_open(&json, "runs", '[');
	for (size_t i = 0; i < runs->count && shown < args->limit; i++) {
		if (!listed_open(&run, &runs->list[i], args->tag))
			continue;
		json_open(&json, NULL, '{');
		json_text(&json, "id", run.file->id);
		json_text(&json, "path", run.file->path);
		json_count(&json, "bytes", run.file->bytes);
		tags_json(&json, run.tags);
		if (run.err.code)
			json_text(&json, "error", run.err.text);
		else
			json_run(&json, &run.trace.head);
		json_close(&json);
		listed_close(&run);
		shown++;
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

	if (args->tag && !tag_is_valid(args->tag, &err))
		return command_misuse(command, "%s", err.text);
	if (runs_read(&runs, directory, &err) < 0)
		return command_fail(command, "%s", err.text);
	if (!args->tag)
		find_unmerged(&unmerged, directory);
	if (args->json)
		show_json(&runs, args, &unmerged, directory);
	else if (runs.count || unmerged.count)
		show_table(&runs, args, &unmerged);
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
		 "it. \"tags\" shows the words that 'sluice tag' gave to runs.",
	.options = ls_options,
	.args_bytes = sizeof(struct ls_args),
	.run = ls_run,
};
