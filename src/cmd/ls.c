/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice ls: the runs that were kept, newest first.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/place.h"
#include "base/table.h"
#include "base/unit.h"
#include "cli/command.h"
#include "cmd/runs.h"
#include "observe/collect/parts.h"
#include "observe/report/loss.h"

struct ls_args {
	uint64_t limit;
	bool json;
};

static const struct option ls_options[] = { { 'n', "limit", "N", NULL, "show the newest N only",
					      OPTION_COUNT, offsetof(struct ls_args, limit) },
					    { 'j', "json", NULL, NULL,
					      "print one JSON object of schema sluice.ls/1",
					      OPTION_FLAG, offsetof(struct ls_args, json) },
					    { 0 } };

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* What became of the run, in one word or two. */
static const char *state_of(const struct trace_head *head)
{
	struct loss_total loss = loss_sum(head);

	if (!head->end.complete)
		return "cut off";
	return loss.records || loss.threads ? "with losses" : "complete";
}

static void table_run(struct table *table, const struct run_file *file,
		      const struct trace_head *head)
{
	time_t seconds = (time_t)(head->run.started_ns / 1000000000);
	char when[32] = "?", text[UNIT_TEXT];
	struct tm tm;

	if (localtime_r(&seconds, &tm))
		strftime(when, sizeof(when), "%F %T", &tm);
	table_add(table, "%s", when);
	table_add(table, "%s", unit_ns(text, head->end.duration_ns));
	table_add(table, "%" PRIu64, head->activities);
	table_add(table, "%" PRIu64, loss_sum(head).records);
	table_add(table, "%s", unit_bytes(text, (double)file->bytes));
	table_add(table, "%s", state_of(head));
	table_add(table, "%s", base_name(file->path));
	table_add(table, "%s", head->run.command ? head->run.command : "");
}

static void table_broken(struct table *table, const struct run_file *file, const struct err *err)
{
	char text[UNIT_TEXT];

	for (int i = 0; i < 4; i++)
		table_add(table, "-");
	table_add(table, "%s", unit_bytes(text, (double)file->bytes));
	table_add(table, "unreadable");
	table_add(table, "%s", base_name(file->path));
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
	loss_json(json, head);
}

/* Jobs on several nodes whose parts have not come together: directories T.parts. */
struct unmerged {
	char *path;
	size_t parts;
	uint64_t ranks;
};

struct unmerged_list {
	struct unmerged *jobs;
	size_t count, cap;
};

static void unmerged_find(struct unmerged_list *list, const char *directory)
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

static void table_unmerged(struct table *table, const struct unmerged *job)
{
	for (int i = 0; i < 5; i++)
		table_add(table, "-");
	table_add(table, "unmerged");
	table_add(table, "%s", base_name(job->path));
	table_add(table, "%zu parts with %" PRIu64 " ranks; try: sluice merge %s", job->parts,
		  job->ranks, job->path);
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

static void show_table(const struct run_file *runs, size_t count, const struct unmerged_list *list)
{
	static const char *const titles[] = { "started", ">duration", ">activities",
					      ">lost",	 ">size",     "state",
					      "trace",	 "command",   NULL };
	struct table table;

	table_init(&table, titles);
	for (size_t i = 0; i < list->count; i++)
		table_unmerged(&table, &list->jobs[i]);
	for (size_t i = 0; i < count; i++) {
		struct err err = { 0 };
		struct trace trace;

		if (trace_open(&trace, runs[i].path, NULL, &err) < 0)
			table_broken(&table, &runs[i], &err);
		else
			table_run(&table, &runs[i], &trace.head);
		trace_close(&trace);
	}
	table_print(&table, stdout, 0);
	table_release(&table);
}

static void show_json(const struct run_file *runs, size_t count, const struct unmerged_list *list,
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
		json_text(&json, "path", runs[i].path);
		json_count(&json, "bytes", runs[i].bytes);
		if (trace_open(&trace, runs[i].path, NULL, &err) < 0)
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
	struct run_file *runs;
	struct err err = { 0 };
	size_t count, shown;

	if (runs_list(directory, &runs, &count, &err) < 0)
		return command_fail(command, "%s", err.text);
	shown = count < args->limit ? count : (size_t)args->limit;
	unmerged_find(&unmerged, directory);
	if (args->json)
		show_json(runs, shown, &unmerged, directory);
	else if (count || unmerged.count)
		show_table(runs, shown, &unmerged);
	else
		command_warn(command, "there is no run in %s yet", directory);
	unmerged_release(&unmerged);
	runs_free(runs, count);
	return command_finish(command);
}

const struct command_ops command_ls = {
	.name = "ls",
	.help = "list the runs that were kept, newest first",
	.operands = "[DIRECTORY]",
	.operands_max = 1,
	.about = "Without DIRECTORY, the setting trace.dir is taken. A job on several nodes whose "
		 "parts "
		 "did not all come together is shown as unmerged; 'sluice merge' completes it.",
	.options = ls_options,
	.args_bytes = sizeof(struct ls_args),
	.run = ls_run,
};
