/* SPDX-License-Identifier: BSD-3-Clause */
#include "store/store.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/place.h"

/* Statements that are kept prepared: one per place that asks. */
#define STATEMENTS_MAX 64

struct store {
	sqlite3 *db;
	char *path;
	struct {
		const char *sql; /* the caller's literal: the address is the key */
		sqlite3_stmt *statement;
	} kept[STATEMENTS_MAX];
};

/*
 * One row per version: what brings a store of the version before up to it. Rows are only added.
 */
static const char *const versions[] = {
	"CREATE TABLE attribute (id INTEGER PRIMARY KEY, domain TEXT NOT NULL, name TEXT NOT NULL,"
	" type TEXT NOT NULL, UNIQUE (domain, name));"
	"CREATE TABLE attribute_note (attribute INTEGER NOT NULL REFERENCES attribute, key TEXT "
	"NOT NULL,"
	" value TEXT NOT NULL, PRIMARY KEY (attribute, key)) WITHOUT ROWID;"
	"CREATE TABLE thing (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, of INTEGER NOT NULL,"
	" name TEXT NOT NULL, UNIQUE (kind, of, name));"
	"CREATE TABLE fact (run TEXT NOT NULL, process INTEGER NOT NULL, key TEXT NOT NULL,"
	" value TEXT NOT NULL, PRIMARY KEY (run, process, key)) WITHOUT ROWID;"
	/* Calls of one kind and size class by duration: counts of bins, see durations.h. */
	"CREATE TABLE duration (host TEXT NOT NULL, layer TEXT NOT NULL, call TEXT NOT NULL,"
	" size INTEGER NOT NULL, bin INTEGER NOT NULL, count INTEGER NOT NULL,"
	" PRIMARY KEY (host, layer, call, size, bin)) WITHOUT ROWID;"
	/* What was reached under a set of hints, see outcomes.h. */
	"CREATE TABLE outcome (operation TEXT NOT NULL, user TEXT NOT NULL, extension TEXT NOT "
	"NULL,"
	" size INTEGER NOT NULL, hints TEXT NOT NULL, count INTEGER NOT NULL, bytes REAL NOT NULL,"
	" seconds REAL NOT NULL, rate REAL NOT NULL, spread REAL NOT NULL,"
	" PRIMARY KEY (operation, user, extension, size, hints)) WITHOUT ROWID;"
	"CREATE TABLE trial (user TEXT NOT NULL, extension TEXT NOT NULL, opens INTEGER NOT NULL,"
	" explored INTEGER NOT NULL, PRIMARY KEY (user, extension)) WITHOUT ROWID;",
};
enum { VERSION = sizeof(versions) / sizeof(versions[0]) };

static int fail(const struct store *store, int code, struct err *err)
{
	int number = code == SQLITE_BUSY || code == SQLITE_LOCKED ? EBUSY
		     : code == SQLITE_FULL			  ? ENOSPC
		     : code == SQLITE_READONLY || code == SQLITE_CANTOPEN || code == SQLITE_PERM
			     ? EACCES
			     : EIO;

	return err_set(err, number, "%s: %s", store->path, sqlite3_errmsg(store->db));
}

static int execute(struct store *store, const char *sql, struct err *err)
{
	int code = sqlite3_exec(store->db, sql, NULL, NULL, NULL);

	return code == SQLITE_OK ? 0 : fail(store, code, err);
}

int store_begin(struct store *store, struct err *err)
{
	return execute(store, "BEGIN IMMEDIATE", err);
}

int store_end(struct store *store, int commit, struct err *err)
{
	int r = execute(store, commit ? "COMMIT" : "ROLLBACK", err);

	if (r < 0 && commit)
		sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
	return r;
}

static int version_of(struct store *store, int *version, struct err *err)
{
	sqlite3_stmt *statement = NULL;
	int code = sqlite3_prepare_v2(store->db, "PRAGMA user_version", -1, &statement, NULL);

	if (code == SQLITE_OK)
		code = sqlite3_step(statement);
	if (code == SQLITE_ROW)
		*version = sqlite3_column_int(statement, 0);
	sqlite3_finalize(statement);
	return code == SQLITE_ROW ? 0 : fail(store, code, err);
}

