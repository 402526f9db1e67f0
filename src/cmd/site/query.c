/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice site query: SQL with the rights of the user, without changing anything.
 */
#include "site/query.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/table.h"
#include "base/term.h"
#include "cli/command.h"
#include "cmd/site/site.h"
#include "site/site.h"

#define TABLE_ROWS 1000

struct query_args {
	struct site_args site;
	uint64_t limit;
	bool csv, json;
};

static const struct option query_options[] = {
	{ 'l', "limit", "N", NULL, "print at most N rows (default: 1000 in a table, else all)",
	  OPTION_COUNT, offsetof(struct query_args, limit) },
	{ 0, "csv", NULL, NULL, "print comma-separated values with a header", OPTION_FLAG,
	  offsetof(struct query_args, csv) },
	OPTION_INCLUDE(site_options, offsetof(struct query_args, site)),
	{ 'j', "json", NULL, NULL, "print one JSON object of schema sluice.query/1", OPTION_FLAG,
	  offsetof(struct query_args, json) },
	{ 0 }
};

struct output {
	const struct query_args *args;
	uint64_t limit, rows;
	bool has_more, is_too_wide;
	struct table table;
	struct json json;
	char *titles[TABLE_COLUMNS_MAX + 1];
};

static void put_csv(const char *const *cells, size_t count)
{
	AUTO_BUF struct buf line = { 0 };

	for (size_t i = 0; i < count; i++) {
		if (i)
			buf_putc(&line, ',');
		buf_put_csv_cell(&line, cells[i] ? cells[i] : "");
	}
	buf_putc(&line, '\n');
	fwrite(buf_text(&line), 1, line.len, stdout);
}

/* Numbers of a result are numbers of the JSON. */
static void put_json(struct output *o, const char *const *names, const char *const *values,
		     size_t count)
{
	double real;

	json_open(&o->json, NULL, '{');
	for (size_t i = 0; i < count; i++) {
		const char *value = values[i];
		char *end = NULL;
		long long number = value ? strtoll(value, &end, 10) : 0;

		if (value && *value && !*end && strlen(value) < 19)
			json_number(&o->json, names[i], number);
		else if (value && number_parse(value, strlen(value), &real) && isfinite(real) &&
			 strlen(value) < 19)
			json_double(&o->json, names[i], real);
		else
			json_text(&o->json, names[i], value);
	}
	json_close(&o->json);
}

static void put_row(struct output *o, const char *const *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		table_add(&o->table, "%s", values[i] ? values[i] : "-");
}

static void start_table(struct output *o, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		o->titles[i] = xstrdup(names[i]);
	table_init(&o->table, (const char *const *)o->titles);
}

static int show_row(void *arg, const char *const *names, const char *const *values, size_t count)
{
	struct output *o = arg;

	if (o->rows == o->limit) {
		o->has_more = true;
		return 1;
	}
	o->rows++;
	if (o->args->json) {
		put_json(o, names, values, count);
	} else if (o->args->csv) {
		if (o->rows == 1)
			put_csv(names, count);
		put_csv(values, count);
	} else if (count > TABLE_COLUMNS_MAX) {
		o->is_too_wide = true;
		return 1;
	} else {
		if (o->rows == 1)
			start_table(o, names, count);
		put_row(o, values, count);
	}
	return 0;
}

static int show_rows(const struct command *command, struct site_db *site, struct output *o)
{
	struct err err = { 0 };
	int r;

	if (o->args->json) {
		json_start(&o->json, stdout, "sluice.query/1");
		json_open(&o->json, "rows", '[');
	}
	r = site_query(site, command->argv[0], show_row, o, &err);
	if (o->args->json)
		json_end(&o->json);
	if (r < 0)
		return command_fail(command, "%s", err.text);
	if (o->is_too_wide)
		return command_fail(command,
				    "the result has more than %d columns; use --csv or --json",
				    TABLE_COLUMNS_MAX);
	if (!o->rows && !o->args->json) {
		command_fail(command, "the query has no rows");
		return COMMAND_NO_DATA;
	}
	if (o->table.columns)
		table_print(&o->table, stdout, 0);
	if (o->has_more)
		command_warn(command, "only %llu rows are shown; use --limit",
			     (unsigned long long)o->limit);
	return COMMAND_GOOD;
}

static int query_run(struct command *command)
{
	const struct query_args *args = command->args;
	struct output output = { .args = args, .limit = args->limit };
	struct site_db *site = NULL;
	int ret;

	if (args->csv && args->json)
		return command_misuse(command, "--csv and --json cannot be combined");
	if (args->limit == OPTION_NONE && !args->csv && !args->json)
		output.limit = TABLE_ROWS;
	ret = site_open_named(command, &args->site, &site);
	if (ret)
		return ret;
	ret = show_rows(command, site, &output);
	table_release(&output.table);
	for (size_t i = 0; i < TABLE_COLUMNS_MAX; i++)
		free(output.titles[i]);
	site_close(site);
	return ret ? ret : command_finish(command);
}

const struct command_ops command_site_query = {
	.name = "query",
	.help = "run a query with the rights of the user",
	.operands = "SQL",
	.operands_min = 1,
	.operands_max = 1,
	.about =
		"SQL is one SELECT, WITH or VALUES statement. The transaction is read-only, and "
		"PostgreSQL shows each user only the rows that the user may see. "
		"docs/reference/site.md describes the tables and gives queries.\n\n"
		"  sluice site query \"SELECT code, count(*) FROM finding GROUP BY code ORDER BY 2 "
		"DESC\"\n"
		"  sluice site query --csv 'SELECT * FROM activities LIMIT 100'",
	.options = query_options,
	.args_bytes = sizeof(struct query_args),
	.run = query_run,
};
