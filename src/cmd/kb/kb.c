/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice kb: the knowledge base, which parameters programs are best run with. 'sluice tune' fills
 * it and 'sluice run' goes by it; here it is looked at, kept in order and exchanged.
 */
#include "cmd/kb/kb.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/table.h"
#include "base/unit.h"
#include "cli/command.h"
#include "cli/verb.h"
#include "params/set.h"
#include "store/knowledge.h"
#include "tune/loop/cost.h"

struct kb_args {
	const char *to;
	bool json;
};

static const struct option kb_options[] = {
	{ 't', "to", "FORM", NULL,
	  "export: the parameters of one entry alone, as xml, json, hints or shell", OPTION_TEXT,
	  offsetof(struct kb_args, to) },
	{ 'j', "json", NULL, NULL, "list, show: print one JSON object of schema " KB_SCHEMA,
	  OPTION_FLAG, offsetof(struct kb_args, json) },
	{ 0 }
};

/* A row on its way out. */
struct listing {
	const struct command *command;
	struct table *table;
	struct json *json;
	const struct param_form *form;
	size_t rows;
	int failed; /* exit code */
};

/* Its parameters; anybody may have written to the file, so they may be none. */
static int set_of(const struct knowledge *k, struct param_set *set, struct err *err)
{
	AUTO_FREE char *name = xprintf("entry %" PRId64, k->id);

	*set = (struct param_set){ 0 };
	return param_set_read_text(set, name, k->parameters, strlen(k->parameters), NULL, NULL,
				   err);
}

static void line_of(const struct knowledge *k, struct buf *line)
{
	struct param_set set;

	if (set_of(k, &set, NULL) < 0)
		buf_puts(line, "(not readable)");
	else
		param_set_line(&set, line);
	param_set_release(&set);
}

static void when_of(int64_t ns, char *text, size_t bytes)
{
	time_t seconds = (time_t)(ns / 1000000000);
	struct tm tm;

	snprintf(text, bytes, "-");
	if (ns > 0 && localtime_r(&seconds, &tm))
		strftime(text, bytes, "%F %H:%M", &tm);
}

/* ---- JSON ---- */

static void parameters_json(struct json *json, const struct knowledge *k)
{
	struct param_set set;

	if (set_of(k, &set, NULL) < 0) {
		json_text(json, "parameters", NULL);
		return;
	}
	json_open(json, "parameters", '[');
	for (size_t i = 0; i < set.count; i++) {
		const struct param *p = &set.params[i];

		json_open(json, NULL, '{');
		json_text(json, "name", p->tunable->name);
		json_text(json, "value", p->value);
		if (p->file)
			json_text(json, "file", p->file);
		if (p->object)
			json_text(json, "object", p->object);
		json_close(json);
	}
	json_close(json);
	param_set_release(&set);
}

static int row_json(void *arg, const struct knowledge *k)
{
	struct listing *l = arg;
	struct json *json = l->json;

	l->rows++;
	json_open(json, NULL, '{');
	json_number(json, "id", k->id);
	json_text(json, "program", k->key.program);
	json_text(json, "fingerprint", k->key.fingerprint);
	json_text(json, "arguments", k->key.arguments);
	json_text(json, "platform", k->key.platform);
	json_text(json, "filesystem", k->key.filesystem);
	json_count(json, "ranks", k->key.ranks);
	json_count(json, "size_class", k->key.size_class);
	json_text(json, "objective", k->objective);
	json_real(json, "before", k->before);
	json_real(json, "after", k->after);
	json_real(json, "gain", k->gain);
	json_real(json, "gain_low", k->gain_low);
	json_real(json, "gain_high", k->gain_high);
	json_number(json, "found_ns", k->found_ns);
	json_text(json, "study", k->study);
	json_bool(json, "pinned", k->pinned);
	parameters_json(json, k);
	json_close(json);
	return 0;
}

/* All entries, or the one with an id above 0. */
static int entries_json(const struct command *command, struct store *store, int64_t id)
{
	AUTO_FREE char *text = NULL;
	size_t bytes;
	FILE *stream = open_memstream(&text, &bytes);
	struct json json;
	struct listing l = { .command = command, .json = &json };
	struct err err = { 0 };
	int r;

	if (!stream)
		abort();
	json_start(&json, stream, KB_SCHEMA);
	json_open(&json, "entries", '[');
	r = id > 0 ? knowledge_get(store, id, row_json, &l, &err)
		   : knowledge_list(store, row_json, &l, &err);
	json_end(&json);
	fclose(stream);
	if (r < 0)
		return command_fail(command, "%s", err.text);
	fwrite(text, 1, bytes, stdout);
	return command_finish(command);
}

/* ---- text ---- */

