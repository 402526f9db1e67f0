/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice report: the verdict on a run, then where its time and bytes went.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/term.h"
#include "cli/command.h"
#include "cmd/runs.h"
#include "observe/plugins/file_surveyor.h"
#include "observe/report/render.h"
#include "observe/tally/summary.h"
#include "observe/report/trace_host.h"
#include "observe/watch/replay.h"
#include "trace/facts.h"

#define BATCH 4096

struct report_args {
	uint64_t top;
	const char *plugins;
	bool by_rank, survey, json;
};

static const struct option report_options[] = {
	{ 'n', "top", "N", "15", "how many functions and files to show", OPTION_COUNT,
	  offsetof(struct report_args, top) },
	{ 0, "by-rank", NULL, NULL, "show a row for each rank of a parallel run, too", OPTION_FLAG,
	  offsetof(struct report_args, by_rank) },
	{ 0, "survey", NULL, NULL, "print how each file was accessed, and nothing else",
	  OPTION_FLAG, offsetof(struct report_args, survey) },
	{ 'p', "plugin", "NAMES", NULL,
	  "play the trace to these plug-ins and print what they report, nothing else", OPTION_TEXT,
	  offsetof(struct report_args, plugins) },
	{ 'j', "json", NULL, NULL, "print one JSON object of schema sluice.report/1", OPTION_FLAG,
	  offsetof(struct report_args, json) },
	{ 0 }
};

/* surveyor may be NULL. */
static int add_all(const struct command *command, struct summary *summary,
		   struct file_surveyor *surveyor, struct trace *trace)
{
	AUTO_FREE struct activity *batch = xcalloc(BATCH, sizeof(*batch));
	struct progress progress;
	struct err err = { 0 };
	uint64_t done = 0;
	ssize_t n;

	progress_start(&progress, "reading", trace->head.activities);
	while ((n = trace_next(trace, batch, BATCH, &err)) > 0) {
		for (ssize_t i = 0; i < n; i++) {
			summary_add(summary, &batch[i]);
			if (surveyor)
				file_surveyor_add(surveyor, &batch[i]);
		}
		done += (uint64_t)n;
		progress_show(&progress, done);
	}
	progress_end(&progress);
	return n < 0 ? command_fail(command, "%s", err.text) : COMMAND_GOOD;
}

static int render(const struct command *command, const struct report *report)
{
	const struct report_args *args = command->args;

	if (args->json)
		render_json(stdout, report);
	else if (args->survey)
		render_survey(stdout, report);
	else
		render_text(stdout, report);
	return command_finish(command);
}

static int report_trace(const struct command *command, struct trace *trace)
{
	const struct report_args *args = command->args;
	struct file_surveyor surveyor = { 0 };
	struct trace_host host;
	struct summary summary;
	struct report report = { .summary = &summary,
				 .ranks = &summary.ranks,
				 .top = args->top,
				 .by_rank = args->by_rank };
	int ret;

	summary_init(&summary, &trace->head);
	if (args->survey || args->json) {
		trace_host_init(&host, &trace->head);
		file_surveyor_init(&surveyor, &host.host);
		report.surveyor = &surveyor;
	}
	if (args->by_rank && !summary.ranks.count)
		command_warn(command, "--by-rank: no process of this run has an MPI rank");
	ret = add_all(command, &summary, report.surveyor ? &surveyor : NULL, trace);
	if (!ret)
		ret = render(command, &report);
	file_surveyor_release(&surveyor);
	summary_release(&summary);
	return ret;
}

/* What plug-ins say while a trace is played to them. */
struct played {
	const struct command *command;
	struct note *notes;
	size_t count, cap;
};

static char *copy_of(const char *text)
{
	return xstrdup(text ? text : "");
}

static void note_take(void *arg, const struct note *note)
{
	struct played *p = arg;

	if (note->name && !strcmp(note->name, NOTE_WARNING)) {
		command_warn(p->command, "plug-in %s: %s", note->source, note->value);
		return;
	}
	p->notes = xgrow(p->notes, &p->cap, p->count + 1, sizeof(*p->notes));
	p->notes[p->count++] = (struct note){
		note->time_ns,	       note->process,	    copy_of(note->host),
		copy_of(note->source), copy_of(note->kind), copy_of(note->name),
		copy_of(note->value),
	};
}

static int report_plugins(const struct command *command, struct trace *trace)
{
	const struct report_args *args = command->args;
	struct played played = { .command = command };
	struct replay_options options = { command->config, args->plugins, "--plugin", &played,
					  note_take };
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

static int report_run(struct command *command)
{
	const struct report_args *args = command->args;
	struct trace trace;
	int ret;

	if (args->survey + args->by_rank + (args->plugins != NULL) > 1)
		return command_misuse(command,
				      "--survey, --by-rank and --plugin exclude each other");
	ret = runs_open(command, &trace, NULL);
	if (ret)
		return ret;
	ret = args->plugins ? report_plugins(command, &trace) : report_trace(command, &trace);
	runs_tell_losses(command, &trace.head);
	trace_close(&trace);
	return ret;
}

const struct command_ops command_report = {
	.name = "report",
	.help = "explain a run: time and bytes by layer, function, file and rank",
	.operands = "[TRACE]",
	.operands_max = 1,
	.about = "Without TRACE, the last run is taken. The first line is the verdict. \"In "
		 "I/O\" is the part of the run's time in which at least one thread was inside "
		 "an I/O call of any layer; sockets and pipes, which mostly wait for others, "
		 "are told apart, and so is what happens inside MPI_Init and other calls that "
		 "start or end processes. Times in the tables are summed over threads. A call "
		 "inside another one of the same layer, function or file does not count its "
		 "time and bytes again. Bytes are those that the program asked for; the line "
		 "\"storage\" tells what libraries made of them.\n\n"
		 "Of a parallel run, the tables hold the calls of its ranks: calls and bytes of "
		 "all of them, the time as average, minimum and maximum over those that took "
		 "part, and which one is slowest. The launcher is told apart.\n\n"
		 "--survey prints, for each file and layer, what SIOX's file surveyor does: "
		 "each number as (average,minimum,maximum) over ranks, or over processes "
		 "where there are none. Times are in nanoseconds. An access is sequential "
		 "where it starts behind the one before (after an open, at 0), short are seeks "
		 "of up to 64 KiB, and a non-contiguous access counts as a long seek:\n\n"
		 "  [FileSurveyor:MPI] \"/data/out\"/Accesses/Reading/Sequential = (0.2,0,2)\n\n"
		 "--plugin plays the recorded calls to asynchronous plug-ins, named as in the "
		 "settings (plugins.load), and prints their reports. Nothing is left out, and "
		 "what is known from earlier runs is neither used nor changed.\n\n"
		 "A name in parentheses stands for calls that were counted and not recorded "
		 "one by one.\n\n"
		 "What was noted while the program ran is told, too: anomalies, what was "
		 "applied, what was recorded less closely and which plug-ins were left out; "
		 "and behind the tables the node's statistics in the time of the I/O, the "
		 "reports of plug-ins, and what recording cost.",
	.options = report_options,
	.args_bytes = sizeof(struct report_args),
	.run = report_run,
};
