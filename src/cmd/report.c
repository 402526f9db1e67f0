/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice report: prints the verdict on a run, then its time and bytes by layer, function and file.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/job.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "base/term.h"
#include "base/text.h"
#include "cli/command.h"
#include "cmd/part_list.h"
#include "cmd/report_page.h"
#include "cmd/run_argument.h"
#include "observe/job/parts.h"
#include "observe/profile/profile_parts.h"
#include "observe/profile/saved.h"
#include "observe/report/diagnosed.h"
#include "observe/report/render.h"
#include "observe/report/render_findings.h"
#include "observe/tally/summary.h"
#include "observe/watch/replay.h"
#include "trace/facts.h"

struct report_args {
	uint64_t top;
	const char *plugins, *output, *html;
	bool all, by_rank, findings, rules, survey, part, json, force;
};

static const struct option report_options[] = {
	{ 't', "top", "N", "15", "show the N functions and files with the most time", OPTION_COUNT,
	  offsetof(struct report_args, top) },
	{ 0, "all", NULL, NULL, "list system files, sockets and pipes one by one", OPTION_FLAG,
	  offsetof(struct report_args, all) },
	{ 0, "by-rank", NULL, NULL, "add a table with one row per MPI rank", OPTION_FLAG,
	  offsetof(struct report_args, by_rank) },
	{ 0, "findings", NULL, NULL, "print only the findings, all of them in full", OPTION_FLAG,
	  offsetof(struct report_args, findings) },
	{ 0, "rules", NULL, NULL, "describe all findings that exist, and exit", OPTION_FLAG,
	  offsetof(struct report_args, rules) },
	{ 0, "survey", NULL, NULL, "print only how each file was accessed", OPTION_FLAG,
	  offsetof(struct report_args, survey) },
	{ 0, "plugin", "NAMES", NULL,
	  "replay the trace to these plug-ins and print only their reports", OPTION_TEXT,
	  offsetof(struct report_args, plugins) },
	{ 0, "part", NULL, NULL,
	  "save what a report needs of each RUN beside it, in a file NAME" SAVED_SUFFIX,
	  OPTION_FLAG, offsetof(struct report_args, part) },
	{ 'o', "output", "FILE", NULL, "with --part: save all runs together in FILE", OPTION_TEXT,
	  offsetof(struct report_args, output) },
	{ 0, "html", "FILE", NULL, "write the report as a web page to a new file", OPTION_TEXT,
	  offsetof(struct report_args, html) },
	{ 0, "force", NULL, NULL, "let --html replace an existing file", OPTION_FLAG,
	  offsetof(struct report_args, force) },
	{ 'j', "json", NULL, NULL, "print one JSON object of schema sluice.report/1", OPTION_FLAG,
	  offsetof(struct report_args, json) },
	{ 0 }
};

static void show_progress(void *progress, uint64_t done)
{
	progress_show(progress, done);
}

static int load_parts(const struct command *command, struct profile *profile,
		      const struct part_list *parts)
{
	struct progress progress;
	struct err err = { 0 };
	int ret;

	progress_start(&progress, "reading parts", parts->count);
	ret = profile_load_parts(profile, parts->paths, parts->count, parallel_cores(),
				 show_progress, &progress, &err);
	progress_end(&progress);
	return ret < 0 ? command_fail(command, "%s", err.text) : COMMAND_GOOD;
}

static bool has_several_runs(const struct command *command)
{
	return command->argc > 1 || (command->argc && part_list_is_directory(command->argv[0]));
}

static int write_page(const struct command *command, const struct report *report)
{
	const struct report_args *args = command->args;
	AUTO_FREE char *run = NULL;
	int ret = COMMAND_GOOD;

	if (!has_several_runs(command))
		ret = run_argument_path(command, command->argc ? command->argv[0] : NULL, &run);
	return ret ? ret : report_page_write(command, report, run, args->html, args->force);
}

