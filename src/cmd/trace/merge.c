/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice trace merge: merges the parts of a parallel run into one trace.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/term.h"
#include "cli/command.h"
#include "cmd/format_option.h"
#include "cmd/part_list.h"
#include "observe/chain/clocks.h"
#include "observe/job/parts.h"
#include "trace/merge/merge.h"

struct merge_args {
	const char *output;
	int format;
	bool join, force, json;
};

static const struct option merge_options[] = {
	{ 'o', "output", "FILE", NULL,
	  "write the merged trace to FILE (default: TRACE for a directory TRACE.parts)",
	  OPTION_TEXT, offsetof(struct merge_args, output) },
	{ 'f', "format", FORMAT_WORDS, NULL,
	  "file format to write (default: by the suffix of FILE)", OPTION_CHOICE,
	  offsetof(struct merge_args, format) },
	{ 0, "join", NULL, NULL,
	  "merge different runs that communicated, such as clients and servers", OPTION_FLAG,
	  offsetof(struct merge_args, join) },
	{ 0, "force", NULL, NULL, "merge traces even if they do not look like parts of one job",
	  OPTION_FLAG, offsetof(struct merge_args, force) },
	{ 'j', "json", NULL, NULL, "print one JSON object of schema sluice.merge/1", OPTION_FLAG,
	  offsetof(struct merge_args, json) },
	{ 0 }
};

/* The format of --format, else the format of the path's suffix, else the container. */
static const struct trace_format *choose_format(const char *path, int choice)
{
	const struct trace_format *format = format_option(choice);

	if (!format)
		format = trace_format_by_suffix(path);
	return format ? format : &trace_container;
}

static void print_json(const char *path, const struct trace_format *form, size_t parts,
		       const struct merge_totals *t)
{
	struct json json;

	json_start(&json, stdout, "sluice.merge/1");
	json_text(&json, "path", path);
	json_text(&json, "form", form->name);
	json_count(&json, "parts", parts);
	json_count(&json, "activities", t->activities);
	json_count(&json, "processes", t->processes);
	json_count(&json, "damaged_blocks", t->damaged_blocks);
	json_count(&json, "cut_off", t->cut_off);
	json_end(&json);
}

static void print_result(const struct command *c, const char *path, const struct trace_format *form,
			 size_t parts, const struct merge_totals *t)
{
	const struct merge_args *args = c->args;

	if (args->json)
		print_json(path, form, parts, t);
	else
		term_printf(stdout, "%s: %llu calls of %llu processes from %zu parts\n", path,
			    (unsigned long long)t->activities, (unsigned long long)t->processes,
			    parts);
	if (t->damaged_blocks)
		command_warn(c, "%llu damaged blocks of the parts were skipped",
			     (unsigned long long)t->damaged_blocks);
	if (t->cut_off)
		command_warn(
			c,
			"%llu of the parts are truncated; 'sluice trace recover' on their nodes "
			"may find more",
			(unsigned long long)t->cut_off);
}

/* Removes the directory of parts after they were merged into the trace it is named after. */
static void remove_parts(const char *directory, const struct part_list *in)
{
	struct parts parts = { .paths = in->paths, .count = in->count };

	parts_remove(directory, &parts);
}

/* Merges the parts, and again if messages between hosts tell how far their clocks are apart. */
static int merge_parts(const struct part_list *in, const struct trace_format *form,
		       const char *path, struct merge_totals *totals,
		       const struct trace_watch *watch, struct err *err)
{
	const char *const *paths = (const char *const *)in->paths;
	struct merge_correction *list = NULL;
	size_t count = 0;
	int r = trace_merge(paths, in->count, form, path, NULL, totals, watch, err);

	if (r >= 0)
		r = clocks_read(&list, &count, path, err);
	if (r >= 0 && count)
		r = trace_merge(paths, in->count, form, path,
				&(struct merge_corrections){ list, count }, totals, watch, err);
	clocks_free(list, count);
	return r;
}

static int merge_inputs(const struct command *c, const struct part_list *in, const char *path)
{
	const struct merge_args *args = c->args;
	const struct trace_format *form = choose_format(path, args->format);
	const char *const *paths = (const char *const *)in->paths;
	struct merge_totals totals;
	struct progress progress;
	struct trace_watch watch = { interrupt_show_progress, &progress };
	struct interrupt stop;
	struct err err = { 0 };
	int r;

	if (!args->force && trace_merge_check(paths, in->count, args->join, &err) < 0)
		return err.code == EINVAL
			       ? command_fail(c, "%s; use --force to merge them anyway", err.text)
			       : command_fail(c, "%s", err.text);
	interrupt_catch(&stop);
	progress_start(&progress, "merging", 0);
	r = merge_parts(in, form, path, &totals, &watch, &err);
	progress_end(&progress);
	interrupt_restore(&stop);
	if (r < 0)
		return command_fail(c, "%s", err.text);
	/* `sluice trace recover` may complete a truncated part, so it is kept. */
	if (!args->output && !totals.cut_off && !totals.damaged_blocks)
		remove_parts(c->argv[0], in);
	print_result(c, path, form, in->count, &totals);
	return command_finish(c);
}

static int merge_run(struct command *c)
{
	const struct merge_args *args = c->args;
	AUTO_FREE char *path = NULL;
	struct part_list in = { 0 };
	struct err err = { 0 };
	int code;

	if (args->output)
		path = xstrdup(args->output);
	else if (c->argc == 1 && part_list_is_directory(c->argv[0]))
		path = parts_trace(c->argv[0]);
	if (!path)
		return command_misuse(c, "missing --output FILE for the merged trace");
	if (part_list_find(&in, c->argc, c->argv, false, &err) < 0)
		code = command_fail(c, "%s", err.text);
	else
		code = merge_inputs(c, &in, path);
	part_list_release(&in);
	return code;
}

const struct command_ops command_trace_merge = {
	.name = "merge",
	.help = "merge the parts of a parallel run into one trace",
	.operands = "TRACE...|DIRECTORY",
	.operands_min = 1,
	.operands_max = -1,
	.about = "If a parallel job runs on several nodes, 'sluice run' writes one part per node "
		 "and the last node merges them. Use this command if that did not happen: for the "
		 "directory TRACE.parts of a job that lost a node, which 'sluice ls' shows as "
		 "\"unmerged\", or for traces copied from nodes without a shared file system.\n\n"
		 "The clocks of different hosts are aligned by the collective MPI calls of the "
		 "ranks; 'sluice report' shows the remaining error. Without such calls the time "
		 "of day is used.\n\n"
		 "--join puts the runs of a client and its server into one trace. 'sluice print "
		 "--tree' and the web application then show which calls of the server a call of "
		 "the client has led to, over TCP connections:\n\n"
		 "  sluice trace merge --join -o both.sluice client.sluice server.sluice\n"
		 "  sluice print --tree both.sluice\n\n"
		 "The directory TRACE.parts is removed after merging, unless a part is truncated "
		 "or damaged.",
	.options = merge_options,
	.args_bytes = sizeof(struct merge_args),
	.run = merge_run,
};