static int row_table(void *arg, const struct knowledge *k)
{
	struct listing *l = arg;
	AUTO_BUF struct buf line = { 0 };
	char when[32];

	l->rows++;
	line_of(k, &line);
	when_of(k->found_ns, when, sizeof(when));
	table_add(l->table, "%" PRId64 "%s", k->id, k->pinned ? " pinned" : "");
	table_add(l->table, "%s", k->key.program);
	table_add(l->table, "%u", k->key.ranks);
	table_add(l->table, "%s", k->key.platform);
	table_add(l->table, "%s", k->key.filesystem);
	table_add(l->table, "%.2f", k->gain);
	table_add(l->table, "%.2f to %.2f", k->gain_low, k->gain_high);
	table_add(l->table, "%s", k->objective);
	table_add(l->table, "%s", when);
	table_add(l->table, "%s", buf_text(&line));
	return 0;
}

static int verb_list(struct command *command, struct store *store, int64_t id)
{
	static const char *const titles[] = { "id",	 "program",    ">ranks", "platform",
					      "storage", ">gain",      "95 %",	 "of",
					      "found",	 "parameters", NULL };
	const struct kb_args *args = command->args;
	struct listing l = { .command = command };
	struct err err = { 0 };
	struct table table;
	int r;

	if (args->json)
		return entries_json(command, store, id);
	table_init(&table, titles);
	l.table = &table;
	r = knowledge_list(store, row_table, &l, &err);
	if (r < 0)
		r = command_fail(command, "%s", err.text);
	else if (!l.rows)
		r = COMMAND_NO_DATA;
	else
		table_print(&table, stdout, 0);
	table_release(&table);
	if (r == COMMAND_NO_DATA)
		fputs("sluice kb: nothing is known yet; 'sluice tune' finds out\n", stderr);
	return r ? r : command_finish(command);
}

/* "I/O 1.42 s -> 614 ms"; figures of an objective that this version does not know have no unit. */
static void costs_of(const struct knowledge *k, struct buf *out)
{
	int kind = option_choice(COST_WORDS, k->objective, strlen(k->objective));

	if (kind < 0) {
		buf_printf(out, "%s %.4g -> %.4g", k->objective, k->before, k->after);
		return;
	}
	buf_printf(out, "%s ", cost_what((enum cost_kind)kind));
	cost_text((enum cost_kind)kind, k->before, out);
	buf_puts(out, " -> ");
	cost_text((enum cost_kind)kind, k->after, out);
}

static int entry_print(void *arg, const struct knowledge *k)
{
	struct listing *l = arg;
	AUTO_BUF struct buf line = { 0 }, costs = { 0 };
	char when[32];

	line_of(k, &line);
	when_of(k->found_ns, when, sizeof(when));
	printf("entry        %" PRId64 "%s\n", k->id, k->pinned ? ", pinned" : "");
	printf("program      %s (%s)\n", k->key.program,
	       *k->key.fingerprint ? k->key.fingerprint : "any code");
	printf("arguments    %s\n", *k->key.arguments ? k->key.arguments : "-");
	printf("ranks        %u\n", k->key.ranks);
	printf("platform     %s, %s\n", k->key.platform, k->key.filesystem);
	costs_of(k, &costs);
	printf("gain         %.2f times faster (%.2f to %.2f): %s\n", k->gain, k->gain_low,
	       k->gain_high, buf_text(&costs));
	printf("found        %s%s%s\n", when, *k->study ? ", by tuning " : "", k->study);
	printf("parameters   %s\n", buf_text(&line));
	l->rows++;
	return 0;
}

static int verb_show(struct command *command, struct store *store, int64_t id)
{
	const struct kb_args *args = command->args;
	struct listing l = { .command = command };
	struct err err = { 0 };

	if (args->json)
		return entries_json(command, store, id);
	if (knowledge_get(store, id, entry_print, &l, &err) < 0)
		return command_fail(command, "%s", err.text);
	return command_finish(command);
}

/* ---- exchange ---- */

static int parameters_print(void *arg, const struct knowledge *k)
{
	struct listing *l = arg;
	AUTO_BUF struct buf text = { 0 };
	struct param_set set;
	struct err err = { 0 };

	l->rows++;
	if (set_of(k, &set, &err) < 0 || l->form->write(&set, &text, &err) < 0)
		l->failed = command_fail(l->command, "%s", err.text);
	else
		fwrite(buf_text(&text), 1, text.len, stdout);
	param_set_release(&set);
	return 0;
}

static int verb_export(struct command *command, struct store *store, int64_t id)
{
	const struct kb_args *args = command->args;
	struct listing l = { .command = command };
	struct err err = { 0 };

	if (!args->to)
		return entries_json(command, store, id);
	l.form = param_form_by_name(args->to);
	if (!l.form)
		return command_misuse(command, "--to: xml, json, hints or shell?");
	if (id <= 0)
		return command_misuse(command, "--to: of which entry? sluice kb export ID --to %s",
				      args->to);
	if (knowledge_get(store, id, parameters_print, &l, &err) < 0)
		return command_fail(command, "%s", err.text);
	return l.failed ? l.failed : command_finish(command);
}

