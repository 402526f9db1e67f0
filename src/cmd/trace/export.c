/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice trace export: writes a trace for other programs.
 */
#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/term.h"
#include "base/unit.h"
#include "cli/command.h"
#include "cmd/filter_option.h"
#include "cmd/run_argument.h"
#include "observe/export/export.h"

#define EXPORT_WORDS "parquet|perfetto|folded|csv"
#define EVENTS_LIMIT 100000000

struct export_args {
	struct filter_args filter;
	int format;
	uint64_t max_events, memory;
	int64_t slice_ns;
	bool json;
};

static const struct option trace_export_options[] = {
	{ 'f', "format", EXPORT_WORDS, NULL, "format to write (default: by the suffix of OUT)",
	  OPTION_CHOICE, offsetof(struct export_args, format) },
	{ 0, "max", "N", "200000", "write at most the N longest calls; perfetto only", OPTION_COUNT,
	  offsetof(struct export_args, max_events) },
	{ 0, "slice", "TIME", NULL,
	  "let a part cover this time of the run (default: about 2 million calls); parquet only",
	  OPTION_TIME, offsetof(struct export_args, slice_ns) },
	{ 0, "memory", "SIZE", "128M", "hold at most this much of the table; parquet only",
	  OPTION_SIZE, offsetof(struct export_args, memory) },
	OPTION_INCLUDE(filter_options, offsetof(struct export_args, filter)),
	{ 'j', "json", NULL, NULL, "print one JSON object of schema sluice.export/1", OPTION_FLAG,
	  offsetof(struct export_args, json) },
	{ 0 }
};

/* The format of --format, else that of the suffix; NULL if there is none. */
static const struct export_format *find_format(int choice, const char *path)
{
	char word[16];

	if (choice < 0)
		return export_format_by_suffix(path);
	option_choice_name(EXPORT_WORDS, choice, word, sizeof(word));
	for (size_t i = 0; export_formats[i]; i++)
		if (!strcmp(export_formats[i]->name, word))
			return export_formats[i];
	return NULL;
}

static int check_arguments(const struct command *command, const struct export_format *format)
{
	const struct export_args *args = command->args;
	const char *path = command->argv[1];

	if (!format)
		return command_misuse(command, "%s: unknown suffix; name the format with --format",
				      path);
	if (strcmp(path, "-") == 0 && (format->fill || args->json))
		return command_misuse(command, "%s cannot be written to the standard output",
				      format->fill ? format->name : "the data and --json");
	if (args->max_events > EVENTS_LIMIT)
		return command_misuse(command, "--max: at most %d calls are possible",
				      EVENTS_LIMIT);
	return COMMAND_GOOD;
}

static void print_result(const struct command *command, const struct export_format *format,
			 const struct export_totals *totals)
{
	const struct export_args *args = command->args;
	char shortest[UNIT_TEXT];
	struct json json;

	if (totals->left_out)
		command_warn(
			command,
			"%llu of %llu calls are left out, none of them longer than %s; use "
			"--max to write more, or --between, --rank and --layer to write a part",
			(unsigned long long)totals->left_out,
			(unsigned long long)totals->activities,
			unit_ns(shortest, totals->shortest_ns));
	if (!args->json)
		return;
	json_start(&json, stdout, "sluice.export/1");
	json_text(&json, "path", command->argv[1]);
	json_text(&json, "format", format->name);
	json_count(&json, "activities", totals->activities);
	json_count(&json, "left_out", totals->left_out);
	json_count(&json, "files", totals->files);
	json_count(&json, "bytes", totals->bytes);
	json_end(&json);
}

static int export_with_progress(const struct command *command, const struct export_job *job,
				const struct export_format *format)
{
	struct progress progress;
	struct trace_watch watch = { interrupt_show_progress, &progress };
	bool to_stdout = strcmp(command->argv[1], "-") == 0;
	struct interrupt stop;
	struct err err = { 0 };
	int r;

	job->options->watch = &watch;
	/* On the standard output there is nothing to remove, and its reader may be stuck. */
	if (!to_stdout)
		interrupt_catch(&stop);
	progress_start(&progress, "exporting", job->trace->head.activities);
	r = export_trace(job, format, command->argv[1], &err);
	progress_end(&progress);
	if (!to_stdout)
		interrupt_restore(&stop);
	if (r < 0)
		return command_fail(command, "%s", err.text);
	print_result(command, format, job->totals);
	run_argument_warn_losses(command, &job->trace->head);
	return command_finish(command);
}

static int trace_export_run(struct command *command)
{
	const struct export_args *args = command->args;
	const struct export_format *format = find_format(args->format, command->argv[1]);
	struct export_options options = { .max_events = args->max_events,
					  .memory = args->memory,
					  .slice_ns = args->slice_ns };
	struct export_totals totals;
	struct trace_filter filter;
	AUTO_FREE char *path = NULL;
	struct trace trace;
	int ret = check_arguments(command, format);

	if (!ret)
		ret = filter_option_parse(command, &args->filter, &filter);
	if (!ret)
		ret = run_argument_path(command, command->argv[0], &path);
	if (!ret)
		ret = run_argument_open(command, &trace, &filter);
	if (ret)
		return ret;
	ret = export_with_progress(
		command, &(struct export_job){ &trace, path, &filter, &options, &totals }, format);
	trace_close(&trace);
	return ret;
}

const struct command_ops command_trace_export = {
	.name = "export",
	.help = "write a trace for query engines, trace viewers and flame graphs",
	.operands = "RUN OUT",
	.operands_min = 2,
	.operands_max = 2,
	.about = "Unlike the formats of 'sluice trace convert', an export is not read back. OUT "
		 "must not exist; it appears when it is complete. If OUT is -, everything but "
		 "Parquet is written to the standard output.\n\n"
		 "  sluice trace export 3f9a1 run.parquet     DuckDB, Spark, Polars, pandas\n"
		 "  sluice trace export 3f9a1 run.json        Perfetto, chrome://tracing\n"
		 "  sluice trace export 3f9a1 run.folded      flamegraph.pl, speedscope\n"
		 "  sluice trace export 3f9a1 run.csv         the lines of 'sluice print --csv'\n\n"
		 "A Parquet export is a directory with the table of calls, partitioned by rank and "
		 "time, and small tables for everything else. Name it run=ID to query several runs "
		 "at once. docs/reference/queries.md describes the tables and gives queries.\n\n"
		 "The viewers of events hold a file in memory, so it contains only the longest "
		 "calls. The weight of a folded stack is the time that its last call spent outside "
		 "of the calls that it caused, in microseconds.",
	.options = trace_export_options,
	.args_bytes = sizeof(struct export_args),
	.run = trace_export_run,
	.complete = run_argument_complete,
};
