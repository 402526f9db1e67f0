/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice convert: the same trace in another form. Forms are told by name or by the suffix of the
 * output.
 */
#include <string.h>
#include <sys/stat.h>

#include "base/json.h"
#include "cli/command.h"
#include "cmd/runs.h"
#include "trace/format.h"

struct convert_args {
	const char *to;
	bool json;
};

static const struct option convert_options[] = {
	{ 't', "to", "FORM", NULL,
	  "form to write: container, text or sqlite; else by the suffix of OUT", OPTION_TEXT,
	  offsetof(struct convert_args, to) },
	{ 'j', "json", NULL, NULL, "print one JSON object of schema sluice.convert/1", OPTION_FLAG,
	  offsetof(struct convert_args, json) },
	{ 0 }
};

static const struct trace_format *form_by_suffix(const char *path)
{
	size_t n = strlen(path);

	for (size_t i = 0; trace_formats[i]; i++) {
		size_t suffix = strlen(trace_formats[i]->suffix);

		if (n > suffix && strcmp(path + n - suffix, trace_formats[i]->suffix) == 0)
			return trace_formats[i];
	}
	return NULL;
}

/* Writing over the trace that is being read would destroy it. */
static bool same_file(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static void tell(const struct trace *trace, const struct trace_format *form, const char *path)
{
	struct json json;

	json_start(&json, stdout, "sluice.convert/1");
	json_text(&json, "path", path);
	json_text(&json, "form", form->name);
	json_count(&json, "activities", trace->head.activities);
	json_end(&json);
}

static int convert_run(struct command *command)
{
	const struct convert_args *args = command->args;
	const char *from = command->argv[0], *to = command->argv[1];
	const struct trace_format *form =
		args->to ? trace_format_by_name(args->to) : form_by_suffix(to);
	struct err err = { 0 };
	struct trace trace;
	int ret;

	if (!form && args->to)
		return command_misuse(command, "--to: there is no form \"%s\"", args->to);
	if (!form)
		return command_misuse(command, "the suffix of %s tells no form; name it by --to",
				      to);
	if (same_file(from, to))
		return command_misuse(command, "%s and %s are the same file", from, to);
	ret = runs_open(command, &trace, NULL);
	if (ret)
		return ret;
	if (trace_convert(&trace, form, to, &err) < 0)
		ret = command_fail(command, "%s", err.text);
	else if (args->json)
		tell(&trace, form, to);
	runs_tell_losses(command, &trace.head);
	trace_close(&trace);
	return ret ? ret : command_finish(command);
}

const struct command_ops command_convert = {
	.name = "convert",
	.help = "write a trace in another form",
	.operands = "IN OUT",
	.operands_min = 2,
	.operands_max = 2,
	.about = "The form of IN is recognised. All forms hold the same facts: converting back "
		 "gives the identical sequence of activities.",
	.options = convert_options,
	.args_bytes = sizeof(struct convert_args),
	.run = convert_run,
};
