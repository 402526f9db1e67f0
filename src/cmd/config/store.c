/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice config store: the contents of the store. A topic is a row of topics[], which has its
 * columns and the function that lists its rows. The table and the JSON contain the same cells.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/table.h"
#include "base/term.h"
#include "cli/command.h"
#include "cli/format.h"
#include "store/catalog.h"
#include "store/durations.h"
#include "store/outcomes.h"

struct store_args {
	bool json, forget;
};

static const struct option store_options[] = {
	{ 0, "forget", NULL, NULL, "delete the topic's measurements; names and ids are kept",
	  OPTION_FLAG, offsetof(struct store_args, forget) },
	{ 'j', "json", NULL, NULL, "print one JSON object of schema sluice.store/1", OPTION_FLAG,
	  offsetof(struct store_args, json) },
	{ 0 }
};

struct topic;

/* The rows that are being printed. If table and json are NULL, rows are only counted. */
struct listing {
	const struct topic *topic;
	struct table *table;
	struct json *json;
	size_t rows, column;
};

struct topic {
	const char *name;
	/* Column titles, and JSON keys; a right-aligned column is a number in JSON. */
	const char *const *titles, *const *keys;
	int (*list)(struct listing *listing, struct store *store, struct err *err);
	int (*forget)(struct store *store, struct err *err); /* NULL: ids cannot be deleted */
};

static void row_begin(struct listing *l)
{
	l->rows++;
	l->column = 0;
	if (l->json)
		json_open(l->json, NULL, '{');
}

static void row_end(struct listing *l)
{
	if (l->json)
		json_close(l->json);
}

static void cell_text(struct listing *l, const char *text)
{
	const char *key = l->topic->keys[l->column++];

	if (l->json)
		json_text(l->json, key, text);
	else if (l->table)
		table_add(l->table, "%s", text ? text : "-");
}

static void cell_number(struct listing *l, int64_t number)
{
	const char *key = l->topic->keys[l->column++];

	if (l->json)
		json_number(l->json, key, number);
	else if (l->table)
		table_add(l->table, "%" PRId64, number);
}

static void cell_ns(struct listing *l, int64_t ns)
{
	char text[UNIT_TEXT];

	if (l->json)
		cell_number(l, ns);
	else
		cell_text(l, unit_ns(text, ns));
}

static void cell_bytes(struct listing *l, uint64_t bytes)
{
	char text[UNIT_TEXT];

	if (l->json)
		cell_number(l, (int64_t)bytes);
	else
		cell_text(l, unit_bytes(text, (double)bytes));
}

static int list_thing(void *arg, int64_t id, int64_t of, const char *name, const char *of_name)
{
	struct listing *l = arg;

	(void)of;
	row_begin(l);
	cell_number(l, id);
	cell_text(l, name);
	if (l->topic->keys[l->column])
		cell_text(l, of_name);
	row_end(l);
	return 0;
}

static int list_nodes(struct listing *l, struct store *store, struct err *err)
{
	return catalog_things(store, THING_NODE, list_thing, l, err);
}

static int list_devices(struct listing *l, struct store *store, struct err *err)
{
	return catalog_things(store, THING_DEVICE, list_thing, l, err);
}

static int list_layers(struct listing *l, struct store *store, struct err *err)
{
	return catalog_things(store, THING_LAYER, list_thing, l, err);
}

static int list_calls(struct listing *l, struct store *store, struct err *err)
{
	return catalog_things(store, THING_CALL, list_thing, l, err);
}

static int list_attribute(void *arg, int64_t id, const char *domain, const char *name,
			  const char *type)
{
	struct listing *l = arg;

	row_begin(l);
	cell_number(l, id);
	cell_text(l, domain);
	cell_text(l, name);
	cell_text(l, type);
	row_end(l);
	return 0;
}

static int list_attributes(struct listing *l, struct store *store, struct err *err)
{
	return catalog_attributes(store, list_attribute, l, err);
}