/* Says before a long trace is read why a page cannot be written. */
static int check_page_options(const struct command *command)
{
	const struct report_args *args = command->args;
	struct stat st;

	if (args->findings || args->survey || args->part || args->plugins || args->json)
		return command_misuse(command, "--html cannot be combined with --findings, "
					       "--survey, --part, --plugin or --json");
	if (!args->force && lstat(args->html, &st) == 0)
		return command_fail(command, "%s: file exists; use --force to replace it",
				    args->html);
	return COMMAND_GOOD;
}

static int print_report(const struct command *command, const struct report *report)
{
	const struct report_args *args = command->args;

	if (args->html)
		return write_page(command, report);
	if (args->json)
		render_json(stdout, report);
	else if (args->survey)
		render_survey(stdout, report);
	else if (args->findings)
		render_findings(stdout, report->profile, report->findings, report->finding_count,
				SIZE_MAX);
	else
		render_text(stdout, report);
	return command_finish(command);
}

static int report_profile(const struct command *command, const struct profile *profile)
{
	const struct report_args *args = command->args;
	/* Commands in findings name the trace that the parts would be merged into. */
	AUTO_FREE char *trace = command->argc && part_list_is_directory(command->argv[0])
					? parts_trace(command->argv[0])
					: NULL;
	const char *run = trace ? trace : command->argc ? command->argv[0] : NULL;
	struct diagnosed diagnosed;
	int ret;

	if (args->by_rank && !profile->summary.ranks.count)
		command_warn(command, "--by-rank: this run has no MPI ranks");
	diagnosed_init(&diagnosed, profile, command->config, run, args->survey || args->json);
	diagnosed.report.top = args->top;
	diagnosed.report.by_rank = args->by_rank;
	diagnosed.report.all = args->all;
	ret = print_report(command, &diagnosed.report);
	diagnosed_release(&diagnosed);
	return ret;
}

static int report_trace(const struct command *command, struct trace *trace)
{
	struct profile profile;
	int ret = run_argument_read(command, &profile, trace);

	if (ret)
		return ret;
	ret = report_profile(command, &profile);
	profile_release(&profile);
	return ret;
}

static int report_parts(const struct command *command, const struct part_list *parts)
{
	struct profile profile;
	int ret = load_parts(command, &profile, parts);

	if (ret)
		return ret;
	ret = report_profile(command, &profile);
	run_argument_warn_losses(command, profile.head);
	profile_release(&profile);
	return ret;
}

static int save(const struct command *command, const struct profile *profile, const char *path)
{
	struct err err = { 0 };

	if (saved_write(profile, path, &err) < 0)
		return command_fail(command, "%s", err.text);
	term_printf(stdout, "%s\n", path);
	return COMMAND_GOOD;
}

static int save_together(const struct command *command, const struct part_list *parts)
{
	const struct report_args *args = command->args;
	struct profile profile;
	int ret = load_parts(command, &profile, parts);

	if (ret)
		return ret;
	ret = save(command, &profile, args->output);
	profile_release(&profile);
	return ret;
}

static int save_beside(const struct command *command, const char *part)
{
	AUTO_FREE char *path = part_list_saved_path(part);
	struct profile profile;
	struct trace trace;
	struct err err = { 0 };
	int ret;

	if (trace_open(&trace, part, NULL, &err) < 0)
		return command_fail(command, "%s", err.text);
	ret = run_argument_read(command, &profile, &trace);
	if (!ret) {
		ret = save(command, &profile, path);
		profile_release(&profile);
	}
	trace_close(&trace);
	return ret;
}

/* Under a parallel launcher, each process takes its share of the parts. */
static int save_parts(const struct command *command, const struct part_list *parts)
{
	const struct report_args *args = command->args;
	int32_t rank = 0, size = 1;
	int ret = COMMAND_GOOD;

	job_find_rank(&rank, &size);
	if (args->output && size > 1)
		return command_misuse(command,
				      "--output cannot be used by several processes of a launcher");
	if (args->output)
		return save_together(command, parts);
	for (size_t i = (size_t)rank; i < parts->count && !ret; i += (size_t)size)
		ret = save_beside(command, parts->paths[i]);
	return ret ? ret : command_finish(command);
}

