/* SPDX-License-Identifier: BSD-3-Clause */
#include "site/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "site/facts.h"
#include "site/site_internal.h"
#include "trace/head.h"

/* Rows that PostgreSQL sends at a time. */
#define FETCH "10000"

struct reader {
	struct site_db *site;
	int64_t run;
	struct head_builder builder;
	struct statement *rows;
	bool is_done;
};

static void close_reader(void *arg)
{
	struct reader *r = arg;

	if (!r)
		return;
	if (r->rows && !r->is_done)
		store_done(r->rows);
	store_end(r->site->store, 0, NULL);
	free(r);
}

/* Runs that begin with the prefix; a hexadecimal prefix needs no escapes. */
static int find_run(struct reader *r, const char *uuid, struct err *err)
{
	struct statement *rows;
	int count = 0, code;

	if (strspn(uuid, "0123456789abcdef") != strlen(uuid) || !*uuid)
		return err_set(err, EINVAL, "%s: the id of a run has hexadecimal digits", uuid);
	rows = store_query(r->site->store, err, "SELECT id FROM run WHERE uuid LIKE ?1 || '%'", "t",
			   uuid);
	if (!rows)
		return -EIO;
	while ((code = store_step(r->site->store, rows, err)) > 0) {
		r->run = store_number(rows, 0);
		count++;
	}
	if (code < 0)
		return code;
	if (!count)
		return err_set(err, ENOENT,
			       "%s: no such run in the site database, or it belongs to another "
			       "user",
			       uuid);
	return count == 1 ? 0
			  : err_set(err, EINVAL, "%s: several runs begin with these digits", uuid);
}

static int read_run(struct reader *r, struct trace_head *head, struct err *err)
{
	struct statement *rows = store_query(
		r->site->store, err,
		"SELECT uuid, command, directory, host, owner, version, started_ns, duration_ns, "
		"exit_status, complete, kept FROM run WHERE id = ?1",
		"i", r->run);
	int code = rows ? store_step(r->site->store, rows, err) : -EIO;
	char **texts[] = { &head->run.uuid, &head->run.command, &head->run.directory,
			   &head->run.host, &head->run.user,	&head->run.version };

	if (code <= 0)
		return code < 0 ? code : err_set(err, ENOENT, "the run was removed meanwhile");
	for (int i = 0; i < 6; i++) {
		free(*texts[i]);
		*texts[i] = xstrdup(store_text(rows, i));
	}
	head->run.started_ns = store_number(rows, 6);
	head->end = (struct run_end){ store_number(rows, 7), (int32_t)store_number(rows, 8),
				      store_number(rows, 9) != 0 };
	head->activities = (uint64_t)store_number(rows, 10);
	store_done(rows);
	return 0;
}

static int read_fact(struct reader *r, const struct site_fact *fact, struct statement *rows,
		     const struct schema_table *table, struct err *err)
{
	union fact_row row;

	memset(&row, 0, sizeof(row));
	for (size_t i = 0; i < table->count; i++) {
		const struct fact_field *field = site_fact_field(fact, &table->columns[i]);

		if (!field)
			continue;
		if (field->type == FACT_TEXT) {
			const char *text = store_text(rows, (int)i);

			fact_set_text(field, &row, text, strlen(text));
		} else if (!fact_set_number(field, &row, store_number(rows, (int)i))) {
			fact_release(fact->fact, &row);
			return err_set(err, EBADMSG, "table %s: %s is out of range", table->name,
				       field->name);
		}
	}
	return head_add(&r->builder, fact->fact, &row, err);
}

static int read_facts(struct reader *r, const struct site_fact *fact, struct err *err)
{
	const struct schema_table *table = schema_find(fact->table);
	AUTO_BUF struct buf sql = { 0 };
	struct statement *rows;
	int code;

	for (size_t i = 0; i < table->count; i++) {
		buf_puts(&sql, i ? ", " : "SELECT ");
		/* run_counter has an id, which is no column of the payload. */
		schema_put_name(&sql, table->columns[i].name);
	}
	buf_printf(&sql, " FROM \"%s\" WHERE run = ?1 ORDER BY %s", table->name, fact->order);
	rows = store_query(r->site->store, err, buf_text(&sql), "i", r->run);
	if (!rows)
		return -EIO;
	while ((code = store_step(r->site->store, rows, err)) > 0) {
		int bad = read_fact(r, fact, rows, table, err);

		if (bad < 0) {
			store_done(rows);
			code = bad;
			break;
		}
	}
	/* The text of the statement does not outlive this function. */
	store_forget_statements(r->site->store);
	return code;
}

#define ACTIVITY_COLUMNS                                                                        \
	"time_ns, duration_ns, id, process, call, layer, file, size, position, result, error, " \
	"parent, link, link2, handle, flags, mode, span, variable, collective, file2, name, "   \
	"hints, present"
#define ACTIVITY_QUERY                                                                  \
	"SELECT " ACTIVITY_COLUMNS " FROM activity WHERE run = ?1 AND time_ns >= ?2 - " \
	"86400000000000 AND time_ns <= ?3 + 86400000000000 ORDER BY time_ns, process, id"

/* PostgreSQL sends the rows in portions, by a cursor of the transaction. */
static int start_activities(struct reader *r, struct err *err)
{
	const struct trace_head *head = r->builder.head;
	int64_t from = head->run.started_ns, to = from + head->end.duration_ns;

	if (!site_is_postgres(r->site)) {
		r->rows = store_query(r->site->store, err, ACTIVITY_QUERY, "iii", r->run, from, to);
		return r->rows ? 0 : -EIO;
	}
	return store_run(r->site->store, err, "DECLARE activities CURSOR FOR " ACTIVITY_QUERY,
			 "iii", r->run, from, to);
}

