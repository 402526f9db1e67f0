/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Adds the rows of payloads to the tables: by binary COPY in PostgreSQL, by INSERT in SQLite.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "site/site_internal.h"

/* Times of activities: from 2000-01-01 to two days from now. Others would create partitions that
 * nobody needs. */
#define TIME_MIN_NS (INT64_C(946684800) * 1000000000)
#define TIME_AHEAD_NS (2 * SCHEMA_PARTITION_NS)
#define PARTITIONS_MAX 400 /* of the activities of one payload */

int64_t site_find_run(struct site_db *site, const char *uuid, struct err *err)
{
	return store_first_number(
		site->store,
		store_query(site->store, err, "SELECT id FROM run WHERE uuid = ?1", "t", uuid),
		err);
}

static int delete_rows(struct site_db *site, const struct schema_table *table, int64_t run,
		       struct err *err)
{
	AUTO_FREE char *sql =
		xprintf("DELETE FROM \"%s\" WHERE run = %lld", table->name, (long long)run);

	return store_execute(site->store, sql, err);
}

/* Only the partitions that the run can have rows in are searched. */
static int delete_activities(struct site_db *site, int64_t run, struct err *err)
{
	return store_run(site->store, err,
			 "DELETE FROM activity WHERE run = ?1 AND time_ns >= (SELECT started_ns - "
			 "86400000000000 FROM run WHERE id = ?1) AND time_ns <= (SELECT "
			 "started_ns + duration_ns + 86400000000000 FROM run WHERE id = ?1)",
			 "i", run);
}

int site_delete_run(struct site_db *site, int64_t run, struct err *err)
{
	int r = delete_activities(site, run, err);

	for (size_t i = 0; i < schema_table_count && r >= 0; i++)
		if (schema_tables[i].access == ACCESS_RUN && !schema_tables[i].partitioned)
			r = delete_rows(site, &schema_tables[i], run, err);
	return r < 0 ? r : store_run(site->store, err, "DELETE FROM run WHERE id = ?1", "i", run);
}

static bool is_partition_known(const struct site_db *site, int64_t day)
{
	for (size_t i = 0; i < site->day_count; i++)
		if (site->days[i] == day)
			return true;
	return false;
}

/* Creates the partitions of `activity` for these times, if they are missing. */
static int make_partitions(struct site_db *site, int64_t from_ns, int64_t to_ns, struct err *err)
{
	int64_t from = from_ns / SCHEMA_PARTITION_NS, to = to_ns / SCHEMA_PARTITION_NS;
	int r = 0;

	if (!site_is_postgres(site))
		return 0;
	if (from_ns < TIME_MIN_NS || to_ns > site_now_ns() + TIME_AHEAD_NS ||
	    to - from >= PARTITIONS_MAX)
		return err_set(err, EBADMSG,
			       "invalid payload: times of activities are out of range");
	for (int64_t day = from; day <= to && r >= 0; day++) {
		if (is_partition_known(site, day))
			continue;
		r = store_run(site->store, err, "SELECT sluice_make_partition(?1)", "i", day);
		if (r >= 0)
			site->days[site->day_count++ % SITE_DAYS] = day;
		if (site->day_count > SITE_DAYS)
			site->day_count = SITE_DAYS;
	}
	return r;
}

/* Which columns an INSERT or COPY names: those of this version, with the run, without an id. */
static bool is_inserted(const struct schema_table *table, size_t column)
{
	return table->columns[column].type != COLUMN_ID;
}

static char letter_of(enum column_type type)
{
	switch (type) {
	case COLUMN_REAL:
		return 'd';
	case COLUMN_TEXT:
	case COLUMN_OWNER:
		return 't';
	default:
		return 'i';
	}
}

static void prepare_insert(struct site_db *site, size_t number)
{
	const struct schema_table *table = &schema_tables[number];
	AUTO_BUF struct buf sql = { 0 }, values = { 0 }, format = { 0 };
	int n = 0;

	buf_printf(&sql, "%s \"%s\" (", site->copies ? "COPY" : "INSERT INTO", table->name);
	for (size_t i = 0; i < table->count; i++) {
		if (!is_inserted(table, i))
			continue;
		buf_puts(&sql, n ? ", " : "");
		schema_put_name(&sql, table->columns[i].name);
		buf_printf(&values, "%s?%d", n ? ", " : "", n + 1);
		buf_putc(&format, letter_of(table->columns[i].type));
		n++;
	}
	if (site->copies)
		buf_puts(&sql, ") FROM STDIN (FORMAT binary)");
	else
		buf_printf(&sql, ") VALUES (%s)", buf_text(&values));
	site->inserts[number] = buf_take(&sql);
	site->formats[number] = buf_take(&format);
}

