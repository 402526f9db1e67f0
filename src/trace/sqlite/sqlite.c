/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Writes the SQLite form, for queries in SQL. reader.c reads it. The database is filled under a
 * temporary name and gets its final name when it is complete, so it needs no journal.
 */
#include "trace/sqlite/sqlite.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "trace/output.h"

enum table {
	TABLE_RUN,
	TABLE_CLOCK,
	TABLE_CALLS,
	TABLE_PROCESSES,
	TABLE_FILES,
	TABLE_AGGREGATES,
	TABLE_LOSSES,
	TABLE_HOSTS,
	TABLE_STATISTICS,
	TABLE_SAMPLES,
	TABLE_NOTES,
	TABLE_USAGES,
	TABLE_FLOWS,
	TABLE_END,
	TABLE_COUNT
};

const struct sqlite_table sqlite_tables[] = {
	[TABLE_RUN] = { "run", &fact_run, 1 },
	[TABLE_CLOCK] = { "clock", &fact_clock, 1 },
	[TABLE_CALLS] = { "calls", &fact_call, 1 },
	[TABLE_PROCESSES] = { "processes", &fact_process, 1 },
	[TABLE_FILES] = { "files", &fact_file, 1 },
	[TABLE_AGGREGATES] = { "aggregates", &fact_aggregate, 1 },
	[TABLE_LOSSES] = { "losses", &fact_loss, 1 },
	[TABLE_HOSTS] = { "hosts", &fact_host, 2 },
	[TABLE_STATISTICS] = { "statistics", &fact_statistic, 3 },
	[TABLE_SAMPLES] = { "samples", &fact_sample, 3 },
	[TABLE_NOTES] = { "notes", &fact_note, 3 },
	[TABLE_USAGES] = { "usages", &fact_usage, 4 },
	[TABLE_FLOWS] = { "flows", &fact_flow, 4 },
	[TABLE_END] = { "end_of_run", &fact_end, 1 },
	[TABLE_COUNT] = { NULL, NULL, 0 },
};

static const struct sqlite_table activities_table = { "activities", &fact_activity, 1 };

/* Adding a process again updates the same columns as head_add(). */
#define UPDATE_PROCESS                                                                       \
	" ON CONFLICT (process) DO UPDATE SET rank = excluded.rank, ranks = excluded.ranks," \
	" host = excluded.host, program = excluded.program, command = excluded.command,"     \
	" directory = excluded.directory"

struct writer {
	struct file_draft draft;
	sqlite3 *db;
	sqlite3_stmt *insert[TABLE_COUNT], *insert_activity;
	bool failed;
};

static bool recognize(const unsigned char *head, size_t n)
{
	static const char magic[] = "SQLite format 3"; /* with the final zero byte */

	return n >= sizeof(magic) && !memcmp(head, magic, sizeof(magic));
}

static void declare_columns(struct buf *out, const struct fact *fact)
{
	for (size_t i = 0; i < fact->count; i++) {
		const struct fact_field *field = &fact->fields[i];
		bool text = field->type == FACT_TEXT || field->type == FACT_LAYER;

		buf_printf(out, "%s%s %s%s", i ? ", " : "", field->name, text ? "TEXT" : "INTEGER",
			   field->present ? "" : " NOT NULL");
	}
	if (fact == &fact_process)
		buf_puts(out, ", PRIMARY KEY (process)");
}

/* Reports the error of SQLite with the best matching errno. */
static int fail_write(struct writer *w, struct err *err)
{
	int primary = sqlite3_errcode(w->db) & 0xff;
	int code = primary == SQLITE_FULL ? ENOSPC : primary == SQLITE_NOMEM ? ENOMEM : EIO;

	w->failed = true;
	return err_set(err, code, "%s: cannot write: %s", w->draft.temporary,
		       sqlite3_errmsg(w->db));
}