enum { RUN_STARTED, RUN_USER, RUN_HOST, RUN_JOB, RUN_RANKS, RUN_COMMAND, RUN_FACTS };
static const char *const run_facts[RUN_FACTS] = { "started", "user",  "host",
						  "job",     "ranks", "command" };

struct known_run {
	char *run, *facts[RUN_FACTS];
};

struct known_runs {
	struct known_run *list;
	size_t count, cap;
};

static int collect_fact(void *arg, const char *run, int32_t process, const char *key,
			const char *value)
{
	struct known_runs *runs = arg;
	size_t i = 0;

	if (process != -1)
		return 0;
	if (!runs->count || strcmp(runs->list[runs->count - 1].run, run) != 0) {
		runs->list = xgrow(runs->list, &runs->cap, runs->count + 1, sizeof(*runs->list));
		runs->list[runs->count++] = (struct known_run){ .run = xstrdup(run) };
	}
	while (i < RUN_FACTS && strcmp(run_facts[i], key) != 0)
		i++;
	if (i < RUN_FACTS)
		runs->list[runs->count - 1].facts[i] = xstrdup(value);
	return 0;
}

static int64_t started_s(const struct known_run *run)
{
	return run->facts[RUN_STARTED] ? strtoll(run->facts[RUN_STARTED], NULL, 10) : 0;
}

static int compare_started(const void *a, const void *b)
{
	int64_t x = started_s(a), y = started_s(b);

	return (x < y) - (x > y);
}

static void list_run(struct listing *l, const struct known_run *run)
{
	char when[FORMAT_TIME];

	row_begin(l);
	cell_text(l, run->run);
	if (l->json)
		cell_number(l, started_s(run));
	else
		cell_text(l, format_local_time(when, started_s(run) * NS_PER_S));
	for (size_t i = RUN_USER; i < RUN_FACTS; i++)
		cell_text(l, run->facts[i]);
	row_end(l);
}

static int list_runs(struct listing *l, struct store *store, struct err *err)
{
	struct known_runs runs = { 0 };
	int r = catalog_facts(store, NULL, collect_fact, &runs, err);

	if (runs.count)
		qsort(runs.list, runs.count, sizeof(*runs.list), compare_started);
	for (size_t i = 0; i < runs.count; i++) {
		if (r >= 0)
			list_run(l, &runs.list[i]);
		free(runs.list[i].run);
		for (size_t f = 0; f < RUN_FACTS; f++)
			free(runs.list[i].facts[f]);
	}
	free(runs.list);
	return r;
}

static int list_fact(void *arg, const char *run, int32_t process, const char *key,
		     const char *value)
{
	struct listing *l = arg;

	row_begin(l);
	cell_text(l, run);
	cell_number(l, process);
	cell_text(l, key);
	cell_text(l, value);
	row_end(l);
	return 0;
}

static int list_facts(struct listing *l, struct store *store, struct err *err)
{
	return catalog_facts(store, NULL, list_fact, l, err);
}

static int forget_runs(struct store *store, struct err *err)
{
	return catalog_keep_runs(store, 0, err);
}

static int list_duration(void *arg, const char *host, const char *layer, const char *call,
			 unsigned size_class, const struct durations *durations)
{
	static const double shares[] = { 0.01, 0.5, 0.99 };
	struct listing *l = arg;

	row_begin(l);
	cell_text(l, host);
	cell_text(l, layer);
	cell_text(l, call);
	cell_bytes(l, durations_class_bytes(size_class));
	cell_number(l, (int64_t)durations->calls);
	for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++)
		cell_ns(l, durations_quantile(durations, shares[i]));
	row_end(l);
	return 0;
}

static int list_durations(struct listing *l, struct store *store, struct err *err)
{
	return durations_list(store, NULL, list_duration, l, err);
}

