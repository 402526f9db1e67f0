/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice report: the verdict on a run, then where its time and bytes went.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "base/term.h"
#include "cmd/command.h"
#include "cmd/runs.h"
#include "observe/report/render.h"
#include "observe/report/summary.h"

#define BATCH 4096

struct report_args {
	uint64_t top;
	bool json;
};

static const struct option report_options[] = {
	{ 'n', "top", "N", "15", "how many functions and files to show", OPTION_COUNT,
	  offsetof(struct report_args, top) },
	{ 'j', "json", NULL, NULL, "print one JSON object of schema sluice.report/1", OPTION_FLAG,
	  offsetof(struct report_args, json) },
	{ 0 }
};

static int add_all(const struct command *command, struct summary *summary, struct trace *trace)
{
	AUTO_FREE struct activity *batch = xcalloc(BATCH, sizeof(*batch));
	struct progress progress;
	struct err err = { 0 };
	uint64_t done = 0;
	ssize_t n;

	progress_start(&progress, "reading", trace->head.activities);
	while ((n = trace_next(trace, batch, BATCH, &err)) > 0) {
		for (ssize_t i = 0; i < n; i++)
			summary_add(summary, &batch[i]);
		done += (uint64_t)n;
		progress_show(&progress, done);
	}
	progress_end(&progress);
	return n < 0 ? command_fail(command, "%s", err.text) : COMMAND_GOOD;
}

static int report_run(struct command *command)
{
	const struct report_args *args = command->args;
	struct summary summary;
	struct trace trace;
	int ret = runs_open(command, &trace, NULL);

	if (ret)
		return ret;
	summary_init(&summary, &trace.head);
	ret = add_all(command, &summary, &trace);
	if (!ret) {
		if (args->json)
			render_json(stdout, &summary, args->top);
		else
			render_text(stdout, &summary, args->top);
		ret = command_finish(command);
	}
	runs_tell_losses(command, &trace.head);
	summary_release(&summary);
	trace_close(&trace);
	return ret;
}

const struct command_ops command_report = {
	.name = "report",
	.help = "explain a run: time and bytes by layer, function and file",
	.operands = "[TRACE]",
	.operands_max = 1,
	.about = "Without TRACE, the last run is taken. The first line is the verdict. \"In "
		 "I/O\" is the part of the run's time in which at least one thread was inside "
		 "a POSIX or STDIO call; sockets and pipes, which mostly wait for others, are "
		 "told apart. Times in the tables are summed over threads. A call inside "
		 "another one of the same layer, function or file does not count its time and "
		 "bytes again.\n\n"
		 "A name in parentheses stands for calls that were counted and not recorded "
		 "one by one.",
	.options = report_options,
	.args_bytes = sizeof(struct report_args),
	.run = report_run,
};
