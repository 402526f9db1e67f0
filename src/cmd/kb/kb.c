/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice kb: the knowledge base of parameters that made programs faster. 'sluice tune' fills it and
 * 'sluice run' applies it; these commands show, edit and exchange its entries.
 */
#include "cmd/kb/kb.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/table.h"
#include "base/term.h"
#include "cli/command.h"
#include "cli/format.h"
#include "params/set.h"
#include "store/knowledge.h"
#include "tune/loop/entry.h"

struct kb_args {
	int format; /* of export */
	bool json;
};

#define JSON_OPTION                                                                    \
	{                                                                              \
		'j', "json", NULL, NULL, "print one JSON object of schema " KB_SCHEMA, \
			OPTION_FLAG, offsetof(struct kb_args, json)                    \
	}

static const struct option show_options[] = { JSON_OPTION, { 0 } };

static const struct option export_options[] = {
	{ 'f', "format", PARAM_FORM_WORDS, NULL,
	  "file format to write, with the parameters of entry ID only", OPTION_CHOICE,
	  offsetof(struct kb_args, format) },
	JSON_OPTION,
	{ 0 }
};

/* The entries that are being printed. */
struct listing {
	const struct command *command;
	struct table *table;
	struct json *json;
	const struct param_form *form;
	size_t rows;
	int failed; /* exit code */
};

static int json_entry(void *arg, const struct knowledge *k)
{
	struct listing *l = arg;

	l->rows++;
	json_open(l->json, NULL, '{');
	entry_json(k, l->json);
	json_close(l->json);
	return 0;
}

/* Prints all entries, or the one with an id above 0. */
static int print_json(const struct command *command, struct store *store, int64_t id)
{
	AUTO_FREE char *text = NULL;
	size_t bytes;
	FILE *stream = xmemstream(&text, &bytes);
	struct json json;
	struct listing l = { .command = command, .json = &json };
	struct err err = { 0 };
	int r;

	json_start(&json, stream, KB_SCHEMA);
	json_open(&json, "entries", '[');
	r = id > 0 ? knowledge_get(store, id, json_entry, &l, &err)
		   : knowledge_list(store, json_entry, &l, &err);
	json_end(&json);
	fclose(stream);
	if (r < 0)
		return command_fail(command, "%s", err.text);
	fwrite(text, 1, bytes, stdout);
	return command_finish(command);
}

static const char *entry_mark(const struct knowledge *k)
{
	return k->pinned ? " pinned" : k->demoted_ns ? " demoted" : "";
}

static int table_entry(void *arg, const struct knowledge *k)
{
	struct listing *l = arg;
	AUTO_BUF struct buf line = { 0 };
	const char *compared = entry_comparison(k);
	char when[FORMAT_TIME];

	l->rows++;
	entry_append_parameters(k, &line);
	table_add(l->table, "%" PRId64 "%s", k->id, entry_mark(k));
	table_add(l->table, "%s", k->key.program);
	table_add(l->table, "%u", k->key.ranks);
	table_add(l->table, "%s", k->key.platform);
	table_add(l->table, "%s", k->key.filesystem);
	if (*k->parameters) {
		table_add(l->table, "%.2f", k->gain);
		table_add(l->table, "%.2f to %.2f", k->gain_low, k->gain_high);
	} else {
		table_add(l->table, "-");
		table_add(l->table, "-");
	}
	table_add(l->table, "%s", k->objective);
	table_add(l->table, "%.*s", (int)strcspn(compared, ":"), compared);
	table_add(l->table, "%s", format_local_time(when, k->found_ns));
	if (k->demoted_ns)
		buf_printf(&line, " (demoted %s: %s)", format_local_time(when, k->demoted_ns),
			   k->demoted_why);
	table_add(l->table, "%s", buf_text(&line));
	return 0;
}