static int verb_import(struct command *command, struct store *store, int64_t id)
{
	struct kb_import done;
	struct err err = { 0 };

	(void)id;
	if (kb_import(store, command->argv[1], &done, &err) < 0)
		return command_fail(command, "%s", err.text);
	fprintf(stderr, "sluice kb: %u %s taken in", done.added,
		done.added == 1 ? "entry" : "entries");
	if (done.kept)
		fprintf(stderr, ", %u left as %s pinned here", done.kept,
			done.kept == 1 ? "it is" : "they are");
	fputs("\n", stderr);
	return COMMAND_GOOD;
}

/* ---- order ---- */

static int verb_forget(struct command *command, struct store *store, int64_t id)
{
	struct err err = { 0 };

	if (knowledge_forget(store, id, &err) < 0)
		return command_fail(command, "%s", err.text);
	return COMMAND_GOOD;
}

static int pin(struct command *command, struct store *store, int64_t id, bool pinned)
{
	struct err err = { 0 };

	if (knowledge_pin(store, id, pinned, &err) < 0)
		return command_fail(command, "%s", err.text);
	return COMMAND_GOOD;
}

static int verb_pin(struct command *command, struct store *store, int64_t id)
{
	return pin(command, store, id, true);
}

static int verb_unpin(struct command *command, struct store *store, int64_t id)
{
	return pin(command, store, id, false);
}

static const struct kb_verb {
	struct verb verb;
	bool takes_id, makes_store;
	int (*run)(struct command *command, struct store *store, int64_t id);
} verbs[] = {
	{ { "list", "", 0, 0 }, false, false, verb_list },
	{ { "show", "ID", 1, 1 }, true, false, verb_show },
	{ { "export", "[ID]", 0, 1 }, true, false, verb_export },
	{ { "import", "FILE", 1, 1 }, false, true, verb_import },
	{ { "forget", "ID", 1, 1 }, true, false, verb_forget },
	{ { "pin", "ID", 1, 1 }, true, false, verb_pin },
	{ { "unpin", "ID", 1, 1 }, true, false, verb_unpin },
	{ .verb = { 0 } },
};

static int verb_run(struct command *command, const struct kb_verb *verb, int64_t id)
{
	const char *path = config_text(command->config, SETTING_STORE_PATH);
	struct store *store = NULL;
	struct err err = { 0 };
	int r = verb->makes_store ? store_open(&store, path, &err)
				  : store_open_existing(&store, path, &err);

	if (r < 0) {
		command_fail(command, "%s", err.text);
		return r == -ENOENT ? COMMAND_NO_DATA : COMMAND_FAILED;
	}
	r = verb->run(command, store, id);
	store_close(store);
	return r;
}

static int kb_run(struct command *command)
{
	int row = verb_choose(command, command->argv[0], &verbs[0].verb, sizeof(verbs[0]));
	uint64_t id = 0;

	if (row < 0)
		return COMMAND_MISUSE;
	if (verbs[row].takes_id && command->argc > 1 &&
	    (unit_parse_count(command->argv[1], &id) < 0 || !id || id > INT64_MAX))
		return command_misuse(command, "\"%s\" is no id; see 'sluice kb list'",
				      command->argv[1]);
	return verb_run(command, &verbs[row], (int64_t)id);
}

const struct command_ops command_kb = {
	.name = "kb",
	.help = "the knowledge base: parameters that were found to make programs faster",
	.operands = "list|show|export|import|forget|pin|unpin [ID|FILE]",
	.operands_min = 1,
	.operands_max = 2,
	.about =
		"'sluice tune' enters what it has proved, 'sluice run --tune apply' goes by it. An "
		"entry is for one program with its code and arguments, number of ranks, size of "
		"data, platform and file system.\n\n"
		"  sluice kb list                     what is known\n"
		"  sluice kb show 3                   one entry\n"
		"  sluice kb export 3 --to xml        its parameters as a file for --params\n"
		"  sluice kb export >known.json       all entries, for another machine\n"
		"  sluice kb import known.json        and there\n"
		"  sluice kb pin 3                    later tunings do not replace it\n"
		"  sluice kb forget 3                 it is no longer applied\n\n"
		"What is imported is checked as a whole first: an entry with an unknown or "
		"dangerous parameter, or figures that make no sense, is refused with its number, "
		"and nothing is taken in. Entries for another platform do no harm: they are not "
		"applied here.",
	.options = kb_options,
	.args_bytes = sizeof(struct kb_args),
	.run = kb_run,
};
