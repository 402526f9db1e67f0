/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice print: every activity of a trace, in order, as text, CSV or JSON. Nothing is kept but one
 * batch.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "cli/command.h"
#include "cmd/runs.h"
#include "observe/report/line.h"
#include "observe/report/loss.h"
#include "observe/tally/names.h"
#include "observe/tally/nest.h"

#define BATCH 1024

struct print_args {
	uint64_t rank, limit;
	const char *layers, *file, *collective;
	struct option_span time;
	int64_t min_duration_ns;
	bool tree, csv, json;
};

#define LAYER_WORD(name, text) " " text

static const struct option print_options[] = {
	{ 'r', "rank", "N", NULL, "only processes of this MPI rank", OPTION_COUNT,
	  offsetof(struct print_args, rank) },
	{ 'l', "layer", "NAME,...", NULL, "only these layers of:" LAYER_LIST(LAYER_WORD),
	  OPTION_TEXT, offsetof(struct print_args, layers) },
	{ 'f', "file", "PATTERN", NULL, "only calls on files whose path or base name matches",
	  OPTION_TEXT, offsetof(struct print_args, file) },
	{ 't', "time", "FROM:TO", NULL,
	  "only calls that start in this part of the run; either may be missing", OPTION_SPAN,
	  offsetof(struct print_args, time) },
	{ 'd', "min-dur", "TIME", NULL, "only calls that took at least this long", OPTION_TIME,
	  offsetof(struct print_args, min_duration_ns) },
	{ 0, "collective", "HEX", NULL,
	  "only this collective call on all its ranks, and what it caused", OPTION_TEXT,
	  offsetof(struct print_args, collective) },
	{ 'n', "limit", "N", NULL, "stop after N activities", OPTION_COUNT,
	  offsetof(struct print_args, limit) },
	{ 0, "tree", NULL, NULL, "indent each call below the call that caused it", OPTION_FLAG,
	  offsetof(struct print_args, tree) },
	{ 0, "csv", NULL, NULL, "print comma-separated values with a title line", OPTION_FLAG,
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
	uint64_t left;
};

/* Bits of a list such as "POSIX,STDIO"; 0 for all. */
static int parse_layers(const struct command *command, const char *list, uint64_t *layers)
{
	*layers = 0;
	while (list && *list) {
		size_t n = strcspn(list, ",");
		int layer = names_find_layer(list, n);

		if (layer < 0)
			return command_misuse(command, "--layer: there is no layer \"%.*s\"",
					      (int)n, list);
		*layers |= UINT64_C(1) << layer;
		list += n + (list[n] == ',');
	}
	return COMMAND_GOOD;
}

/* The number that a line shows behind group/collective=. */
static int parse_collective(const struct command *command, const char *text, uint64_t *collective)
{
	size_t digits = text ? strspn(text, "0123456789abcdefABCDEF") : 0;

	*collective = text ? strtoull(text, NULL, 16) : 0;
	if (text && (!digits || digits > 16 || text[digits] || !*collective))
		return command_misuse(command,
				      "--collective: \"%s\" is not the number of a collective "
				      "call: up to 16 hexadecimal digits, not 0",
				      text);
	return COMMAND_GOOD;
}

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
	fwrite(buf_text(&p->text), 1, p->text.len, stdout);
	buf_clear(&p->text);
}

static int print_all(const struct command *command, struct printer *p, struct trace *trace)
{
	AUTO_FREE struct activity *batch = xcalloc(BATCH, sizeof(*batch));
	struct err err = { 0 };
	ssize_t n = 0;

	while (p->left && !ferror(stdout)) {
		n = trace_next(trace, batch, p->left < BATCH ? (size_t)p->left : BATCH, &err);
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
	struct trace_filter filter = {
		.from_ns = args->time.from_ns,
		.to_ns = args->time.to_ns,
		.rank = args->rank < INT32_MAX ? (int32_t)args->rank + 1 : 0,
		.file = args->file,
		.min_duration_ns = args->min_duration_ns,
	};
	struct printer printer = { .args = args, .left = args->limit };
	struct trace trace;
	int ret;

	if (args->json + args->csv + args->tree > 1)
		return command_misuse(command, "--json, --csv and --tree exclude each other");
	ret = parse_layers(command, args->layers, &filter.layers);
	if (!ret)
		ret = parse_collective(command, args->collective, &filter.collective);
	if (!ret)
		ret = runs_open(command, &trace, &filter);
	if (ret)
		return ret;
	printer.head = &trace.head;
	print_start(&printer);
	ret = print_all(command, &printer, &trace);
	print_end(&printer);
	if (!ret)
		ret = command_finish(command);
	runs_tell_losses(command, &trace.head);
	trace_close(&trace);
	return ret;
}

const struct command_ops command_print = {
	.name = "print",
	.help = "print every activity of a trace",
	.operands = "[TRACE]",
	.operands_max = 1,
	.about =
		"Without TRACE, the last run is taken. A line holds: start in seconds, id, "
		"layer, call with its attributes, error number, then the ids of the cause and "
		"of the calls that made its handles:\n\n"
		"  0.0036336 ID2 POSIX write(POSIX/quantity/BytesToWrite=10, ...) = 0 ID1\n\n"
		"An id is ID[PROCESS:][THREAD.]NUMBER; what is missing is 0. The error is an errno "
		"or a library's own code, which may be negative.\n\n"
		"With --tree the call that caused another one is looked for above it among what is "
		"printed: a layer that is filtered out leaves what it caused without indentation. "
		"In a parallel run the lines of all ranks are in one order of time; --rank shows "
		"one of them, --collective what all of them did together:\n\n"
		"  sluice print --tree --collective 5f0c9d4e00000007",
	.options = print_options,
	.args_bytes = sizeof(struct print_args),
	.run = print_run,
};