static void cell_rate(struct listing *l, double bytes_per_second)
{
	char text[UNIT_TEXT];

	if (l->json)
		cell_number(l, (int64_t)bytes_per_second);
	else
		cell_text(l, unit_rate(text, bytes_per_second, NS_PER_S));
}

static int list_outcome(void *arg, const struct outcome_key *key, const char *hints,
			const struct outcome *outcome)
{
	struct listing *l = arg;

	row_begin(l);
	cell_text(l, key->operation);
	cell_text(l, key->user);
	cell_text(l, key->program);
	cell_text(l, key->extension);
	cell_text(l, key->filesystem);
	cell_bytes(l, (uint64_t)1 << (2 * (key->size_class & 31)));
	cell_number(l, (int64_t)outcome->runs);
	cell_number(l, (int64_t)outcome->count);
	cell_rate(l, outcome->rate);
	cell_rate(l, outcome_deviation(outcome));
	cell_text(l, hints);
	row_end(l);
	return 0;
}

static int list_outcomes(struct listing *l, struct store *store, struct err *err)
{
	return outcomes_list(store, &(struct outcomes_filter){ 0 }, list_outcome, l, err);
}

#define TITLES(...)               \
	(const char *const[])     \
	{                         \
		__VA_ARGS__, NULL \
	}

static const struct topic topics[] = {
	{ "nodes", TITLES(">id", "node"), TITLES("id", "name"), list_nodes, NULL },
	{ "devices", TITLES(">id", "device", "node"), TITLES("id", "name", "node"), list_devices,
	  NULL },
	{ "layers", TITLES(">id", "layer"), TITLES("id", "name"), list_layers, NULL },
	{ "calls", TITLES(">id", "call", "layer"), TITLES("id", "name", "layer"), list_calls,
	  NULL },
	{ "attributes", TITLES(">id", "domain", "attribute", "type"),
	  TITLES("id", "domain", "name", "type"), list_attributes, NULL },
	{ "runs", TITLES("run", "started", "user", "host", "job", ">ranks", "command"),
	  TITLES("run", "started", "user", "host", "job", "ranks", "command"), list_runs,
	  forget_runs },
	{ "facts", TITLES("run", ">process", "fact", "value"),
	  TITLES("run", "process", "key", "value"), list_facts, forget_runs },
	{ "durations",
	  TITLES("host", "layer", "call", ">size from", ">calls", ">1%", ">median", ">99%"),
	  TITLES("host", "layer", "call", "bytes", "calls", "fast_ns", "median_ns", "slow_ns"),
	  list_durations, durations_forget },
	{ "outcomes",
	  TITLES("operation", "user", "program", "extension", "file system", ">size from", ">runs",
		 ">files", ">rate", ">std. dev.", "hints"),
	  TITLES("operation", "user", "program", "extension", "filesystem", "bytes", "runs",
		 "files", "bytes_per_second", "deviation", "hints"),
	  list_outcomes, outcomes_forget },
	{ 0 }
};

static const struct topic *find_topic(const char *name)
{
	for (const struct topic *t = topics; t->name; t++) {
		if (strcmp(t->name, name) == 0)
			return t;
	}
	return NULL;
}

static int fail_unknown_topic(const struct command *command)
{
	AUTO_BUF struct buf names = { 0 };

	for (const struct topic *t = topics; t->name; t++)
		buf_printf(&names, "%s%s", names.len ? ", " : "", t->name);
	return command_misuse(command, "unknown topic \"%s\" (expected %s)", command->argv[0],
			      buf_text(&names));
}

static int show_table(const struct topic *topic, struct store *store, size_t *rows, struct err *err)
{
	struct table table;
	struct listing listing = { .topic = topic, .table = &table };
	int r;

	table_init(&table, topic->titles);
	r = topic->list(&listing, store, err);
	*rows = listing.rows;
	if (r >= 0 && listing.rows)
		table_print(&table, stdout, 0);
	table_release(&table);
	return r;
}

