/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice model counts: prints the number and size of the operations of an access, without a model.
 * With --rank, it prints the calls of one rank inside the MPI library, as a trace would show them.
 */
#include <stdio.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/table.h"
#include "base/term.h"
#include "base/unit.h"
#include "cmd/model/model.h"
#include "cmd/run_argument.h"
#include "predict/model/access_words.h"

static const struct option counts_options[] = {
	OPTION_INCLUDE(model_access_options, 0),
	{ 0, "machine", "NAME|FILE", NULL, "description of the machine (default: this machine)",
	  OPTION_TEXT, offsetof(struct model_args, machine) },
	{ 0, "dir", "PATH", ".", "directory of the file, if this machine is used", OPTION_TEXT,
	  offsetof(struct model_args, dir) },
	{ 'r', "rank", "N", NULL, "show the calls that this rank makes inside the MPI library",
	  OPTION_COUNT, offsetof(struct model_args, rank) },
	{ 0, "object", "N", NULL,
	  "show the storage calls of all ranks that access this object of a striped file",
	  OPTION_COUNT, offsetof(struct model_args, object) },
	OPTION_INCLUDE(model_json_options, 0),
	{ 0 }
};

struct counted {
	const struct model_args *args;
	struct machine machine;
	struct access access;
	struct settings settings;
	struct counts counts;
};

/* Adds a number; 0 means that it does not apply to the operation. */
static void add_number(struct table *table, double value)
{
	if (value > 0)
		table_add(table, "%.6g", value);
	else
		table_add(table, "-");
}

static void print_terms(const struct counts *counts)
{
	static const char *const titles[] = { "step",	    "operation", ">count", ">messages",
					      ">receivers", ">writers",	 ">bytes", NULL };
	struct table table;
	char bytes[UNIT_TEXT];

	table_init(&table, titles);
	for (size_t i = 0; i < counts->count; i++) {
		const struct term *term = &counts->terms[i];

		table_add(&table, "%s", term->what);
		table_add(&table, "%s", operations[term->operation].title);
		table_add(&table, "%.10g", term->count);
		add_number(&table, term->at.senders);
		add_number(&table, term->at.receivers);
		add_number(&table, term->at.writers * term->at.nodes);
		table_add(&table, "%s", unit_bytes(bytes, term->at.bytes));
	}
	table_print(&table, stdout, 2);
	table_release(&table);
}

static void print_stripes(const struct counted *c)
{
	struct stripes stripes = counts_stripes(&c->machine, &c->settings);
	char unit[UNIT_TEXT];

	if (stripes.count)
		term_sentence(stdout,
			      "the file has %lu stripe%s in units of %s; messages and receivers "
			      "of a storage round are the pieces into which they cut its writes, "
			      "and the targets that share them\n",
			      stripes.count, stripes.count == 1 ? "" : "s",
			      unit_bytes(unit, (double)stripes.unit));
}

static void print_counts(const struct counted *c)
{
	AUTO_FREE char *line = settings_text(&c->settings, &c->machine, &c->access);
	char access[ACCESS_TEXT], bytes[UNIT_TEXT];

	access_text(&c->access, access);
	term_sentence(stdout, "%s, with %s, on %s\n\n", access, line, c->machine.title);
	print_terms(&c->counts);
	if (!c->counts.aggregators) {
		term_sentence(stdout, "\nno aggregators: every rank accesses its own data\n");
		print_stripes(c);
		return;
	}
	term_sentence(stdout, "\n%lu aggregator%s, %lu full round%s of %s%s\n",
		      c->counts.aggregators, c->counts.aggregators == 1 ? "" : "s",
		      c->counts.rounds, c->counts.rounds == 1 ? "" : "s",
		      unit_bytes(bytes, (double)c->counts.round_bytes),
		      c->counts.incomplete ? " and an incomplete one" : "");
	print_stripes(c);
}

static void json_term(struct json *json, const struct term *term)
{
	json_open(json, NULL, '{');
	json_text(json, "what", term->what);
	json_text(json, "operation", operations[term->operation].name);
	json_double(json, "count", term->count);
	json_double(json, "nodes", term->at.nodes);
	json_double(json, "cores", term->at.cores);
	json_double(json, "senders", term->at.senders);
	json_double(json, "receivers", term->at.receivers);
	json_double(json, "writers", term->at.writers);
	json_double(json, "bytes", term->at.bytes);
	json_close(json);
}

static void print_counts_json(const struct counted *c)
{
	struct json json;

	json_start(&json, stdout, MODEL_SCHEMA);
	json_text(&json, "machine", c->machine.name);
	access_json(&json, &c->access);
	settings_json(&json, &c->settings, &c->machine, &c->access);
	json_count(&json, "aggregators", c->counts.aggregators);
	json_count(&json, "bytes", c->counts.bytes);
	json_count(&json, "round_bytes", c->counts.round_bytes);
	json_count(&json, "rounds", c->counts.rounds);
	json_count(&json, "incomplete", c->counts.incomplete);
	json_count(&json, "incomplete_bytes", c->counts.incomplete_bytes);
	json_open(&json, "terms", '[');
	for (size_t i = 0; i < c->counts.count; i++)
		json_term(&json, &c->counts.terms[i]);
	json_end(&json);
}

