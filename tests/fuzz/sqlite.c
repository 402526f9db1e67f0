/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads arbitrary bytes as a trace in the SQLite form. If the first byte is odd, the input is a
 * list of rows {table, values}, which are inserted into a database with the right schema. Else it
 * is the database itself, with the header set right.
 */
#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "container_file.h"
#include "trace/sqlite/sqlite.h"

#define ROWS_MAX 200

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char path[64];
static sqlite3 *template; /* the database of a run without rows, in memory */

static void create_table(const char *name, const struct fact *fact)
{
	AUTO_BUF struct buf sql = { 0 };

	buf_printf(&sql, "CREATE TABLE %s (", name);
	for (size_t i = 0; i < fact->count; i++)
		buf_printf(&sql, "%s%s", i ? ", " : "", fact->fields[i].name);
	buf_puts(&sql, ")");
	if (sqlite3_exec(template, sql.data, NULL, NULL, NULL) != SQLITE_OK)
		abort();
}

static void template_make(void)
{
	AUTO_BUF struct buf sql = { 0 };

	snprintf(path, sizeof(path), "/dev/shm/sluice-fuzz-%d.db", (int)getpid());
	sqlite3_open(":memory:", &template);
	buf_printf(&sql,
		   "PRAGMA page_size = 512; PRAGMA application_id = %d; PRAGMA user_version = %d",
		   SQLITE_APPLICATION_ID, SQLITE_SCHEMA_VERSION);
	sqlite3_exec(template, sql.data, NULL, NULL, NULL);
	for (size_t i = 0; sqlite_tables[i].name; i++)
		create_table(sqlite_tables[i].name, sqlite_tables[i].fact);
	create_table("activities", &fact_activity);
}

/* A value is a kind and its bytes. Small numbers are frequent, because most columns are indices. */
static void bind_value(sqlite3_stmt *insert, int column, struct wire *in)
{
	const uint8_t *kind = wire_bytes(in, 1), *bytes;
	static const char *const words[] = { "POSIX", "read",	 "write",  "open", "none",
					     "errno", "anomaly", "report", "cost", "sum" };

	if (!kind)
		return;
	if (*kind < 128) {
		sqlite3_bind_int64(insert, column, *kind % 8 - 1);
	} else if (*kind < 160) {
		sqlite3_bind_text(insert, column, words[*kind % 10], -1, SQLITE_STATIC);
	} else if (*kind < 192) {
		bytes = wire_bytes(in, 8);
		if (bytes)
			sqlite3_bind_int64(insert, column, (int64_t)load_u64(bytes));
	} else if (*kind < 240) {
		bytes = wire_bytes(in, *kind % 16);
		if (bytes)
			sqlite3_bind_text(insert, column, (const char *)bytes, *kind % 16,
					  SQLITE_TRANSIENT);
	}
}

static void insert_row(sqlite3 *db, const char *table, const struct fact *fact, struct wire *in)
{
	AUTO_BUF struct buf sql = { 0 };
	sqlite3_stmt *insert;

	buf_printf(&sql, "INSERT INTO %s VALUES (", table);
	for (size_t i = 0; i < fact->count; i++)
		buf_puts(&sql, i ? ",?" : "?");
	buf_puts(&sql, ")");
	if (sqlite3_prepare_v2(db, sql.data, -1, &insert, NULL) != SQLITE_OK)
		abort();
	for (size_t i = 0; i < fact->count; i++)
		bind_value(insert, (int)i + 1, in);
	sqlite3_step(insert);
	sqlite3_finalize(insert);
}

static void write_file(const void *bytes, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, bytes, n) != (ssize_t)n)
		abort();
	close(fd);
}

static void rows_make(const uint8_t *data, size_t size)
{
	struct wire in = { data, data + size, false };
	unsigned char *bytes;
	sqlite3_int64 n;
	size_t tables = 0;

	while (sqlite_tables[tables].name)
		tables++;
	sqlite3_exec(template, "BEGIN", NULL, NULL, NULL);
	for (int i = 0; i < ROWS_MAX && wire_left(&in); i++) {
		size_t table = *wire_bytes(&in, 1) % (tables + 1);

		if (table == tables)
			insert_row(template, "activities", &fact_activity, &in);
		else
			insert_row(template, sqlite_tables[table].name, sqlite_tables[table].fact,
				   &in);
	}
	bytes = sqlite3_serialize(template, "main", &n, 0);
	if (bytes)
		write_file(bytes, (size_t)n);
	sqlite3_free(bytes);
	sqlite3_exec(template, "ROLLBACK", NULL, NULL, NULL);
}

static void put_big_endian(uint8_t *at, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		at[i] = (uint8_t)(value >> (24 - 8 * i));
}

static void pages_make(const uint8_t *data, size_t size)
{
	AUTO_BUF struct buf file = { 0 };
	uint8_t *head;

	buf_add(&file, data, size);
	head = (uint8_t *)file.data;
	if (size >= 100) {
		memcpy(head, "SQLite format 3", 16);
		put_big_endian(head + 28, (uint32_t)(size / 512));
		put_big_endian(head + 60, 1 + head[63] % SQLITE_SCHEMA_VERSION);
		put_big_endian(head + 68, SQLITE_APPLICATION_ID);
		memcpy(head + 92, head + 24, 4); /* the number of pages is valid */
	}
	write_file(file.data, size);
}

static void drain(void)
{
	struct activity batch[16];
	struct trace trace;
	struct err err;
	ssize_t n;

	if (trace_open(&trace, path, NULL, &err) < 0)
		return;
	while ((n = trace_next(&trace, batch, 16, &err)) > 0)
		for (ssize_t i = 0; i < n; i++)
			if (batch[i].process >= trace.head.process_count ||
			    batch[i].call >= trace.head.call_count ||
			    batch[i].file >= trace.head.file_count ||
			    batch[i].file2 >= trace.head.file_count ||
			    batch[i].name >= trace.head.file_count || batch[i].layer >= LAYER_COUNT)
				abort();
	trace_close(&trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!template)
		template_make();
	if (!size)
		return 0;
	if (data[0] & 1)
		rows_make(data + 1, size - 1);
	else
		pages_make(data + 1, size - 1);
	drain();
	unlink(path);
	return 0;
}