static int run_sql(struct writer *w, const char *sql, struct err *err)
{
	return sqlite3_exec(w->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : fail_write(w, err);
}

static int create_table(struct writer *w, const struct sqlite_table *table, sqlite3_stmt **insert,
			struct err *err)
{
	AUTO_BUF struct buf sql = { 0 };
	int r;

	buf_printf(&sql, "CREATE TABLE %s (", table->name);
	declare_columns(&sql, table->fact);
	buf_puts(&sql, ")");
	r = run_sql(w, sql.data, err);
	if (r < 0)
		return r;
	buf_clear(&sql);
	buf_printf(&sql, "INSERT INTO %s VALUES (", table->name);
	for (size_t i = 0; i < table->fact->count; i++)
		buf_puts(&sql, i ? ",?" : "?");
	buf_puts(&sql, table->fact == &fact_process ? ")" UPDATE_PROCESS : ")");
	return sqlite3_prepare_v2(w->db, sql.data, -1, insert, NULL) == SQLITE_OK
		       ? 0
		       : fail_write(w, err);
}

static int insert_row(struct writer *w, sqlite3_stmt *insert, const struct fact *fact,
		      const void *row, struct err *err)
{
	for (size_t i = 0; i < fact->count; i++) {
		const struct fact_field *field = &fact->fields[i];

		/* SQLITE_STATIC: the text is used only until the sqlite3_step() below. */
		if (field->type == FACT_TEXT)
			sqlite3_bind_text(insert, (int)i + 1, fact_text(field, row), -1,
					  SQLITE_STATIC);
		else
			sqlite3_bind_int64(insert, (int)i + 1, fact_number(field, row));
	}
	if (sqlite3_step(insert) != SQLITE_DONE)
		return fail_write(w, err);
	sqlite3_reset(insert);
	return 0;
}

static int create_tables(struct writer *w, struct err *err)
{
	AUTO_BUF struct buf sql = { 0 };
	int r;

	buf_printf(&sql,
		   "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = "
		   "EXCLUSIVE;"
		   "PRAGMA application_id = %d; PRAGMA user_version = %d; BEGIN;"
		   "CREATE TABLE schema_version (version INTEGER NOT NULL);"
		   "INSERT INTO schema_version VALUES (%d);",
		   SQLITE_APPLICATION_ID, SQLITE_SCHEMA_VERSION, SQLITE_SCHEMA_VERSION);
	r = run_sql(w, sql.data, err);
	for (int i = 0; i < TABLE_COUNT && !r; i++)
		r = create_table(w, &sqlite_tables[i], &w->insert[i], err);
	if (!r)
		r = create_table(w, &activities_table, &w->insert_activity, err);
	return r;
}

static int insert_start(struct writer *w, const struct run_info *run, const struct run_clock *clock,
			const struct call_info *calls, size_t count, struct err *err)
{
	int r = create_tables(w, err);

	if (!r)
		r = insert_row(w, w->insert[TABLE_RUN], &fact_run, run, err);
	if (!r)
		r = insert_row(w, w->insert[TABLE_CLOCK], &fact_clock, clock, err);
	for (size_t i = 0; i < count && !r; i++) {
		struct call_row row = call_row_make(&calls[i], i);

		r = insert_row(w, w->insert[TABLE_CALLS], &fact_call, &row, err);
		fact_release(&fact_call, &row);
	}
	return r;
}

static void close_statements(struct writer *w)
{
	for (int i = 0; i < TABLE_COUNT; i++) {
		sqlite3_finalize(w->insert[i]);
		w->insert[i] = NULL;
	}
	sqlite3_finalize(w->insert_activity);
	w->insert_activity = NULL;
}

static void writer_free(struct writer *w)
{
	close_statements(w);
	sqlite3_close(w->db);
	free(w);
}

/* SQLite would create the file with the modes of the umask. */
static int create_database(struct writer *w, const char *path, struct err *err)
{
	AUTO_CLOSE int fd = trace_output_draft(&w->draft, path, err);

	if (fd < 0)
		return fd;
	if (sqlite3_open_v2(w->draft.temporary, &w->db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
		return err_set(err, EIO, "%s: cannot create: %s", w->draft.temporary,
			       sqlite3_errmsg(w->db));
	return 0;
}

static int create(void **writer, const char *path, const struct run_info *run,
		  const struct run_clock *clock, const struct call_info *calls, size_t count,
		  struct err *err)
{
	struct writer *w;
	int r;

	if (clock->tick0 || clock->num != clock->den)
		return err_set(err, EINVAL,
			       "%s: the times of an SQLite trace must be in nanoseconds", path);
	w = xcalloc(1, sizeof(*w));
	r = create_database(w, path, err);
	if (r >= 0)
		r = insert_start(w, run, clock, calls, count, err);
	if (r < 0) {
		file_draft_discard(&w->draft);
		writer_free(w);
		return r;
	}
	*writer = w;
	return 0;
}

static int add_process(void *writer, const struct process_info *process, struct err *err)
{
	struct writer *w = writer;

	return insert_row(w, w->insert[TABLE_PROCESSES], &fact_process, process, err);
}

static int add_file(void *writer, file_id id, const char *path, struct err *err)
{
	struct writer *w = writer;

	return insert_row(w, w->insert[TABLE_FILES], &fact_file,
			  &(struct file_row){ id, (char *)path }, err);
}

static int add_aggregate(void *writer, const struct aggregate *aggregate, struct err *err)
{
	struct writer *w = writer;
	struct aggregate_row row = aggregate_row_make(aggregate);
	int r = insert_row(w, w->insert[TABLE_AGGREGATES], &fact_aggregate, &row, err);

	fact_release(&fact_aggregate, &row);
	return r;
}

static int add_loss(void *writer, const struct loss_info *row, struct err *err)
{
	struct writer *w = writer;

	return insert_row(w, w->insert[TABLE_LOSSES], &fact_loss, row, err);
}

static int add_host(void *writer, const struct host_info *row, struct err *err)
{
	struct writer *w = writer;

	return insert_row(w, w->insert[TABLE_HOSTS], &fact_host, row, err);
}

static int add_fact(void *writer, const struct fact *fact, const void *row, struct err *err)
{
	struct writer *w = writer;

	for (int i = 0; i < TABLE_COUNT; i++)
		if (sqlite_tables[i].fact == fact)
			return insert_row(w, w->insert[i], fact, row, err);
	return err_set(err, EINVAL, "%s: there is no table for the fact %s", w->draft.path,
		       fact->name);
}

static int insert_activity(struct writer *w, const struct activity *a, struct err *err)
{
	sqlite3_stmt *insert = w->insert_activity;

	for (size_t i = 0; i < fact_activity.count; i++) {
		const struct fact_field *field = &fact_activity.fields[i];

		if (field->present && !(a->present >> field->present & 1))
			sqlite3_bind_null(insert, (int)i + 1);
		else if (field->type == FACT_LAYER)
			sqlite3_bind_text(insert, (int)i + 1, layer_name(a->layer), -1,
					  SQLITE_STATIC);
		else
			sqlite3_bind_int64(insert, (int)i + 1, fact_number(field, a));
	}
	if (sqlite3_step(insert) != SQLITE_DONE)
		return fail_write(w, err);
	sqlite3_reset(insert);
	return 0;
}

static int add_activities(void *writer, const struct activity *batch, size_t n, struct err *err)
{
	struct writer *w = writer;
	int r = 0;

	for (size_t i = 0; i < n && !r; i++)
		r = insert_activity(w, &batch[i], err);
	return r;
}

/* SQLite itself does not sync (PRAGMA synchronous = OFF); committing the draft does. */
static int finish(void *writer, const struct run_end *end, const struct run_clock *clock,
		  struct err *err)
{
	struct writer *w = writer;
	int r = w->failed ? err_set(err, EIO, "%s: an earlier write failed", w->draft.path) : 0;

	(void)clock; /* nanoseconds, as given to create() */
	if (!r)
		r = insert_row(w, w->insert[TABLE_END], &fact_end, end, err);
	close_statements(w);
	if (!r)
		r = run_sql(w,
			    "CREATE INDEX activities_in_order ON activities (" SQLITE_ORDER
			    "); COMMIT",
			    err);
	if (!r && sqlite3_close(w->db) != SQLITE_OK)
		r = fail_write(w, err);
	else if (!r)
		w->db = NULL;
	if (!r)
		r = file_draft_commit(&w->draft, err);
	file_draft_discard(&w->draft);
	writer_free(w);
	return r;
}

const struct trace_format trace_sqlite = {
	.name = "sqlite",
	.suffix = ".db",
	.help = "SQLite database, for queries in SQL",
	.recognize = recognize,
	.create = create,
	.add_process = add_process,
	.add_file = add_file,
	.add_activities = add_activities,
	.add_aggregate = add_aggregate,
	.add_loss = add_loss,
	.add_host = add_host,
	.add_fact = add_fact,
	.finish = finish,
	.open = sqlite_open,
	.next = sqlite_next,
	.close = sqlite_close,
};