/* One row per field of struct rank_calls. */
static const struct call_row {
	const char *name, *title;
	size_t offset;
} call_rows[] = {
	{ "allreduces", "Allreduce", offsetof(struct rank_calls, allreduces) },
	{ "alltoalls", "Alltoall", offsetof(struct rank_calls, alltoalls) },
	{ "alltoallvs", "Alltoallv", offsetof(struct rank_calls, alltoallvs) },
	{ "allgathers", "Allgather", offsetof(struct rank_calls, allgathers) },
	{ "broadcasts", "Bcast", offsetof(struct rank_calls, broadcasts) },
	{ "barriers", "Barrier", offsetof(struct rank_calls, barriers) },
	{ "sends", "Isend", offsetof(struct rank_calls, sends) },
	{ "receives", "Irecv", offsetof(struct rank_calls, receives) },
	{ "reads", "pread", offsetof(struct rank_calls, reads) },
	{ "writes", "pwrite", offsetof(struct rank_calls, writes) },
	{ "read_bytes", "bytes read", offsetof(struct rank_calls, read_bytes) },
	{ "written_bytes", "bytes written", offsetof(struct rank_calls, written_bytes) },
};

#define CALL_ROWS (sizeof(call_rows) / sizeof(call_rows[0]))

static uint64_t call_value(const struct rank_calls *calls, size_t row)
{
	return *(const uint64_t *)((const char *)calls + call_rows[row].offset);
}

/* The first row of storage calls; an object has no others. */
#define CALL_ROWS_STORAGE 8

static void print_calls(const struct rank_calls *calls, size_t first)
{
	static const char *const titles[] = { "call", ">count", NULL };
	struct table table;

	table_init(&table, titles);
	for (size_t i = first; i < CALL_ROWS; i++) {
		table_add(&table, "%s", call_rows[i].title);
		table_add(&table, "%lu", call_value(calls, i));
	}
	table_print(&table, stdout, 0);
	table_release(&table);
}

static void print_calls_json(const struct rank_calls *calls, const char *what, uint64_t number,
			     size_t first)
{
	struct json json;

	json_start(&json, stdout, MODEL_SCHEMA);
	json_count(&json, what, number);
	for (size_t i = first; i < CALL_ROWS; i++)
		json_count(&json, call_rows[i].name, call_value(calls, i));
	json_end(&json);
}

static int show_rank(const struct command *command, const struct counted *c)
{
	struct rank_calls calls;
	struct err err = { 0 };
	int r = rank_calls_count(&calls, &c->machine, &c->access, &c->settings, c->args->rank,
				 &err);

	if (r < 0)
		return command_fail_err(command, r, &err);
	if (c->args->json)
		print_calls_json(&calls, "rank", c->args->rank, 0);
	else
		print_calls(&calls, 0);
	return command_finish(command);
}

static int show_object(const struct command *command, const struct counted *c)
{
	struct rank_calls calls;
	struct err err = { 0 };
	int r = object_calls_count(&calls, &c->machine, &c->access, &c->settings, c->args->object,
				   &err);

	if (r < 0)
		return command_fail_err(command, r, &err);
	if (c->args->json)
		print_calls_json(&calls, "object", c->args->object, CALL_ROWS_STORAGE);
	else
		print_calls(&calls, CALL_ROWS_STORAGE);
	return command_finish(command);
}

static int show_counts(const struct command *command, struct counted *c)
{
	struct err err = { 0 };
	int r = counts_compute(&c->counts, &c->machine, &c->access, &c->settings, &err);

	if (r < 0)
		return command_fail_err(command, r, &err);
	if (c->args->json)
		print_counts_json(c);
	else
		print_counts(c);
	return command_finish(command);
}

static int counts_run(struct command *command)
{
	const struct model_args *args = command->args;
	struct counted c = { .args = args };
	struct err err = { 0 };
	int r = model_machine(args, NULL, &c.machine, &err);

	if (r < 0)
		return command_fail_err(command, r, &err);
	r = model_access(command, args, &c.machine, NULL, &c.access);
	if (!r)
		r = model_settings(command, args, &c.machine, &c.access, &c.settings, NULL);
	if (r)
		return r;
	if (args->rank != OPTION_NONE && args->object != OPTION_NONE)
		return command_misuse(command, "--rank cannot be combined with --object");
	if (args->object != OPTION_NONE)
		return show_object(command, &c);
	return args->rank == OPTION_NONE ? show_counts(command, &c) : show_rank(command, &c);
}

const struct command_ops command_model_counts = {
	.name = "counts",
	.help = "show the operations that a collective access consists of",
	.about = "  sluice model counts --ranks 64 --size 16M --param cb_nodes=4\n"
		 "  sluice model counts --run 3f9a1 --rank 0",
	.options = counts_options,
	.args_bytes = sizeof(struct model_args),
	.run = counts_run,
	.complete = run_argument_complete,
};
