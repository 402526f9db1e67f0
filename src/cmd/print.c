/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice print: prints every activity of a trace, in order, as text, CSV or JSON. Only one batch of
 * activities is in memory at a time.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/integer.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/term.h"
#include "cli/command.h"
#include "cmd/filter_option.h"
#include "cmd/run_argument.h"
#include "observe/report/line.h"
#include "observe/report/loss.h"
#include "observe/tally/nest.h"

#define BATCH 1024

struct print_args {
	struct filter_args filter;
	uint64_t limit;
	bool tree, csv, json;
};

static const struct option print_options[] = {
	OPTION_INCLUDE(filter_options, offsetof(struct print_args, filter)),
	{ 'l', "limit", "N", NULL, "stop after N calls", OPTION_COUNT,
	  offsetof(struct print_args, limit) },
	{ 0, "tree", NULL, NULL, "indent each call below the call that caused it", OPTION_FLAG,
	  offsetof(struct print_args, tree) },
	{ 0, "csv", NULL, NULL, "print comma-separated values with a header line", OPTION_FLAG,
	  offsetof(struct print_args, csv) },
	{ 'j', "json", NULL, NULL, "print one JSON object of schema sluice.print/1", OPTION_FLAG,
	  offsetof(struct print_args, json) },
	{ 0 }
};

struct printer {
	const struct print_args *args;
	const struct trace_head *head;
	struct buf text;
	struct json json;
	struct nest nest;
	uint64_t left;	 /* activities that --limit still allows */
	bool is_wrapped; /* lines fit the terminal */
};

static void print_one(struct printer *p, const struct activity *a)
{
	const struct nest_call *enclosing;

	if (p->args->json) {
		fputs("\n", stdout);
		line_json(&p->json, p->head, a);
	} else if (p->args->csv) {
		line_csv(&p->text, p->head, a);
	} else if (p->args->tree) {
		line_tree(&p->text, p->head, a, nest_enter(&p->nest, a, &enclosing));
	} else {
		line_format(&p->text, p->head, a);
	}
}

static void print_batch(struct printer *p, const struct activity *batch, size_t n)
{
	for (size_t i = 0; i < n; i++)
		print_one(p, &batch[i]);
	/* Lines for programs are not broken. */
	if (p->is_wrapped)
		term_lines(stdout, buf_text(&p->text));
	else
		fwrite(buf_text(&p->text), 1, p->text.len, stdout);
	buf_clear(&p->text);
}

static int print_all(const struct command *command, struct printer *p, struct trace *trace)
{
	AUTO_FREE struct activity *batch = xcalloc(BATCH, sizeof(*batch));
	struct err err = { 0 };
	ssize_t n = 0;

	while (p->left && !ferror(stdout)) {
		n = trace_next(trace, batch, (size_t)u64_min(p->left, BATCH), &err);
		if (n <= 0)
			break;
		print_batch(p, batch, (size_t)n);
		p->left -= (uint64_t)n;
	}
	return n < 0 ? command_fail(command, "%s", err.text) : COMMAND_GOOD;
}

static void print_start(struct printer *p)
{
	if (p->args->json) {
		json_start(&p->json, stdout, "sluice.print/1");
		json_text(&p->json, "command", p->head->run.command);
		json_number(&p->json, "started_ns", p->head->run.started_ns);
		json_number(&p->json, "duration_ns", p->head->end.duration_ns);
		json_open(&p->json, "activities", '[');
	} else if (p->args->csv) {
		line_csv_titles(&p->text);
	}
}

static void print_end(struct printer *p)
{
	if (p->args->json) {
		json_close(&p->json);
		loss_json(&p->json, p->head);
		json_end(&p->json);
	}
	fwrite(buf_text(&p->text), 1, p->text.len, stdout);
	buf_release(&p->text);
	nest_release(&p->nest);
}

static int print_run(struct command *command)
{
	const struct print_args *args = command->args;
	struct trace_filter filter;
	struct printer printer = { .args = args,
				   .left = args->limit,
				   .is_wrapped = !args->json && !args->csv && term_width(stdout) };
	struct trace trace;
	int ret;

	if (args->json + args->csv + args->tree > 1)
		return command_misuse(command, "--json, --csv and --tree cannot be combined");
	ret = filter_option_parse(command, &args->filter, &filter);
	if (!ret)
		ret = run_argument_open(command, &trace, &filter);
	if (ret)
		return ret;
	printer.head = &trace.head;
	print_start(&printer);
	ret = print_all(command, &printer, &trace);
	print_end(&printer);
	if (!ret)
		ret = command_finish(command);
	run_argument_warn_losses(command, &trace.head);
	trace_close(&trace);
	return ret;
}

const struct command_ops command_print = {
	.name = "print",
	.help = "print every recorded call of a run",
	.operands = "[RUN]",
	.operands_max = 1,
	.about = "Without RUN, the latest run is printed. Each line shows the start in seconds, "
		 "the id, the layer, the call with its attributes, the error number, and then the "
		 "ids of the call that caused it and of the calls that created its handles:\n\n"
		 "  0.0036336 ID2 POSIX write(POSIX/quantity/BytesToWrite=10, ...) = 0 ID1\n\n"
		 "An id is ID[PROCESS:][THREAD.]NUMBER; a missing part is 0. The error is an "
		 "errno or a library's own code, which may be negative.\n\n"
		 "--tree looks for the cause of a call among the printed calls. If a layer is "
		 "filtered out, the calls it caused are not indented. In a parallel run the calls "
		 "of all ranks are printed in order of time; --rank selects one rank, "
		 "--collective one collective call on all of them:\n\n"
		 "  sluice print --tree --collective 5f0c9d4e00000007",
	.options = print_options,
	.args_bytes = sizeof(struct print_args),
	.run = print_run,
	.complete = run_argument_complete,
};
