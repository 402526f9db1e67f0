/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice merge: one trace of the parts of a parallel run.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json.h"
#include "base/mem.h"
#include "cli/command.h"
#include "cmd/runs.h"
#include "observe/collect/parts.h"
#include "trace/format.h"
#include "trace/merge/merge.h"

struct merge_args {
	const char *output;
	const char *form;
	bool force, json;
};

static const struct option merge_options[] = {
	{ 'o', "output", "FILE", NULL, "where to write; by default a directory T.parts becomes T",
	  OPTION_TEXT, offsetof(struct merge_args, output) },
	{ 'f', "format", "FORM", NULL,
	  "form to write: container, text or sqlite; else by the suffix of FILE", OPTION_TEXT,
	  offsetof(struct merge_args, form) },
	{ 0, "force", NULL, NULL, "merge also what does not look like parts of one job",
	  OPTION_FLAG, offsetof(struct merge_args, force) },
	{ 'j', "json", NULL, NULL, "print one JSON object of schema sluice.merge/1", OPTION_FLAG,
	  offsetof(struct merge_args, json) },
	{ 0 }
};

/* All traces that the operands name. */
struct inputs {
	char **paths;
	size_t count, cap;
};

static void inputs_add(struct inputs *in, const char *path)
{
	in->paths = xgrow(in->paths, &in->cap, in->count + 1, sizeof(*in->paths));
	in->paths[in->count++] = xstrdup(path);
}

static void inputs_release(struct inputs *in)
{
	for (size_t i = 0; i < in->count; i++)
		free(in->paths[i]);
	free(in->paths);
}

static bool is_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static int inputs_find(struct inputs *in, int argc, char **argv, struct err *err)
{
	for (int i = 0; i < argc; i++) {
		struct parts parts;
		int r;

		if (!is_directory(argv[i])) {
			inputs_add(in, argv[i]);
			continue;
		}
		r = parts_list(argv[i], NULL, &parts, err);
		if (r >= 0 && !parts.count)
			r = err_set(err, ENOENT, "%s: there is no %s file in it", argv[i],
				    trace_container.suffix);
		for (size_t k = 0; r >= 0 && k < parts.count; k++)
			inputs_add(in, parts.paths[k]);
		parts_release(&parts);
		if (r < 0)
			return r;
	}
	return 0;
}

static const struct trace_format *form_of(const char *path, const char *name)
{
	size_t n = strlen(path);

	if (name)
		return trace_format_by_name(name);
	for (size_t i = 0; trace_formats[i]; i++) {
		size_t suffix = strlen(trace_formats[i]->suffix);

		if (n > suffix && !strcmp(path + n - suffix, trace_formats[i]->suffix))
			return trace_formats[i];
	}
	return &trace_container;
}

static void tell_json(const char *path, const struct trace_format *form, size_t parts,
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

static void tell(const struct command *c, const char *path, const struct trace_format *form,
		 size_t parts, const struct merge_totals *t)
{
	const struct merge_args *args = c->args;

	if (args->json)
		tell_json(path, form, parts, t);
	else
		printf("%s: %llu calls of %llu processes from %zu parts\n", path,
		       (unsigned long long)t->activities, (unsigned long long)t->processes, parts);
	if (t->damaged_blocks)
		command_warn(c, "%llu damaged blocks of the parts were skipped",
			     (unsigned long long)t->damaged_blocks);
	if (t->cut_off)
		command_warn(c,
			     "%llu of the parts were cut off: 'sluice recover' on their nodes may "
			     "find more",
			     (unsigned long long)t->cut_off);
}

/* The parts were in a directory of their own, and have become what it is named after. */
static void directory_remove(const char *directory, const struct inputs *in)
{
	struct parts parts = { .paths = in->paths, .count = in->count };

	parts_remove(directory, &parts);
}

static int merge(const struct command *c, const struct inputs *in, const char *path)
{
	const struct merge_args *args = c->args;
	const struct trace_format *form = form_of(path, args->form);
	const char *const *paths = (const char *const *)in->paths;
	struct merge_totals totals;
	struct err err = { 0 };

	if (!form)
		return command_misuse(c, "--format: there is no form \"%s\"", args->form);
	if (!args->force && trace_merge_check(paths, in->count, &err) < 0)
		return err.code == EINVAL
			       ? command_fail(c, "%s; --force merges in spite of that", err.text)
			       : command_fail(c, "%s", err.text);
	if (trace_merge(paths, in->count, form, path, &totals, &err) < 0)
		return command_fail(c, "%s", err.text);
	/* What was cut off may be completed by `sluice recover`, and is kept for that. */
	if (!args->output && !totals.cut_off && !totals.damaged_blocks)
		directory_remove(c->argv[0], in);
	tell(c, path, form, in->count, &totals);
	return command_finish(c);
}

static int merge_run(struct command *c)
{
	const struct merge_args *args = c->args;
	AUTO_FREE char *path = NULL;
	struct inputs in = { 0 };
	struct err err = { 0 };
	int code;

	if (args->output)
		path = xstrdup(args->output);
	else if (c->argc == 1 && is_directory(c->argv[0]))
		path = parts_trace(c->argv[0]);
	if (!path)
		return command_misuse(c, "where to? Name the merged trace by --output");
	if (inputs_find(&in, c->argc, c->argv, &err) < 0)
		code = command_fail(c, "%s", err.text);
	else
		code = merge(c, &in, path);
	inputs_release(&in);
	return code;
}

const struct command_ops command_merge = {
	.name = "merge",
	.help = "make one trace of the parts of a parallel run",
	.operands = "TRACE...|DIRECTORY",
	.operands_min = 1,
	.operands_max = -1,
	.about = "When a parallel job runs on several nodes, 'sluice run' writes one part per node "
		 "and the last node merges them. This command does it by hand: for the directory "
		 "T.parts of a job that lost a node, which 'sluice ls' calls unmerged, or for "
		 "traces that were brought together from nodes without a common file system.\n\n"
		 "Clocks of different hosts are aligned by the MPI calls that all ranks make "
		 "together; 'sluice report' tells how well. Without such calls the time of day has "
		 "to do.\n\n"
		 "A directory T.parts that is merged into T is removed, unless a part was cut off "
		 "or "
		 "damaged.",
	.options = merge_options,
	.args_bytes = sizeof(struct merge_args),
	.run = merge_run,
};