static int list_entries(struct command *command, struct store *store, int64_t id)
{
	static const char *const titles[] = { "id",	 "program",  ">ranks",	      "platform",
					      "storage", ">speedup", "95 % interval", "objective",
					      "data",	 "found",    "parameters",    NULL };
	const struct kb_args *args = command->args;
	struct listing l = { .command = command };
	struct err err = { 0 };
	struct table table;
	int r;

	if (args->json)
		return print_json(command, store, id);
	table_init(&table, titles);
	l.table = &table;
	r = knowledge_list(store, table_entry, &l, &err);
	if (r < 0)
		r = command_fail(command, "%s", err.text);
	else if (!l.rows)
		r = COMMAND_NO_DATA;
	else
		table_print(&table, stdout, 0);
	table_release(&table);
	if (r == COMMAND_NO_DATA)
		fputs("sluice kb list: the knowledge base is empty; 'sluice tune' fills it\n",
		      stderr);
	return r ? r : command_finish(command);
}

static int show_entry(struct command *command, struct store *store, int64_t id)
{
	const struct kb_args *args = command->args;
	struct err err = { 0 };

	if (args->json)
		return print_json(command, store, id);
	if (kb_print_entry(store, id, &err) < 0)
		return command_fail(command, "%s", err.text);
	return command_finish(command);
}

static int print_parameters(void *arg, const struct knowledge *k)
{
	struct listing *l = arg;
	AUTO_BUF struct buf text = { 0 };
	struct param_set set;
	struct err err = { 0 };

	l->rows++;
	if (entry_parse_parameters(k, &set, &err) < 0 || l->form->write(&set, &text, &err) < 0)
		l->failed = command_fail(l->command, "%s", err.text);
	else
		fwrite(buf_text(&text), 1, text.len, stdout);
	param_set_release(&set);
	return 0;
}

static int export_entries(struct command *command, struct store *store, int64_t id)
{
	const struct kb_args *args = command->args;
	struct listing l = { .command = command };
	struct err err = { 0 };

	if (args->format < 0)
		return print_json(command, store, id);
	l.form = param_form_chosen(args->format);
	if (id <= 0)
		return command_misuse(command, "--format requires the ID of an entry");
	if (knowledge_get(store, id, print_parameters, &l, &err) < 0)
		return command_fail(command, "%s", err.text);
	return l.failed ? l.failed : command_finish(command);
}

static int import_entries(struct command *command, struct store *store, int64_t id)
{
	struct kb_import done;
	struct err err = { 0 };

	(void)id;
	if (kb_import(store, command->argv[0], &done, &err) < 0)
		return command_fail(command, "%s", err.text);
	term_printf(stderr, "sluice kb import: imported %u %s", done.added,
		    done.added == 1 ? "entry" : "entries");
	if (done.kept)
		term_printf(stderr, "; kept %u %s that %s pinned or better", done.kept,
			    done.kept == 1 ? "entry" : "entries", done.kept == 1 ? "is" : "are");
	fputs("\n", stderr);
	return COMMAND_GOOD;
}

static int forget_entry(struct command *command, struct store *store, int64_t id)
{
	struct err err = { 0 };

	if (knowledge_forget(store, id, &err) < 0)
		return command_fail(command, "%s", err.text);
	return COMMAND_GOOD;
}

static int set_pinned(struct command *command, struct store *store, int64_t id, bool pinned)
{
	struct err err = { 0 };

	if (knowledge_pin(store, id, pinned, &err) < 0)
		return command_fail(command, "%s", err.text);
	return COMMAND_GOOD;
}

static int pin_entry(struct command *command, struct store *store, int64_t id)
{
	return set_pinned(command, store, id, true);
}

static int unpin_entry(struct command *command, struct store *store, int64_t id)
{
	return set_pinned(command, store, id, false);
}

/* Opens the store and calls `run` with the id that the first operand names. */
static int with_store(struct command *command, bool create,
		      int (*run)(struct command *command, struct store *store, int64_t id))
{
	const char *path = config_text(command->config, SETTING_STORE_PATH);
	struct store *store = NULL;
	struct err err = { 0 };
	uint64_t id = 0;
	int r;

	if (!create && command->argc &&
	    (unit_parse_count(command->argv[0], &id) < 0 || !id || id > INT64_MAX))
		return command_misuse(command, "\"%s\" is not an id; see 'sluice kb list'",
				      command->argv[0]);
	r = create ? store_open(&store, path, &err) : store_open_existing(&store, path, &err);
	if (r < 0)
		return command_fail_err(command, r, &err);
	r = run(command, store, (int64_t)id);
	store_close(store);
	return r;
}