static bool get(struct reader *r, int column, int64_t *value)
{
	if (store_is_null(r->rows, column))
		return false;
	*value = store_number(r->rows, column);
	return true;
}

/* Fields that an activity may lack, by their column. */
static const struct {
	int column, field;
	size_t offset;
} optional[] = {
	{ 7, FIELD_SIZE, offsetof(struct activity, size) },
	{ 8, FIELD_OFFSET, offsetof(struct activity, offset) },
	{ 12, FIELD_LINK, offsetof(struct activity, link) },
	{ 13, FIELD_LINK2, offsetof(struct activity, link2) },
	{ 14, FIELD_HANDLE, offsetof(struct activity, handle) },
	{ 15, FIELD_FLAGS, offsetof(struct activity, flags) },
	{ 16, FIELD_MODE, offsetof(struct activity, mode) },
	{ 17, FIELD_SPAN, offsetof(struct activity, span) },
	{ 18, FIELD_VARIABLE, offsetof(struct activity, variable) },
	{ 19, FIELD_COLLECTIVE, offsetof(struct activity, collective) },
};

static int read_activity(struct reader *r, struct activity *a, struct err *err)
{
	const struct trace_head *head = r->builder.head;
	int64_t value, ids[4] = { 0 };
	const int id_columns[4] = { 6, 20, 21, 22 };

	*a = (struct activity){
		.start_ns = store_number(r->rows, 0) - head->run.started_ns,
		.duration_ns = store_number(r->rows, 1),
		.id = (uint64_t)store_number(r->rows, 2),
		.process = (uint32_t)store_number(r->rows, 3),
		.call = (uint16_t)store_number(r->rows, 4),
		.result = store_number(r->rows, 9),
		.error = (int32_t)store_number(r->rows, 10),
		.parent = (uint64_t)store_number(r->rows, 11),
		.handle = -1,
		.present = PRESENT(RESULT),
	};
	for (int i = 0; i < 4; i++)
		if (get(r, id_columns[i], &value))
			ids[i] = value;
	if (a->process >= head->process_count || a->call >= head->call_count)
		return err_set(err, EBADMSG, "table activity: process or call is out of range");
	for (int i = 0; i < 4; i++)
		if (ids[i] < 0 || ids[i] >= (int64_t)head->file_count)
			return err_set(err, EBADMSG, "table activity: file is out of range");
	a->file = (file_id)ids[0];
	a->file2 = (file_id)ids[1];
	a->name = (file_id)ids[2];
	a->hints = (file_id)ids[3];
	a->layer = head->calls[a->call].layer;
	if (!store_is_null(r->rows, 5)) {
		int layer = layer_by_name(store_text(r->rows, 5));

		if (layer < 0)
			return err_set(err, EBADMSG, "table activity: unknown layer");
		a->layer = (uint8_t)layer;
	}
	for (size_t i = 0; i < sizeof(optional) / sizeof(optional[0]); i++) {
		if (!get(r, optional[i].column, &value))
			continue;
		memcpy((char *)a + optional[i].offset, &value, sizeof(value));
		a->present |= (uint16_t)(1u << optional[i].field);
	}
	if (get(r, 23, &value))
		a->present = (uint16_t)value;
	return 0;
}

/* Steps to the next row, of this portion or of the next one. Returns 1, 0 or -errno. */
static int next_row(struct reader *r, struct err *err)
{
	int code;

	if (r->rows) {
		code = store_step(r->site->store, r->rows, err);
		if (code || !site_is_postgres(r->site))
			return code;
	}
	r->rows = store_query(r->site->store, err, "FETCH " FETCH " FROM activities", "");
	return r->rows ? store_step(r->site->store, r->rows, err) : -EIO;
}

static ssize_t next_activities(void *arg, struct activity *batch, size_t cap, struct err *err)
{
	struct reader *r = arg;
	size_t n = 0;
	int code = 1;

	while (!r->is_done && n < cap && code > 0) {
		code = next_row(r, err);
		if (code > 0)
			code = read_activity(r, &batch[n++], err) < 0 ? -EBADMSG : 1;
		r->is_done = code <= 0;
	}
	return code < 0 ? code : (ssize_t)n;
}

static const struct trace_format site_format = {
	.name = "site",
	.next = next_activities,
	.close = close_reader,
};

static int open_run(struct reader *r, struct trace_head *head, const char *uuid, struct err *err)
{
	int code = find_run(r, uuid, err);

	if (!code)
		code = read_run(r, head, err);
	for (size_t i = 0; i < site_fact_count && !code; i++)
		code = read_facts(r, &site_facts[i], err);
	if (code < 0)
		return code;
	head_finish(&r->builder);
	head->format = site_format.name;
	return start_activities(r, err);
}

int site_read(struct trace *trace, struct site_db *site, const char *uuid, struct err *err)
{
	struct reader *r = xcalloc(1, sizeof(*r));
	int code;

	*trace = (struct trace){ .format = &site_format, .reader = r };
	r->site = site;
	head_init(&r->builder, &trace->head);
	code = store_execute(site->store,
			     site_is_postgres(site)
				     ? "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"
				     : "BEGIN",
			     err);
	if (code < 0) {
		free(r);
		head_release(&trace->head);
		*trace = (struct trace){ 0 };
		return code;
	}
	code = open_run(r, &trace->head, uuid, err);
	if (code < 0)
		trace_close(trace);
	return code;
}