static int show_json(const struct topic *topic, struct store *store, size_t *rows, struct err *err)
{
	struct json json;
	struct listing listing = { .topic = topic, .json = &json };
	int r;

	json_start(&json, stdout, "sluice.store/1");
	json_text(&json, "path", store_path(store));
	json_text(&json, "topic", topic->name);
	json_open(&json, "rows", '[');
	r = topic->list(&listing, store, err);
	json_end(&json);
	*rows = listing.rows;
	return r;
}

/* Shows the number of rows of each topic. */
static int show_overview(struct store *store, bool is_json, struct err *err)
{
	struct json json;
	struct stat st;
	int64_t bytes = stat(store_path(store), &st) == 0 ? st.st_size : 0;
	char text[UNIT_TEXT];
	int r = 0;

	if (is_json) {
		json_start(&json, stdout, "sluice.store/1");
		json_text(&json, "path", store_path(store));
		json_number(&json, "bytes", bytes);
		json_open(&json, "topics", '{');
	} else {
		term_printf(stdout, "%s (%s)\n", store_path(store),
			    unit_bytes(text, (double)bytes));
	}
	for (const struct topic *t = topics; r >= 0 && t->name; t++) {
		struct listing listing = { .topic = t };

		r = t->list(&listing, store, err);
		if (is_json)
			json_count(&json, t->name, listing.rows);
		else
			term_printf(stdout, "%10zu %s\n", listing.rows, t->name);
	}
	if (is_json)
		json_end(&json);
	return r;
}

static int forget_topic(struct command *command, const struct topic *topic, struct store *store)
{
	struct err err = { 0 };

	if (!topic->forget)
		return command_misuse(
			command, "%s cannot be deleted, because other data refers to their ids",
			topic->name);
	if (topic->forget(store, &err) < 0)
		return command_fail(command, "%s", err.text);
	return COMMAND_GOOD;
}

static int show_topic(struct command *command, const struct topic *topic, struct store *store)
{
	const struct store_args *args = command->args;
	struct err err = { 0 };
	size_t rows = 1;
	int r;

	if (!topic)
		r = show_overview(store, args->json, &err);
	else if (args->json)
		r = show_json(topic, store, &rows, &err);
	else
		r = show_table(topic, store, &rows, &err);
	if (r < 0)
		return command_fail(command, "%s", err.text);
	r = command_finish(command);
	if (r == COMMAND_GOOD && !rows) {
		command_warn(command, "the store has no %s yet", topic->name);
		return COMMAND_NO_DATA;
	}
	return r;
}

static int config_store_run(struct command *command)
{
	const struct store_args *args = command->args;
	const struct topic *topic = command->argc ? find_topic(command->argv[0]) : NULL;
	struct store *store = NULL;
	struct err err = { 0 };
	int r;

	if (command->argc && !topic)
		return fail_unknown_topic(command);
	if (args->forget && !topic)
		return command_misuse(command, "--forget requires a TOPIC");
	r = store_open_existing(&store, config_text(command->config, SETTING_STORE_PATH), &err);
	if (r < 0)
		return command_fail_err(command, r, &err);
	r = args->forget ? forget_topic(command, topic, store) : show_topic(command, topic, store);
	store_close(store);
	return r;
}

const struct command_ops command_config_store = {
	.name = "store",
	.help = "show or delete data of earlier runs in the store",
	.operands = "[TOPIC]",
	.operands_max = 1,
	.about = "Runs save what they have learned in a SQLite file (setting store.path). Without "
		 "TOPIC, the number of rows of each topic is shown.\n\n"
		 "TOPIC is one of\n\n"
		 "  nodes, devices, layers, calls   names and their permanent ids\n"
		 "  attributes                      attributes of recorded calls, by layer\n"
		 "  runs, facts                     user, host, job and command of each run\n"
		 "  durations                       durations of calls, by host and size\n"
		 "  outcomes                        data rates of a program's files, by hints",
	.options = store_options,
	.args_bytes = sizeof(struct store_args),
	.run = config_store_run,
};