/* The number of bytes and the bytes of an integer, as COPY expects them. */
static char *put_integer(char *at, unsigned bytes, int64_t value)
{
	uint32_t length = htonl(bytes);
	uint64_t bits = htobe64((uint64_t)value << (64 - 8 * bytes));

	memcpy(at, &length, 4);
	memcpy(at + 4, &bits, 8);
	return at + 4 + bytes;
}

static char *put_tuple_value(char *at, enum column_type type, const struct row_value *value)
{
	uint32_t length = htonl((uint32_t)value->text_bytes);
	int64_t bits;

	if (!value->is_set) {
		memset(at, 0xff, 4);
		return at + 4;
	}
	switch (type) {
	case COLUMN_INT16:
		return put_integer(at, 2, value->number);
	case COLUMN_INT32:
		return put_integer(at, 4, value->number);
	case COLUMN_REAL:
		memcpy(&bits, &value->real, 8);
		return put_integer(at, 8, bits);
	case COLUMN_TEXT:
	case COLUMN_OWNER:
		memcpy(at, &length, 4);
		if (value->text_bytes)
			memcpy(at + 4, value->text, value->text_bytes);
		return at + 4 + value->text_bytes;
	default:
		return put_integer(at, 8, value->number);
	}
}

static void put_tuple(struct buf *out, const struct schema_table *table,
		      const struct row_value *values)
{
	uint16_t count = 0;
	size_t room = 2;
	char *start, *at;

	for (size_t i = 0; i < table->count; i++) {
		count += is_inserted(table, i);
		room += 16 + (values[i].is_set ? values[i].text_bytes : 0);
	}
	buf_reserve(out, room);
	start = at = out->data + out->len;
	count = htons(count);
	memcpy(at, &count, 2);
	at += 2;
	for (size_t i = 0; i < table->count; i++)
		if (is_inserted(table, i))
			at = put_tuple_value(at, table->columns[i].type, &values[i]);
	out->len += (size_t)(at - start);
}

/* Inserts one row; texts are copied, because those of a payload have no end. */
static int insert_row(struct site_db *site, size_t number, const struct row_value *values,
		      struct err *err)
{
	const struct schema_table *table = &schema_tables[number];
	struct parameter parameters[ROWS_COLUMNS_MAX];
	AUTO_BUF struct buf texts = { 0 };
	size_t room = 0;
	struct statement *statement;
	int n = 0, r = -EIO;

	for (size_t i = 0; i < table->count; i++)
		room += values[i].is_set ? values[i].text_bytes + 1 : 0;
	buf_reserve(&texts, room);
	for (size_t i = 0; i < table->count; i++) {
		if (!is_inserted(table, i))
			continue;
		parameters[n] = (struct parameter){ .letter = site->formats[number][n],
						    .number = values[i].number,
						    .real = values[i].real };
		if (!values[i].is_set) {
			parameters[n].letter = 'n';
		} else if (parameters[n].letter == 't') {
			parameters[n].text = texts.data + texts.len;
			buf_add(&texts, values[i].text, values[i].text_bytes);
			buf_putc(&texts, '\0');
		}
		n++;
	}
	statement = store_query_values(site->store, err, site->inserts[number],
				       site->formats[number], parameters);
	while (statement && (r = store_step(site->store, statement, err)) > 0)
		;
	return r;
}

/* Adds a row at once, in either way. */
static int insert_one(struct site_db *site, size_t number, const struct row_value *values,
		      struct err *err)
{
	int r;

	if (!site->copies)
		return insert_row(site, number, values, err);
	put_tuple(&site->tuples, &schema_tables[number], values);
	r = store_copy(site->store, site->inserts[number], site->tuples.data, site->tuples.len,
		       err);
	buf_clear(&site->tuples);
	return r;
}

/* Is the run, or are earlier runs of its owner, not wanted any more? */
static int64_t is_forgotten(struct site_db *site, const char *uuid, const struct row_value *run,
			    struct err *err)
{
	const struct schema_table *table = schema_find("run");
	const struct row_value *owner = &run[schema_column(table, "owner")];
	AUTO_FREE char *user = xprintf("user:%.*s", (int)owner->text_bytes, owner->text);

	int64_t started = run[schema_column(table, "started_ns")].number;
	struct statement *rows =
		site_is_postgres(site)
			? store_query(site->store, err, "SELECT sluice_is_forgotten(?1, ?2, ?3)",
				      "tti", uuid, user + 5, started)
			: store_query(site->store, err,
				      "SELECT count(*) FROM forgotten WHERE (uuid = ?1 OR "
				      "uuid = ?2) AND before_ns >= ?3",
				      "tti", uuid, user, started);

	return store_first_number(site->store, rows, err);
}

