/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice trace convert: writes a trace in another file format.
 */
#include <stdlib.h>
#include <sys/stat.h>

#include "base/interrupt.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/term.h"
#include "cli/command.h"
#include "cmd/format_option.h"
#include "cmd/run_argument.h"

struct convert_args {
	int format;
	bool json;
};

static const struct option convert_options[] = {
	{ 'f', "format", FORMAT_WORDS, NULL, "file format to write (default: by the suffix of OUT)",
	  OPTION_CHOICE, offsetof(struct convert_args, format) },
	{ 'j', "json", NULL, NULL, "print one JSON object of schema sluice.convert/1", OPTION_FLAG,
	  offsetof(struct convert_args, json) },
	{ 0 }
};

/* Overwriting the trace that is being read would destroy it. */
static bool is_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static void print_json(const struct trace *trace, const struct trace_format *form, const char *path)
{
	struct json json;

	json_start(&json, stdout, "sluice.convert/1");
	json_text(&json, "path", path);
	json_text(&json, "form", form->name);
	json_count(&json, "activities", trace->head.activities);
	json_end(&json);
}

static int convert_with_progress(const struct command *command, struct trace *trace,
				 const struct trace_format *form, const char *to)
{
	struct progress progress;
	struct trace_watch watch = { interrupt_show_progress, &progress };
	struct interrupt stop;
	struct err err = { 0 };
	int r;

	interrupt_catch(&stop);
	progress_start(&progress, "converting", trace->head.activities);
	r = trace_convert(trace, form, to, &watch, &err);
	progress_end(&progress);
	interrupt_restore(&stop);
	return r < 0 ? command_fail(command, "%s", err.text) : COMMAND_GOOD;
}

static int convert_run(struct command *command)
{
	const struct convert_args *args = command->args;
	const char *to = command->argv[1];
	const struct trace_format *form = format_option(args->format);
	AUTO_FREE char *from = NULL;
	struct trace trace;
	int ret;

	if (!form)
		form = trace_format_by_suffix(to);
	if (!form)
		return command_misuse(command, "%s: unknown suffix; name the format with --format",
				      to);
	ret = run_argument_path(command, command->argv[0], &from);
	if (ret)
		return ret;
	if (is_same_file(from, to))
		return command_misuse(command, "%s and %s are the same file", from, to);
	ret = run_argument_open(command, &trace, NULL);
	if (ret)
		return ret;
	ret = convert_with_progress(command, &trace, form, to);
	if (!ret && args->json)
		print_json(&trace, form, to);
	run_argument_warn_losses(command, &trace.head);
	trace_close(&trace);
	return ret ? ret : command_finish(command);
}

const struct command_ops command_trace_convert = {
	.name = "convert",
	.help = "write a trace in another file format",
	.operands = "RUN OUT",
	.operands_min = 2,
	.operands_max = 2,
	.about = "The format of the input, which may be a log of Darshan, is detected. All formats "
		 "hold the same information, so "
		 "converting back gives the identical sequence of activities.\n\n"
		 "  sluice trace convert 3f9a1 run.db    a SQLite database",
	.options = convert_options,
	.args_bytes = sizeof(struct convert_args),
	.run = convert_run,
	.complete = run_argument_complete,
};