/* Brings the schema up to date; under the lock, as another process may be at it. */
static int migrate(struct store *store, struct err *err)
{
	int version = 0, r = version_of(store, &version, err);

	if (r < 0 || version == VERSION)
		return r;
	r = store_begin(store, err);
	if (r >= 0)
		r = version_of(store, &version, err);
	if (r >= 0 && version > VERSION)
		r = err_set(err, EPROTO,
			    "%s: made by a later version of Sluice; set store.path to another file",
			    store->path);
	for (; r >= 0 && version < VERSION; version++)
		r = execute(store, versions[version], err);
	if (r >= 0) {
		AUTO_FREE char *sql = xprintf("PRAGMA user_version = %d", VERSION);

		r = execute(store, sql, err);
	}
	if (r < 0) {
		store_end(store, 0, NULL);
		return r;
	}
	return store_end(store, 1, err);
}

static int folder_make(const char *path, struct err *err)
{
	const char *slash = strrchr(path, '/');
	AUTO_FREE char *folder = NULL;

	if (!slash || slash == path)
		return 0;
	folder = xstrndup(path, (size_t)(slash - path));
	return place_make_dir(folder, 0700, err);
}

int store_open(struct store **out, const char *path, struct err *err)
{
	struct store *store;
	int r = folder_make(path, err), code;

	if (r < 0)
		return r;
	store = xcalloc(1, sizeof(*store));
	store->path = xstrdup(path);
	code = sqlite3_open_v2(path, &store->db,
			       SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
			       NULL);
	if (code != SQLITE_OK) {
		r = fail(store, code, err);
	} else {
		sqlite3_busy_timeout(store->db, STORE_WAIT_MS);
		r = migrate(store, err);
	}
	if (r < 0) {
		store_close(store);
		return r;
	}
	*out = store;
	return 0;
}

void store_close(struct store *store)
{
	if (!store)
		return;
	for (size_t i = 0; i < STATEMENTS_MAX; i++)
		sqlite3_finalize(store->kept[i].statement);
	sqlite3_close(store->db);
	free(store->path);
	free(store);
}

const char *store_path(const struct store *store)
{
	return store->path;
}

static sqlite3_stmt *prepare(struct store *store, const char *sql, struct err *err)
{
	size_t i = 0;
	int code;

	while (i < STATEMENTS_MAX - 1 && store->kept[i].sql && store->kept[i].sql != sql)
		i++;
	if (store->kept[i].sql == sql) {
		sqlite3_reset(store->kept[i].statement);
		return store->kept[i].statement;
	}
	sqlite3_finalize(store->kept[i].statement);
	store->kept[i].statement = NULL;
	store->kept[i].sql = NULL;
	code = sqlite3_prepare_v2(store->db, sql, -1, &store->kept[i].statement, NULL);
	if (code != SQLITE_OK) {
		fail(store, code, err);
		return NULL;
	}
	store->kept[i].sql = sql;
	return store->kept[i].statement;
}

static void bind(sqlite3_stmt *statement, const char *format, va_list ap)
{
	for (int i = 1; *format; format++, i++) {
		switch (*format) {
		case 'i':
			sqlite3_bind_int64(statement, i, va_arg(ap, int64_t));
			break;
		case 'd':
			sqlite3_bind_double(statement, i, va_arg(ap, double));
			break;
		default:
			sqlite3_bind_text(statement, i, va_arg(ap, const char *), -1,
					  SQLITE_TRANSIENT);
		}
	}
}

struct sqlite3_stmt *store_query(struct store *store, struct err *err, const char *sql,
				 const char *format, ...)
{
	sqlite3_stmt *statement = prepare(store, sql, err);
	va_list ap;

	if (!statement)
		return NULL;
	va_start(ap, format);
	bind(statement, format, ap);
	va_end(ap);
	return statement;
}

int store_step(struct store *store, struct sqlite3_stmt *statement, struct err *err)
{
	int code = sqlite3_step(statement);

	if (code == SQLITE_ROW)
		return 1;
	if (code != SQLITE_DONE)
		fail(store, code, err);
	sqlite3_reset(statement);
	return code == SQLITE_DONE ? 0 : -EIO;
}

int store_run(struct store *store, struct err *err, const char *sql, const char *format, ...)
{
	sqlite3_stmt *statement = prepare(store, sql, err);
	va_list ap;
	int r;

	if (!statement)
		return -EIO;
	va_start(ap, format);
	bind(statement, format, ap);
	va_end(ap);
	do {
		r = store_step(store, statement, err);
	} while (r > 0);
	return r;
}