/* Has the run another owner? A node does not know whether the id in a trace of a user is true. */
static int64_t is_of_another(struct site_db *site, int64_t run, const struct row_value *values,
			     struct err *err)
{
	const struct row_value *owner = &values[schema_column(schema_find("run"), "owner")];
	AUTO_FREE char *name = xstrndup(owner->text ? owner->text : "", owner->text_bytes);

	return store_first_number(site->store,
				  store_query(site->store, err,
					      "SELECT count(*) FROM run WHERE id = ?1 AND "
					      "owner <> ?2",
					      "it", run, name),
				  err);
}

/* Adds a run. What the database has of it is replaced: a node that was interrupted sends it again.
 * Runs of other users stay. */
static int start_run(struct site_db *site, const char *uuid, const struct row_value *values,
		     struct err *err)
{
	int64_t old = site_find_run(site, uuid, err), forgotten = 0;
	int r = old < 0 ? (int)old : 0;

	if (!r && old)
		forgotten = is_of_another(site, old, values, err);
	if (!r && old && !forgotten)
		r = site_delete_run(site, old, err);
	if (!r && !forgotten)
		forgotten = is_forgotten(site, uuid, values, err);
	site->run = 0;
	snprintf(site->uuid, sizeof(site->uuid), "%s", uuid);
	if (r < 0 || forgotten)
		return r < 0 ? r : forgotten < 0 ? (int)forgotten : 0;
	r = insert_one(site, (size_t)(schema_find("run") - schema_tables), values, err);
	if (r < 0)
		return r;
	site->run = site_find_run(site, uuid, err);
	return site->run < 0 ? (int)site->run : 0;
}

/* Where rows are not copied, each finds its partition. */
static int insert_with_partition(struct site_db *site, size_t number,
				 const struct row_value *values, int time, struct err *err)
{
	int r = time < 0 ? 0 : make_partitions(site, values[time].number, values[time].number, err);

	return r < 0 ? r : insert_row(site, number, values, err);
}

/* What a node says of itself; these tables do not refer to runs. */
static int insert_reports(struct site_db *site, struct rows_reader *reader, struct err *err)
{
	bool is_load = !strcmp(reader->table->name, "node_load");
	struct row_value values[ROWS_COLUMNS_MAX];
	int r;

	while ((r = rows_next(reader, values, err)) > 0) {
		r = is_load ? load_insert(site, values, err) : anomaly_insert(site, values, err);
		if (r < 0)
			return r;
	}
	return r;
}

/* Adds the rows of a block. */
static int insert_block(struct site_db *site, struct rows_reader *reader, struct err *err)
{
	size_t number = (size_t)(reader->table - schema_tables);
	bool starts = !strcmp(reader->table->name, "run");
	int time = reader->table->partitioned
			   ? schema_column(reader->table, reader->table->partitioned)
			   : -1;
	int64_t from = INT64_MAX, to = INT64_MIN;
	struct row_value values[ROWS_COLUMNS_MAX];
	int r;

	if (!site->inserts[number])
		prepare_insert(site, number);
	buf_clear(&site->tuples);
	while ((r = rows_next(reader, values, err)) > 0) {
		if (starts) {
			values[schema_column(reader->table, "uuid")] = row_text(reader->uuid);
			r = start_run(site, reader->uuid, values, err);
			if (r < 0)
				return r;
			continue;
		}
		if (!site->run)
			continue;
		values[0] = row_number(site->run);
		if (time >= 0 && values[time].number < from)
			from = values[time].number;
		if (time >= 0 && values[time].number > to)
			to = values[time].number;
		if (site->copies)
			put_tuple(&site->tuples, reader->table, values);
		else if ((r = insert_with_partition(site, number, values, time, err)) < 0)
			return r;
	}
	if (r < 0 || !site->tuples.len)
		return r;
	if (time >= 0)
		r = make_partitions(site, from, to, err);
	return r < 0 ? r
		     : store_copy(site->store, site->inserts[number], site->tuples.data,
				  site->tuples.len, err);
}

/* Finds the run of a payload that does not begin with it. */
static int find_run(struct site_db *site, const char *uuid, struct err *err)
{
	int64_t found;

	if (!strcmp(site->uuid, uuid))
		return 0;
	found = site_find_run(site, uuid, err);
	if (found < 0)
		return (int)found;
	site->run = found;
	snprintf(site->uuid, sizeof(site->uuid), "%s", uuid);
	return 0;
}

int site_insert(struct site_db *site, const void *payload, size_t bytes, struct err *err)
{
	struct rows_reader reader;
	int r = rows_open(&reader, payload, bytes, err);

	if (!r && strcmp(reader.uuid, ROWS_NO_RUN) != 0)
		r = find_run(site, reader.uuid, err);
	while (!r && (r = rows_next_block(&reader, err)) > 0)
		r = reader.table->access == ACCESS_CONCERNED ? insert_reports(site, &reader, err)
							     : insert_block(site, &reader, err);
	return r;
}
