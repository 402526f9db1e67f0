/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads the SQLite form, through guard.h. A database of another application is refused by its
 * application id. Rows are checked like those of any other file, because users can edit the
 * database.
 */
#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "trace/head.h"
#include "trace/sqlite/guard.h"
#include "trace/sqlite/sqlite.h"

struct reader {
	char *path;
	struct guard guard;
	sqlite3 *db;
	sqlite3_stmt *activities;
	int64_t version;
	struct head_builder builder;
};

static void reader_free(struct reader *r)
{
	sqlite3_finalize(r->activities);
	sqlite3_close(r->db);
	free(r->path);
	free(r);
}

void sqlite_close(void *reader)
{
	if (reader)
		reader_free(reader);
}

static int fail_read(const struct reader *r, struct err *err)
{
	if (r->guard.exceeded)
		return err_set(err, EBADMSG,
			       "%s: reading it takes more work than a trace of its size needs; the "
			       "database is damaged or hostile",
			       r->path);
	return err_set(err, EBADMSG, "%s: cannot read: %s", r->path, sqlite3_errmsg(r->db));
}

static int query_number(struct reader *r, const char *sql, int64_t *value, struct err *err)
{
	sqlite3_stmt *query;
	int code = sqlite3_prepare_v2(r->db, sql, -1, &query, NULL);

	if (code == SQLITE_OK && sqlite3_step(query) == SQLITE_ROW)
		*value = sqlite3_column_int64(query, 0);
	else
		code = SQLITE_ERROR;
	sqlite3_finalize(query);
	return code == SQLITE_OK ? 0 : fail_read(r, err);
}

static int check_origin(struct reader *r, struct err *err)
{
	int64_t id = 0;
	int code = query_number(r, "PRAGMA application_id", &id, err);

	if (!code)
		code = query_number(r, "PRAGMA user_version", &r->version, err);
	if (code < 0)
		return code;
	if (id != SQLITE_APPLICATION_ID)
		return err_set(err, EINVAL,
			       "%s: not a Sluice trace: an SQLite database of another application",
			       r->path);
	if (r->version < 1 || r->version > SQLITE_SCHEMA_VERSION)
		return err_set(err, ENOTSUP,
			       "%s: the trace has schema version %lld, but this version of Sluice "
			       "reads 1 to %d; update Sluice",
			       r->path, (long long)r->version, SQLITE_SCHEMA_VERSION);
	return 0;
}

static bool read_value(sqlite3_stmt *query, int column, const struct fact_field *field, void *row)
{
	const char *text;

	if (field->type != FACT_TEXT)
		return fact_set_number(field, row, sqlite3_column_int64(query, column));
	text = (const char *)sqlite3_column_text(query, column);
	fact_set_text(field, row, text ? text : "", text ? strlen(text) : 0);
	return true;
}

static int load_row(struct reader *r, sqlite3_stmt *query, const struct sqlite_table *table,
		    struct err *err)
{
	union fact_row row;
	size_t bytes = 0;

	memset(&row, 0, sizeof(row));
	for (size_t i = 0; i < table->fact->count; i++) {
		const struct fact_field *field = &table->fact->fields[i];

		if (read_value(query, (int)i, field, &row)) {
			bytes += field->type == FACT_TEXT ? strlen(fact_text(field, &row)) : 0;
			continue;
		}
		fact_release(table->fact, &row);
		return err_set(err, EBADMSG, "%s: table %s: %s is out of range", r->path,
			       table->name, field->name);
	}
	if (!guard_take_row(&r->guard, bytes)) {
		fact_release(table->fact, &row);
		return err_set(err, EBADMSG, "%s: table %s has more data than the file", r->path,
			       table->name);
	}
	if (head_add(&r->builder, table->fact, &row, err) < 0) {
		err_prefix(err, "%s: table %s", r->path, table->name);
		return -EBADMSG;
	}
	return 0;
}

/* Selects the columns of a fact; NULL for columns that the version of the file does not have. */
static void select_columns(struct buf *out, const struct fact *fact, int64_t version)
{
	for (size_t i = 0; i < fact->count; i++) {
		const struct fact_field *field = &fact->fields[i];

		buf_puts(out, i ? ", " : "SELECT ");
		buf_puts(out, field->since <= version ? field->name : "NULL");
	}
}