/* Defines the run() function of a subcommand, which opens the store and calls `function`. */
#define KB_RUN(name, function, create)                        \
	static int name##_run(struct command *command)        \
	{                                                     \
		return with_store(command, create, function); \
	}

KB_RUN(list, list_entries, false)
KB_RUN(show, show_entry, false)
KB_RUN(export, export_entries, false)
KB_RUN(import, import_entries, true)
KB_RUN(forget, forget_entry, false)
KB_RUN(pin, pin_entry, false)
KB_RUN(unpin, unpin_entry, false)

static const struct command_ops command_list = {
	.name = "list",
	.help = "list the entries of the knowledge base",
	.options = show_options,
	.args_bytes = sizeof(struct kb_args),
	.run = list_run,
};

static const struct command_ops command_show = {
	.name = "show",
	.help = "show an entry",
	.operands = "ID",
	.operands_min = 1,
	.operands_max = 1,
	.options = show_options,
	.args_bytes = sizeof(struct kb_args),
	.run = show_run,
};

static const struct command_ops command_export = {
	.name = "export",
	.help = "write entries for another machine, or the parameters of an entry",
	.operands = "[ID]",
	.operands_max = 1,
	.about = "Prints all entries, or entry ID, as JSON that 'sluice kb import' reads. With "
		 "--format it prints only the parameters of entry ID, as a file for 'sluice run "
		 "--params'.\n\n"
		 "  sluice kb export > known.json\n"
		 "  sluice kb export 3 --format xml > best.xml",
	.options = export_options,
	.args_bytes = sizeof(struct kb_args),
	.run = export_run,
};

static const struct command_ops command_import = {
	.name = "import",
	.help = "add entries from another machine",
	.operands = "FILE",
	.operands_min = 1,
	.operands_max = 1,
	.about = "The whole file is checked first. If an entry has an unknown or dangerous "
		 "parameter or implausible figures, it is named and nothing is imported. Entries "
		 "for another platform are kept but not applied on this one. Pinned entries are "
		 "not replaced.\n\n"
		 "  sluice kb import known.json",
	.args_bytes = sizeof(struct kb_args),
	.flags = COMMAND_NO_JSON,
	.run = import_run,
};

static const struct command_ops command_forget = {
	.name = "forget",
	.help = "delete an entry, so that it is no longer applied",
	.operands = "ID",
	.operands_min = 1,
	.operands_max = 1,
	.args_bytes = sizeof(struct kb_args),
	.flags = COMMAND_NO_JSON,
	.run = forget_run,
};

static const struct command_ops command_pin = {
	.name = "pin",
	.help = "prevent later tunings from replacing an entry, and apply it even if it is slower",
	.operands = "ID",
	.operands_min = 1,
	.operands_max = 1,
	.args_bytes = sizeof(struct kb_args),
	.flags = COMMAND_NO_JSON,
	.run = pin_run,
};

static const struct command_ops command_unpin = {
	.name = "unpin",
	.help = "allow later tunings to replace an entry, and slow runs to demote it",
	.operands = "ID",
	.operands_min = 1,
	.operands_max = 1,
	.args_bytes = sizeof(struct kb_args),
	.flags = COMMAND_NO_JSON,
	.run = unpin_run,
};

extern const struct command_ops command_kb_params, command_kb_tunings;

static const struct command_ops *const subcommands[] = {
	&command_list, &command_show,  &command_export,	    &command_import,	&command_forget,
	&command_pin,  &command_unpin, &command_kb_tunings, &command_kb_params, NULL,
};

const struct command_ops command_kb = {
	.name = "kb",
	.help = "show and exchange parameters that made programs faster",
	.about = "'sluice tune' adds the parameters that it has confirmed to the knowledge base, "
		 "and 'sluice run --tune apply' applies them. An entry belongs to one program "
		 "with its code and arguments, number of ranks, data size, platform and file "
		 "system; a run that differs in any of these only gets a suggestion. A tuning that "
		 "found nothing better than the default has an entry, too. An entry that turns out "
		 "to be slower than the default is demoted: it is kept, but not applied any more "
		 "until it is pinned or tuned again.",
	.subcommands = subcommands,
};
