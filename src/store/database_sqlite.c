/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The driver of SQLite. It uses the rollback journal: write-ahead logging needs memory that all
 * users of the file share, which does not work for home directories on a network file system.
 */
#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "store/database.h"
#include "store/store.h"

struct sqlite_database {
	struct database base;
	sqlite3 *db;
};

/* The application id in the SQLite header, which distinguishes our file: "slst". */
#define APPLICATION_ID 0x736c7374

static sqlite3 *db_of(const struct database *database)
{
	return ((const struct sqlite_database *)database)->db;
}

static int errno_of_sqlite(int code)
{
	switch (code & 0xff) {
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return EBUSY;
	case SQLITE_FULL:
		return ENOSPC;
	case SQLITE_READONLY:
	case SQLITE_CANTOPEN:
	case SQLITE_PERM:
		return EACCES;
	case SQLITE_NOTADB:
	case SQLITE_CORRUPT:
		return EBADMSG;
	case SQLITE_CONSTRAINT:
		return EEXIST;
	default:
		return EIO;
	}
}

static int fail_sqlite(const struct database *database, int code, struct err *err)
{
	const char *advice = "";

	switch (errno_of_sqlite(code)) {
	case EBADMSG:
		advice = "; move the file away, or set store.path to another file";
		break;
	case EACCES:
		advice = "; make the file writable, or set store.path to another file";
		break;
	case EBUSY:
		advice = "; another process has been writing for too long, try again later";
		break;
	}
	return err_set(err, errno_of_sqlite(code), "%s: %s%s", database->name,
		       sqlite3_errmsg(db_of(database)), advice);
}

static void close_sqlite(struct database *database)
{
	sqlite3_close(db_of(database));
	free(database->name);
	free(database);
}

static int execute(struct database *database, const char *sql, struct err *err)
{
	int code = sqlite3_exec(db_of(database), sql, NULL, NULL, NULL);

	return code == SQLITE_OK ? 0 : fail_sqlite(database, code, err);
}

static int begin(struct database *database, struct err *err)
{
	return execute(database, "BEGIN IMMEDIATE", err);
}

static int prepare(struct database *database, struct statement *statement, struct err *err)
{
	sqlite3_stmt *prepared = NULL;
	const char *rest = "";
	int code = sqlite3_prepare_v2(db_of(database), statement->sql, -1, &prepared, &rest);

	if (code != SQLITE_OK)
		return fail_sqlite(database, code, err);
	/* PostgreSQL refuses several statements at once, too. */
	if (!prepared || rest[strspn(rest, "; \t\n")]) {
		sqlite3_finalize(prepared);
		return err_set(err, EINVAL, "%s: exactly one statement is expected",
			       database->name);
	}
	statement->prepared = prepared;
	return 0;
}

static int start(struct statement *statement, const struct parameter *parameters, int count,
		 struct err *err)
{
	sqlite3_stmt *prepared = statement->prepared;

	(void)err;
	sqlite3_reset(prepared);
	for (int i = 0; i < count; i++) {
		const struct parameter *p = &parameters[i];

		if (p->letter == 'n')
			sqlite3_bind_null(prepared, i + 1);
		else if (p->letter == 'i')
			sqlite3_bind_int64(prepared, i + 1, p->number);
		else if (p->letter == 'd')
			sqlite3_bind_double(prepared, i + 1, p->real);
		else
			sqlite3_bind_text(prepared, i + 1, p->text, -1, SQLITE_TRANSIENT);
	}
	return 0;
}

static void reset(struct statement *statement)
{
	sqlite3_reset(statement->prepared);
}

static int step(struct statement *statement, struct err *err)
{
	int code = sqlite3_step(statement->prepared), r = 0;

	if (code == SQLITE_ROW)
		return 1;
	if (code != SQLITE_DONE)
		r = fail_sqlite(statement->database, code, err);
	reset(statement);
	return r;
}

static void finalize(struct statement *statement)
{
	sqlite3_finalize(statement->prepared);
	statement->prepared = NULL;
}

static bool is_null(struct statement *statement, int column)
{
	return sqlite3_column_type(statement->prepared, column) == SQLITE_NULL;
}

static int64_t number(struct statement *statement, int column)
{
	return sqlite3_column_int64(statement->prepared, column);
}

static double real(struct statement *statement, int column)
{
	return sqlite3_column_double(statement->prepared, column);
}

static const char *text(struct statement *statement, int column)
{
	return (const char *)sqlite3_column_text(statement->prepared, column);
}

static int columns(struct statement *statement)
{
	return sqlite3_column_count(statement->prepared);
}

static const char *column_name(struct statement *statement, int column)
{
	return sqlite3_column_name(statement->prepared, column);
}

static int query_number(struct database *database, const char *sql, int *out, struct err *err)
{
	sqlite3_stmt *prepared = NULL;
	int code = sqlite3_prepare_v2(db_of(database), sql, -1, &prepared, NULL);

	if (code == SQLITE_OK)
		code = sqlite3_step(prepared);
	if (code == SQLITE_ROW)
		*out = sqlite3_column_int(prepared, 0);
	sqlite3_finalize(prepared);
	return code == SQLITE_ROW ? 0 : fail_sqlite(database, code, err);
}

static int read_version(struct database *database, int *version, struct err *err)
{
	int application = 0, tables = 0, r;

	r = query_number(database, "PRAGMA user_version", version, err);
	if (r >= 0)
		r = query_number(database, "PRAGMA application_id", &application, err);
	if (r >= 0)
		r = query_number(database, "SELECT count(*) FROM sqlite_master", &tables, err);
	if (r >= 0 && application != APPLICATION_ID && (tables || application || *version))
		return err_set(err, EBADMSG,
			       "%s: this is a database of another application; set store.path to "
			       "another file",
			       database->name);
	return r;
}

static int set_version(struct database *database, int version, struct err *err)
{
	AUTO_FREE char *sql = xprintf("PRAGMA application_id = %d; PRAGMA user_version = %d",
				      APPLICATION_ID, version);

	return execute(database, sql, err);
}

static const struct database_ops sqlite_ops = {
	.dialect = DIALECT_SQLITE,
	.close = close_sqlite,
	.execute = execute,
	.begin = begin,
	.begin_shared = begin,
	.prepare = prepare,
	.start = start,
	.step = step,
	.reset = reset,
	.finalize = finalize,
	.is_null = is_null,
	.number = number,
	.real = real,
	.text = text,
	.columns = columns,
	.column_name = column_name,
	.version = read_version,
	.set_version = set_version,
};

int database_open_sqlite(struct database **database, const char *path, struct err *err)
{
	struct sqlite_database *made = xcalloc(1, sizeof(*made));
	int code, r;

	made->base = (struct database){ &sqlite_ops, xstrdup(path) };
	code = sqlite3_open_v2(path, &made->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
	if (code != SQLITE_OK) {
		r = fail_sqlite(&made->base, code, err);
		close_sqlite(&made->base);
		return r;
	}
	sqlite3_busy_timeout(made->db, STORE_WAIT_MS);
	/* The schema of a store is ours, but its file may have been replaced. */
	sqlite3_db_config(made->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(made->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(made->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(made->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	*database = &made->base;
	return 0;
}