static int load_table(struct reader *r, const struct sqlite_table *table, struct err *err)
{
	AUTO_BUF struct buf sql = { 0 };
	sqlite3_stmt *query;
	int code = guard_check_table(r->db, r->path, table->name, table->fact, r->version, err);
	int step = SQLITE_DONE;

	if (code < 0)
		return code;
	select_columns(&sql, table->fact, r->version);
	buf_printf(&sql, " FROM %s ORDER BY rowid", table->name);
	if (sqlite3_prepare_v2(r->db, sql.data, -1, &query, NULL) != SQLITE_OK)
		return fail_read(r, err);
	while (!code && (step = sqlite3_step(query)) == SQLITE_ROW)
		code = load_row(r, query, table, err);
	if (!code && step != SQLITE_DONE)
		code = fail_read(r, err);
	sqlite3_finalize(query);
	return code;
}

static int prepare_activities(struct reader *r, struct err *err)
{
	AUTO_BUF struct buf sql = { 0 };
	int64_t count = 0;
	int code = guard_check_table(r->db, r->path, "activities", &fact_activity, r->version, err);

	/* Unlike count(*), this counts row by row, so that the guard can end it. */
	if (!code)
		code = query_number(r, "SELECT count(+rowid) FROM activities", &count, err);
	if (code < 0)
		return code;
	r->builder.head->activities = (uint64_t)count;
	select_columns(&sql, &fact_activity, r->version);
	/* rowid keeps equal activities in the order of writing. */
	buf_puts(&sql, " FROM activities ORDER BY " SQLITE_ORDER ", rowid");
	if (sqlite3_prepare_v2(r->db, sql.data, -1, &r->activities, NULL) != SQLITE_OK)
		return fail_read(r, err);
	return 0;
}

static int start_reader(struct reader *r, struct err *err)
{
	int code = guard_open(&r->guard, &r->db, r->path, err);

	if (!code)
		code = check_origin(r, err);
	for (size_t i = 0; sqlite_tables[i].name && !code; i++)
		if (sqlite_tables[i].since <= r->version)
			code = load_table(r, &sqlite_tables[i], err);
	if (code < 0)
		return code;
	if (r->builder.head->clock.tick0 ||
	    r->builder.head->clock.num != r->builder.head->clock.den)
		return err_set(err, EBADMSG, "%s: table clock: times must be in nanoseconds",
			       r->path);
	head_finish(&r->builder);
	return prepare_activities(r, err);
}

int sqlite_open(void **reader, const char *path, const struct trace_filter *filter,
		struct trace_head *head, struct err *err)
{
	struct reader *r = xcalloc(1, sizeof(*r));
	int code;

	(void)filter; /* trace_next() applies it */
	head_init(&r->builder, head);
	r->path = xstrdup(path);
	code = start_reader(r, err);
	if (code < 0) {
		reader_free(r);
		return code;
	}
	*reader = r;
	return 0;
}

/* Returns NULL, or the name of a column with an invalid value. */
static const char *read_activity(const struct reader *r, struct activity *a)
{
	const struct trace_head *head = r->builder.head;

	*a = (struct activity){ .handle = -1 };
	for (size_t i = 0; i < fact_activity.count; i++) {
		const struct fact_field *field = &fact_activity.fields[i];
		const char *text;
		int layer;

		if (field->present && sqlite3_column_type(r->activities, (int)i) == SQLITE_NULL)
			continue;
		if (field->type != FACT_LAYER) {
			if (!read_value(r->activities, (int)i, field, a))
				return field->name;
			continue;
		}
		text = (const char *)sqlite3_column_text(r->activities, (int)i);
		layer = layer_by_name(text ? text : "");
		if (layer < 0)
			return field->name;
		a->layer = (uint8_t)layer;
	}
	if (a->process >= head->process_count || a->call >= head->call_count)
		return a->call >= head->call_count ? "call" : "process";
	if (a->file >= head->file_count || a->file2 >= head->file_count)
		return a->file >= head->file_count ? "file" : "file2";
	if (a->name >= head->file_count)
		return "name";
	if (a->hints >= head->file_count)
		return "hints";
	return a->present >> FIELD_COUNT ? "present" : NULL;
}

ssize_t sqlite_next(void *reader, struct activity *batch, size_t cap, struct err *err)
{
	struct reader *r = reader;
	size_t given = 0;
	int step = SQLITE_ROW;

	while (r->activities && given < cap && (step = sqlite3_step(r->activities)) == SQLITE_ROW) {
		const char *wrong = read_activity(r, &batch[given]);

		if (wrong)
			return err_set(err, EBADMSG, "%s: table activities: %s is out of range",
				       r->path, wrong);
		given++;
	}
	if (step != SQLITE_ROW && step != SQLITE_DONE)
		return fail_read(r, err);
	/* Another step after the end would restart the query. */
	if (step == SQLITE_DONE) {
		sqlite3_finalize(r->activities);
		r->activities = NULL;
	}
	return (ssize_t)given;
}
