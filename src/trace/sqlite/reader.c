/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads the SQLite form. A database of other origin is refused by its application id; what a row of
 * ours says is checked like that of any other file, since anybody may have changed it.
 */
#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "trace/head.h"
#include "trace/sqlite/sqlite.h"

struct reader {
	char *path;
	sqlite3 *db;
	sqlite3_stmt *activities;
	int64_t version;
	struct head_maker maker;
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

static int fail(const struct reader *r, struct err *err)
{
	return err_set(err, EBADMSG, "%s: cannot read: %s", r->path, sqlite3_errmsg(r->db));
}

static int pragma_get(struct reader *r, const char *sql, int64_t *value, struct err *err)
{
	sqlite3_stmt *query;
	int code = sqlite3_prepare_v2(r->db, sql, -1, &query, NULL);

	if (code == SQLITE_OK && sqlite3_step(query) == SQLITE_ROW)
		*value = sqlite3_column_int64(query, 0);
	else
		code = SQLITE_ERROR;
	sqlite3_finalize(query);
	return code == SQLITE_OK ? 0 : fail(r, err);
}

static int origin_check(struct reader *r, struct err *err)
{
	int64_t id = 0;
	int code = pragma_get(r, "PRAGMA application_id", &id, err);

	if (!code)
		code = pragma_get(r, "PRAGMA user_version", &r->version, err);
	if (code < 0)
		return code;
	if (id != SQLITE_APPLICATION_ID)
		return err_set(err, EINVAL, "%s: an SQLite database, but not a Sluice trace",
			       r->path);
	if (r->version < 1 || r->version > SQLITE_SCHEMA_VERSION)
		return err_set(err, ENOTSUP,
			       "%s: schema version %lld, but this Sluice reads up to %d: use a "
			       "newer one",
			       r->path, (long long)r->version, SQLITE_SCHEMA_VERSION);
	return 0;
}

static bool value_get(sqlite3_stmt *query, int column, const struct fact_field *field, void *row)
{
	const char *text;

	if (field->type != FACT_TEXT)
		return fact_set_number(field, row, sqlite3_column_int64(query, column));
	text = (const char *)sqlite3_column_text(query, column);
	fact_set_text(field, row, text ? text : "", text ? strlen(text) : 0);
	return true;
}

static int row_take(struct reader *r, sqlite3_stmt *query, const struct sqlite_table *table,
		    struct err *err)
{
	union fact_row row;

	memset(&row, 0, sizeof(row));
	for (size_t i = 0; i < table->fact->count; i++) {
		const struct fact_field *field = &table->fact->fields[i];

		if (value_get(query, (int)i, field, &row))
			continue;
		fact_release(table->fact, &row);
		return err_set(err, EBADMSG, "%s: table %s: %s is out of range", r->path,
			       table->name, field->name);
	}
	if (head_take(&r->maker, table->fact, &row, err) < 0) {
		err_prefix(err, "%s: table %s", r->path, table->name);
		return -EBADMSG;
	}
	return 0;
}

/* The columns of a fact with commas between. Those that came after the file are NULL. */
static void columns_select(struct buf *out, const struct fact *fact, int64_t version)
{
	for (size_t i = 0; i < fact->count; i++) {
		const struct fact_field *field = &fact->fields[i];

		buf_puts(out, i ? ", " : "SELECT ");
		buf_puts(out, field->since <= version ? field->name : "NULL");
	}
}

static int table_load(struct reader *r, const struct sqlite_table *table, struct err *err)
{
	AUTO_BUF struct buf sql = { 0 };
	sqlite3_stmt *query;
	int code = 0, step = SQLITE_DONE;

	columns_select(&sql, table->fact, r->version);
	buf_printf(&sql, " FROM %s ORDER BY rowid", table->name);
	if (sqlite3_prepare_v2(r->db, sql.data, -1, &query, NULL) != SQLITE_OK)
		return fail(r, err);
	while (!code && (step = sqlite3_step(query)) == SQLITE_ROW)
		code = row_take(r, query, table, err);
	if (!code && step != SQLITE_DONE)
		code = fail(r, err);
	sqlite3_finalize(query);
	return code;
}

static int activities_prepare(struct reader *r, struct err *err)
{
	AUTO_BUF struct buf sql = { 0 };
	int64_t count = 0;
	int code = pragma_get(r, "SELECT count(*) FROM activities", &count, err);

	if (code < 0)
		return code;
	r->maker.head->activities = (uint64_t)count;
	columns_select(&sql, &fact_activity, r->version);
	/* The row number keeps equal ones in the order in which they were written. */
	buf_puts(&sql, " FROM activities ORDER BY " SQLITE_ORDER ", rowid");
	if (sqlite3_prepare_v2(r->db, sql.data, -1, &r->activities, NULL) != SQLITE_OK)
		return fail(r, err);
	return 0;
}

static int reader_start(struct reader *r, struct err *err)
{
	int code;

	if (sqlite3_open_v2(r->path, &r->db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK)
		return fail(r, err);
	code = origin_check(r, err);
	for (size_t i = 0; sqlite_tables[i].name && !code; i++)
		if (sqlite_tables[i].since <= r->version)
			code = table_load(r, &sqlite_tables[i], err);
	if (code < 0)
		return code;
	if (r->maker.head->clock.tick0 || r->maker.head->clock.num != r->maker.head->clock.den)
		return err_set(err, EBADMSG, "%s: table clock: times must be nanoseconds", r->path);
	head_settle(&r->maker);
	return activities_prepare(r, err);
}

int sqlite_open(void **reader, const char *path, const struct trace_filter *filter,
		struct trace_head *head, struct err *err)
{
	struct reader *r = xcalloc(1, sizeof(*r));
	int code;

	(void)filter; /* applied by trace_next(); a database is for those who ask it themselves */
	head_init(&r->maker, head);
	r->path = xstrdup(path);
	code = reader_start(r, err);
	if (code < 0) {
		reader_free(r);
		return code;
	}
	*reader = r;
	return 0;
}

/* NULL, or the name of the column that cannot be. */
static const char *activity_get(const struct reader *r, struct activity *a)
{
	const struct trace_head *head = r->maker.head;

	*a = (struct activity){ .handle = -1 };
	for (size_t i = 0; i < fact_activity.count; i++) {
		const struct fact_field *field = &fact_activity.fields[i];
		const char *text;
		int layer;

		if (field->present && sqlite3_column_type(r->activities, (int)i) == SQLITE_NULL)
			continue;
		if (field->type != FACT_LAYER) {
			if (!value_get(r->activities, (int)i, field, a))
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
		const char *wrong = activity_get(r, &batch[given]);

		if (wrong)
			return err_set(err, EBADMSG, "%s: table activities: %s is out of range",
				       r->path, wrong);
		given++;
	}
	if (step != SQLITE_ROW && step != SQLITE_DONE)
		return fail(r, err);
	/* Stepping on behind the end would start again. */
	if (step == SQLITE_DONE) {
		sqlite3_finalize(r->activities);
		r->activities = NULL;
	}
	return (ssize_t)given;
}
