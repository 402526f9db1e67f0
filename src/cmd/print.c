/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice print: prints every activity of a trace, in order, as text, CSV or JSON. Only one batch of
 * activities is in memory at a time.
 * Papers: SIOX-48.
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
#include "cmd/print_tree.h"
#include "cmd/run_argument.h"
#include "observe/chain/chain.h"
#include "observe/report/line.h"
#include "observe/report/loss.h"

#define BATCH 1024

struct print_args {
	struct filter_args filter;
	uint64_t limit;
	const char *call;
	bool tree, csv, json;
};

static const struct option print_options[] = {
	OPTION_INCLUDE(filter_options, offsetof(struct print_args, filter)),
	{ 'l', "limit", "N", NULL, "stop after N calls", OPTION_COUNT,
	  offsetof(struct print_args, limit) },
	{ 0, "tree", NULL, NULL, "indent each call below the call that caused it", OPTION_FLAG,
	  offsetof(struct print_args, tree) },
	{ 0, "call", "ID", NULL,
	  "with --tree: print only this call and the calls it caused, also at the other end of a "
	  "connection",
	  OPTION_TEXT, offsetof(struct print_args, call) },
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
	struct chain *chain;
	struct print_tree tree;
	uint64_t left;	 /* activities that --limit still allows */
	bool is_wrapped; /* lines fit the terminal */
};

/* Returns the number of lines. */
static size_t print_one(struct printer *p, const struct activity *a)
{
	if (p->args->tree)
		return print_tree_add(&p->tree, &p->text, a);
	if (p->args->json) {
		fputs("\n", stdout);
		line_json(&p->json, p->head, a, p->chain);
	} else if (p->args->csv) {
		line_csv(&p->text, p->head, a);
	} else {
		line_format(&p->text, p->head, a);
	}
	return 1;
}

static void print_text(struct printer *p)
{
	/* Lines for programs are not broken. */
	if (p->is_wrapped)
		term_lines(stdout, buf_text(&p->text));
	else
		fwrite(buf_text(&p->text), 1, p->text.len, stdout);
	buf_clear(&p->text);
}

static void print_batch(struct printer *p, const struct activity *batch, size_t n)
{
	for (size_t i = 0; i < n && p->left; i++)
		p->left -= u64_min(p->left, print_one(p, &batch[i]));
	print_text(p);
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
	}
	if (n == 0 && p->args->tree) {
		print_tree_finish(&p->tree, &p->text);
		print_text(p);
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

static void print_connections_json(struct json *json, const struct chain *chain)
{
	const struct chain_counts *counts = chain_counts(chain);

	if (!counts)
		return;
	json_open(json, "connections", '{');
	json_count(json, "connections", counts->connections);
	for (enum chain_state i = 0; i < CHAIN_STATES; i++)
		if (chain_state_is_link(i))
			json_count(json, chain_state_key(i), counts->calls[i]);
	json_count(json, "other_sockets", counts->other_sockets);
	json_close(json);
	json_open(json, "fuse_requests", '{');
	for (enum chain_state i = 0; i < CHAIN_STATES; i++)
		if (chain_state_is_fuse(i))
			json_count(json, chain_state_key(i), counts->requests[i]);
	json_close(json);
	json_open(json, "object_writes", '{');
	for (enum chain_state i = 0; i < CHAIN_STATES; i++)
		if (chain_state_is_object(i))
			json_count(json, chain_state_key(i), counts->objects[i]);
	json_close(json);
}

static void print_end(struct printer *p)
{
	if (p->args->json) {
		json_close(&p->json);
		loss_json(&p->json, p->head);
		print_connections_json(&p->json, p->chain);
		json_end(&p->json);
	}
	fwrite(buf_text(&p->text), 1, p->text.len, stdout);
	buf_release(&p->text);
	print_tree_release(&p->tree);
}

/* Says why calls at the two ends of connections, requests to FUSE servers, and writes of storage
 * servers were not matched. */
static void warn_unmatched(const struct command *command, const struct chain *chain)
{
	const struct chain_counts *counts = chain_counts(chain);

	for (enum chain_state i = 0; counts && i < CHAIN_STATES; i++) {
		if (counts->calls[i] && !chain_state_is_good(i))
			command_warn(command, "%llu calls on TCP connections were not matched: %s",
				     (unsigned long long)counts->calls[i], chain_state_text(i));
		if (counts->requests[i] && !chain_state_is_good(i))
			command_warn(command, "%llu requests to FUSE servers were not matched: %s",
				     (unsigned long long)counts->requests[i], chain_state_text(i));
		if (counts->objects[i] && !chain_state_is_good(i))
			command_warn(command, "%llu writes of storage servers were not matched: %s",
				     (unsigned long long)counts->objects[i], chain_state_text(i));
	}
	if (counts && counts->other_sockets)
		command_warn(command,
			     "%llu calls on other sockets were not matched: they are not TCP, or "
			     "their addresses were not recorded",
			     (unsigned long long)counts->other_sockets);
}

/* Finds the calls at the other ends of connections, and starts the tree. */
static int prepare_chain(const struct command *command, struct printer *p, struct trace *trace)
{
	const struct print_args *args = p->args;
	struct err err = { 0 };
	uint32_t process = 0;
	uint64_t root = 0;

	if (args->call && !print_tree_parse_id(args->call, &process, &root))
		return command_misuse(command, "--call %s: not an id such as ID3 or ID1:0.3",
				      args->call);
	if (args->call && process >= trace->head.process_count)
		return command_fail(command, "--call %s: the run has only %zu processes",
				    args->call, trace->head.process_count);
	if ((args->tree || args->json) && chain_read(&p->chain, trace->path, &err) < 0)
		return command_fail(command, "%s", err.text);
	if (args->tree)
		print_tree_init(&p->tree, p->head, p->chain, process, root);
	return COMMAND_GOOD;
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
	if (args->call && !args->tree)
		return command_misuse(command, "--call requires --tree");
	ret = filter_option_parse(command, &args->filter, &filter);
	if (!ret)
		ret = run_argument_open(command, &trace, &filter);
	if (ret)
		return ret;
	printer.head = &trace.head;
	ret = prepare_chain(command, &printer, &trace);
	if (!ret) {
		print_start(&printer);
		ret = print_all(command, &printer, &trace);
		print_end(&printer);
		if (!ret)
			ret = command_finish(command);
		run_argument_warn_losses(command, &trace.head);
		warn_unmatched(command, printer.chain);
	}
	chain_free(printer.chain);
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
		 "  sluice print --tree --collective 5f0c9d4e00000007\n\n"
		 "If both ends of a TCP connection are in the trace, --tree shows which bytes went "
		 "where: \"-> ID\" names the calls that received what a call has sent, \"<- ID\" "
		 "the calls that sent what it received, or the receive that a server made it for. "
		 "A receive follows the call that sent its bytes, even if it began before. "
		 "'sluice trace merge --join' puts the runs of a client and a server into one "
		 "trace. --call ID prints only what one call has led to:\n\n"
		 "  sluice print --tree --call ID0.17",
	.options = print_options,
	.args_bytes = sizeof(struct print_args),
	.run = print_run,
	.complete = run_argument_complete,
};