/* The notes of plug-ins while a trace is replayed to them. */
struct played {
	const struct command *command;
	struct note *notes;
	size_t count, cap;
};

static void collect_note(void *arg, const struct note *note)
{
	struct played *p = arg;

	if (note->name && !strcmp(note->name, NOTE_WARNING)) {
		command_warn(p->command, "plug-in %s: %s", note->source, note->value);
		return;
	}
	p->notes = xgrow(p->notes, &p->cap, p->count + 1, sizeof(*p->notes));
	p->notes[p->count++] = (struct note){
		.time_ns = note->time_ns,
		.process = note->process,
		.host = xstrdup(text_or_empty(note->host)),
		.source = xstrdup(text_or_empty(note->source)),
		.kind = xstrdup(text_or_empty(note->kind)),
		.name = xstrdup(text_or_empty(note->name)),
		.value = xstrdup(text_or_empty(note->value)),
	};
}

static int report_plugins(const struct command *command, struct trace *trace)
{
	const struct report_args *args = command->args;
	struct played played = { .command = command };
	struct replay_options options = { command->config, args->plugins, "--plugin", &played,
					  collect_note };
	struct trace_head head = trace->head;
	struct summary summary;
	struct err err = { 0 };
	int ret = COMMAND_GOOD;

	if (replay_trace(trace, &options, &err) < 0)
		ret = command_fail(command, "%s", err.text);
	head.notes = played.notes;
	head.note_count = played.count;
	summary_init(&summary, &head);
	if (!ret && args->json)
		render_plugins_json(stdout, &summary);
	else if (!ret)
		render_plugins(stdout, &summary);
	summary_release(&summary);
	for (size_t i = 0; i < played.count; i++)
		fact_release(&fact_note, &played.notes[i]);
	free(played.notes);
	return ret ? ret : command_finish(command);
}

static int report_one(struct command *command)
{
	const struct report_args *args = command->args;
	struct trace trace;
	int ret = run_argument_open(command, &trace, NULL);

	if (ret)
		return ret;
	ret = args->plugins ? report_plugins(command, &trace) : report_trace(command, &trace);
	run_argument_warn_losses(command, &trace.head);
	trace_close(&trace);
	return ret;
}

/* Finds the paths of all operands; a directory stands for its parts. */
static int find_parts(const struct command *command, struct part_list *parts)
{
	const struct report_args *args = command->args;
	struct part_list named = { 0 };
	struct err err = { 0 };
	int ret = COMMAND_GOOD;

	for (int i = 0; i < command->argc && !ret; i++) {
		char *path = NULL;

		if (part_list_is_directory(command->argv[i]))
			path = xstrdup(command->argv[i]);
		else
			ret = run_argument_path(command, command->argv[i], &path);
		if (!ret)
			part_list_add(&named, path);
		free(path);
	}
	if (!ret && part_list_find(parts, (int)named.count, named.paths, !args->part, &err) < 0)
		ret = command_fail(command, "%s", err.text);
	part_list_release(&named);
	return ret;
}

static int report_several(struct command *command)
{
	const struct report_args *args = command->args;
	struct part_list parts = { 0 };
	int ret = find_parts(command, &parts);

	if (!ret)
		ret = args->part ? save_parts(command, &parts) : report_parts(command, &parts);
	part_list_release(&parts);
	return ret;
}

