/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/sqlite/guard.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"

#define GUARD_STEP 10000
/* A full read takes about 5 operations per byte; a small file takes a few thousand. */
#define OPERATIONS_PER_BYTE 64
#define OPERATIONS_MIN 5000000

/* Far above what a trace needs; the defaults of SQLite allow gigabytes. */
static const struct {
	int limit, value;
} limits[] = {
	{ SQLITE_LIMIT_LENGTH, 16 << 20 },
	{ SQLITE_LIMIT_SQL_LENGTH, 1 << 20 },
	{ SQLITE_LIMIT_COLUMN, 100 },
	{ SQLITE_LIMIT_EXPR_DEPTH, 50 },
	{ SQLITE_LIMIT_COMPOUND_SELECT, 2 },
	{ SQLITE_LIMIT_ATTACHED, 0 },
	{ SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 64 },
	{ SQLITE_LIMIT_TRIGGER_DEPTH, 1 },
	{ SQLITE_LIMIT_WORKER_THREADS, 0 },
};

static int count_step(void *arg)
{
	struct guard *guard = arg;

	guard->exceeded = !guard->steps_left;
	guard->steps_left -= !guard->exceeded;
	return guard->exceeded;
}

/* "file:PATH?immutable=1" with everything but letters, digits and slashes as %HH. */
static void make_uri(struct buf *uri, const char *path)
{
	buf_puts(uri, *path == '/' ? "file://" : "file:");
	for (; *path; path++)
		if (isalnum((unsigned char)*path) || strchr("/._-", *path))
			buf_putc(uri, *path);
		else
			buf_printf(uri, "%%%02x", (unsigned char)*path);
	buf_puts(uri, "?immutable=1");
}

static void restrict_database(struct guard *guard, sqlite3 *db)
{
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		sqlite3_limit(db, limits[i].limit, limits[i].value);
	sqlite3_progress_handler(db, GUARD_STEP, count_step, guard);
	/* A mapped file that is truncated meanwhile would end the process. */
	sqlite3_exec(db, "PRAGMA mmap_size = 0; PRAGMA cell_size_check = ON", NULL, NULL, NULL);
}

int guard_open(struct guard *guard, sqlite3 **db, const char *path, struct err *err)
{
	AUTO_CLOSE int fd = file_open(path, err);
	AUTO_BUF struct buf uri = { 0 };
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return err_set(err, errno, "%s: %s", path, strerror(errno));
	*guard = (struct guard){ .bytes_left = (uint64_t)st.st_size };
	guard->steps_left =
		(OPERATIONS_MIN + OPERATIONS_PER_BYTE * (uint64_t)st.st_size) / GUARD_STEP;
	make_uri(&uri, path);
	if (sqlite3_open_v2(buf_text(&uri), db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL) !=
	    SQLITE_OK)
		return err_set(err, EBADMSG, "%s: cannot read: %s", path, sqlite3_errmsg(*db));
	restrict_database(guard, *db);
	return 0;
}

/* True if the query, whose parameters are the table and the column, has a row. */
static bool has_row(sqlite3 *db, const char *sql, const char *table, const char *column)
{
	sqlite3_stmt *query = NULL;
	bool found = false;

	if (sqlite3_prepare_v2(db, sql, -1, &query, NULL) == SQLITE_OK) {
		sqlite3_bind_text(query, 1, table, -1, SQLITE_STATIC);
		if (column)
			sqlite3_bind_text(query, 2, column, -1, SQLITE_STATIC);
		found = sqlite3_step(query) == SQLITE_ROW;
	}
	sqlite3_finalize(query);
	return found;
}

int guard_check_table(sqlite3 *db, const char *path, const char *table, const struct fact *fact,
		      int64_t version, struct err *err)
{
	/* A virtual table has no root page; a generated column is "hidden". */
	if (!has_row(db,
		     "SELECT 1 FROM sqlite_master WHERE name = ? AND type = 'table' AND "
		     "rootpage > 0",
		     table, NULL))
		return err_set(err, EBADMSG, "%s: %s is missing or not a table", path, table);
	for (size_t i = 0; i < fact->count; i++)
		if (fact->fields[i].since <= version &&
		    !has_row(db,
			     "SELECT 1 FROM pragma_table_xinfo(?) WHERE name = ? AND hidden = 0",
			     table, fact->fields[i].name))
			return err_set(err, EBADMSG, "%s: table %s has no plain column %s", path,
				       table, fact->fields[i].name);
	return 0;
}

bool guard_take_row(struct guard *guard, size_t text_bytes)
{
	uint64_t bytes = (uint64_t)text_bytes + 1;

	if (bytes > guard->bytes_left)
		return false;
	guard->bytes_left -= bytes;
	return true;
}