static int report_run(struct command *command)
{
	const struct report_args *args = command->args;
	bool several = has_several_runs(command);
	int ret;

	if (args->rules) {
		render_rules(stdout);
		return command_finish(command);
	}
	if (args->survey + args->by_rank + args->findings + args->part + (args->plugins != NULL) >
	    1)
		return command_misuse(command,
				      "--findings, --survey, --by-rank, --part and --plugin "
				      "cannot be combined");
	if (args->output && !args->part)
		return command_misuse(command, "--output is only useful with --part");
	if (args->part && !command->argc)
		return command_misuse(command, "missing RUN; usage: sluice report --part RUN...");
	if (several && args->plugins)
		return command_misuse(command, "--plugin accepts one RUN");
	ret = args->html ? check_page_options(command) : COMMAND_GOOD;
	if (ret)
		return ret;
	return several || args->part ? report_several(command) : report_one(command);
}

const struct command_ops command_report = {
	.name = "report",
	.help = "explain a run: time and bytes by layer, function, file and rank",
	.operands = "[RUN...]",
	.operands_max = -1,
	.about =
		"Without RUN, the latest run is reported. A log of Darshan can take the place of a "
		"RUN. The first line is the verdict. \"In "
		"I/O\" is the part of the run time in which at least one thread was inside an "
		"I/O call of any layer. Sockets and pipes, which mostly wait for other programs, "
		"are counted separately, and so are MPI_Init and other calls that start or end "
		"processes. The tables sum times over threads. A call inside another call of the "
		"same layer, function or file does not count its time and bytes again. All "
		"percentages are shares of the run time: the time of a row in proportion to the "
		"time in I/O, for a parallel run averaged over ranks. Bytes are "
		"those that the program requested; the line \"storage\" shows the accesses that "
		"libraries made of them. System files, sockets and pipes are combined to one row "
		"each; --all lists them.\n\n"
		"The findings follow: reasons why the I/O was slow, the worst first, each with its "
		"evidence, its share of the run time, a command that shows the calls, and fixes "
		"to copy. A cause that the evidence does not prove is called possible. A "
		"predicted gain is the run time divided by what remains if the superfluous calls "
		"vanish. --rules describes all findings and their thresholds, which are settings "
		"(findings.*).\n\n"
		"For a parallel run, the tables show the calls and bytes of all ranks; the time "
		"as average, minimum and maximum over the ranks that took part; and the slowest "
		"rank. The launcher is shown separately.\n\n"
		"--survey prints the figures of SIOX's file surveyor for each file and layer: "
		"each number as (average,minimum,maximum) over ranks, or over processes in a "
		"serial run. Times are in nanoseconds. An access is sequential if it starts "
		"where the previous one ended (or at 0 after an open). A seek of up to 64 KiB is "
		"short. A non-contiguous access counts as a long seek:\n\n"
		"  [FileSurveyor:MPI] \"/data/out\"/Accesses/Reading/Sequential = (0.2,0,2)\n\n"
		"--html writes one file that a browser opens without a server: the verdict, the "
		"findings, plots, and tables that can be sorted and filtered. It contains file "
		"names and command lines, so share it with care.\n\n"
		"--plugin replays the recorded calls to asynchronous plug-ins, named as in the "
		"setting plugins.load, and prints their reports. It neither uses nor changes the "
		"store of earlier runs.\n\n"
		"Several RUNs, or a directory TRACE.parts, are the parts of one job; they are read "
		"by several threads and reported together. Their clocks are taken to agree; "
		"'sluice trace merge' aligns them. --part saves what a report needs of each part "
		"in a small file beside it; with a parallel launcher, the processes share the "
		"work. The report of the directory, or of these files, then only adds them up:\n\n"
		"  srun sluice report --part job.sluice.parts && sluice report job.sluice.parts\n\n"
		"A name in parentheses stands for calls that were counted but not recorded "
		"individually.\n\n"
		"The report also lists the notes of the run: anomalies, applied parameters and "
		"hints, reduced recording, and plug-ins that were switched off. After the tables "
		"it shows the node's statistics during I/O, the reports of plug-ins, and the "
		"overhead of recording.",
	.options = report_options,
	.args_bytes = sizeof(struct report_args),
	.run = report_run,
	.complete = run_argument_complete,
};
