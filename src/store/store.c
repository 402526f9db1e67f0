/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Opens and migrates the store, and prepares statements. The store uses SQLite's rollback journal:
 * write-ahead logging needs memory that all users of the file share, which does not work for home
 * directories on a network file system.
 */
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/place.h"
#include "base/trusted.h"
#include "store/entry_runs.h"
#include "store/store_internal.h"

/* Prepared statements that are kept for reuse; more than all callers together have. */
#define STATEMENTS_MAX 64

struct store {
	sqlite3 *db;
	char *path;
	struct {
		const char *sql; /* the caller's literal; its address is the key */
		sqlite3_stmt *statement;
	} kept[STATEMENTS_MAX];
};

/*
 * versions[n] migrates a store from version n to version n + 1 and keeps all rows.
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
	/* Histograms of call durations, see durations.h. */
	"CREATE TABLE duration (host TEXT NOT NULL, layer TEXT NOT NULL, call TEXT NOT NULL,"
	" size INTEGER NOT NULL, bin INTEGER NOT NULL, count INTEGER NOT NULL,"
	" PRIMARY KEY (host, layer, call, size, bin)) WITHOUT ROWID;"
	/* Transfer rates by hints, see outcomes.h. */
	"CREATE TABLE outcome (operation TEXT NOT NULL, user TEXT NOT NULL, extension TEXT NOT "
	"NULL,"
	" size INTEGER NOT NULL, hints TEXT NOT NULL, count INTEGER NOT NULL, bytes REAL NOT NULL,"
	" seconds REAL NOT NULL, rate REAL NOT NULL, spread REAL NOT NULL,"
	" PRIMARY KEY (operation, user, extension, size, hints)) WITHOUT ROWID;"
	"CREATE TABLE trial (user TEXT NOT NULL, extension TEXT NOT NULL, opens INTEGER NOT NULL,"
	" explored INTEGER NOT NULL, PRIMARY KEY (user, extension)) WITHOUT ROWID;",
	/* Tunings, see studies.h, and the knowledge base, see knowledge.h. */
	"CREATE TABLE study (id INTEGER PRIMARY KEY, command TEXT NOT NULL, plan TEXT NOT NULL,"
	" digest TEXT NOT NULL, state TEXT NOT NULL, begun INTEGER NOT NULL,"
	" changed INTEGER NOT NULL);"
	"CREATE TABLE study_run (study INTEGER NOT NULL REFERENCES study, number INTEGER NOT NULL,"
	" phase TEXT NOT NULL, point INTEGER NOT NULL, parameters TEXT NOT NULL,"
	" effective TEXT NOT NULL, state TEXT NOT NULL, reason TEXT NOT NULL, cost REAL,"
	" run REAL NOT NULL, io REAL NOT NULL, read REAL NOT NULL, written REAL NOT NULL,"
	" digest TEXT NOT NULL, begun INTEGER NOT NULL, PRIMARY KEY (study, number)) WITHOUT ROWID;"
	"CREATE TABLE knowledge (id INTEGER PRIMARY KEY, program TEXT NOT NULL,"
	" fingerprint TEXT NOT NULL, arguments TEXT NOT NULL, platform TEXT NOT NULL,"
	" filesystem TEXT NOT NULL, ranks INTEGER NOT NULL, size INTEGER NOT NULL,"
	" parameters TEXT NOT NULL, objective TEXT NOT NULL, before REAL NOT NULL,"
	" after REAL NOT NULL, gain REAL NOT NULL, gain_low REAL NOT NULL, gain_high REAL NOT NULL,"
	" found INTEGER NOT NULL, study TEXT NOT NULL, pinned INTEGER NOT NULL,"
	" UNIQUE (program, fingerprint, arguments, platform, filesystem, ranks, size));",
	/* Benchmarks of elementary operations, see elements.h. */
	"CREATE TABLE element (id INTEGER PRIMARY KEY, platform TEXT NOT NULL,"
	" operation TEXT NOT NULL, placement TEXT NOT NULL, cache TEXT NOT NULL,"
	" nodes REAL NOT NULL, cores REAL NOT NULL, senders REAL NOT NULL, receivers REAL NOT NULL,"
	" writers REAL NOT NULL, bytes REAL NOT NULL, round INTEGER NOT NULL,"
	" repetition INTEGER NOT NULL, seconds REAL NOT NULL, time INTEGER NOT NULL,"
	" UNIQUE (platform, operation, placement, cache, nodes, cores, senders, receivers, writers,"
	" bytes, round, repetition));",
	/* Probes of storage targets, and the jobs that ran meanwhile, see probes.h. */
	"CREATE TABLE probe_system (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);"
	"CREATE TABLE probe_target (id INTEGER PRIMARY KEY, system INTEGER NOT NULL,"
	" name TEXT NOT NULL, UNIQUE (system, name));"
	"CREATE TABLE probe_round (id INTEGER PRIMARY KEY, system INTEGER NOT NULL,"
	" time REAL NOT NULL, bytes INTEGER NOT NULL, UNIQUE (system, time, bytes));"
	"CREATE TABLE probe (round INTEGER NOT NULL, target INTEGER NOT NULL,"
	" seconds REAL NOT NULL, outcome INTEGER NOT NULL, PRIMARY KEY (round, target))"
	" WITHOUT ROWID;"
	"CREATE TABLE probe_snapshot (id INTEGER PRIMARY KEY, system INTEGER NOT NULL,"
	" time REAL NOT NULL, UNIQUE (system, time));"
	"CREATE TABLE probe_job (id INTEGER PRIMARY KEY, system INTEGER NOT NULL,"
	" job TEXT NOT NULL, name TEXT NOT NULL, owner TEXT NOT NULL, queue TEXT NOT NULL,"
	" UNIQUE (system, job, name, owner, queue));"
	"CREATE TABLE probe_running (snapshot INTEGER NOT NULL, number INTEGER NOT NULL,"
	" job INTEGER NOT NULL, nodes REAL, memory REAL, virtual REAL, used REAL, allocated REAL,"
	" PRIMARY KEY (snapshot, number)) WITHOUT ROWID;"
	"CREATE TABLE probe_node (system INTEGER NOT NULL, time REAL NOT NULL, a REAL, b REAL,"
	" c REAL, d REAL, e REAL, f REAL, PRIMARY KEY (system, time)) WITHOUT ROWID;",
	/* How the data of a tuning's runs was compared, see knowledge.h. */
	"ALTER TABLE knowledge ADD COLUMN compared TEXT NOT NULL DEFAULT '';"
	"ALTER TABLE study_run ADD COLUMN compared TEXT NOT NULL DEFAULT '';",
	/* Transfer rates also by program and run. Those of earlier versions have neither. */
	"ALTER TABLE outcome RENAME TO outcome_before;"
	"CREATE TABLE outcome (operation TEXT NOT NULL, user TEXT NOT NULL, program TEXT NOT NULL,"
	" extension TEXT NOT NULL, size INTEGER NOT NULL, hints TEXT NOT NULL, run TEXT NOT NULL,"
	" count INTEGER NOT NULL, bytes REAL NOT NULL, seconds REAL NOT NULL, rate REAL NOT NULL,"
	" spread REAL NOT NULL,"
	" PRIMARY KEY (operation, user, program, extension, size, hints, run)) WITHOUT ROWID;"
	"INSERT INTO outcome SELECT operation, user, '', extension, size, hints, '', count, bytes,"
	" seconds, rate, spread FROM outcome_before;"
	"DROP TABLE outcome_before;",
	/* Entries that were demoted, and the runs that they are judged by, see entry_runs.h.
	 * Entries of earlier versions get the runs of their tunings. */
	"ALTER TABLE knowledge ADD COLUMN demoted INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE knowledge ADD COLUMN reason TEXT NOT NULL DEFAULT '';"
	"CREATE TABLE entry_run (id INTEGER PRIMARY KEY, entry INTEGER NOT NULL,"
	" applied INTEGER NOT NULL, cost REAL NOT NULL, bytes REAL NOT NULL, time INTEGER NOT "
	"NULL);"
	"CREATE INDEX entry_run_entry ON entry_run (entry, applied, id);"
	"INSERT INTO entry_run (entry, applied, cost, bytes, time) " ENTRY_RUNS_OF_STUDIES
	" ORDER BY k.id, r.number;",
	/* What a tuning has proved, and the conditions of its runs. */
	"ALTER TABLE study ADD COLUMN gain REAL;"
	"ALTER TABLE study ADD COLUMN gain_low REAL;"
	"ALTER TABLE study ADD COLUMN gain_high REAL;"
	"ALTER TABLE study ADD COLUMN conditions TEXT NOT NULL DEFAULT '';"
	"ALTER TABLE study_run ADD COLUMN foreign_load REAL;"
	"ALTER TABLE study_run ADD COLUMN frequency REAL;"
	"ALTER TABLE knowledge ADD COLUMN conditions TEXT NOT NULL DEFAULT '';",
};
enum { VERSION = sizeof(versions) / sizeof(versions[0]) };

/* The application id in the SQLite header, which distinguishes our file: "slst". */
#define APPLICATION_ID 0x736c7374

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
	default:
		return EIO;
	}
}

static int fail_sqlite(const struct store *store, int code, struct err *err)
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
	return err_set(err, errno_of_sqlite(code), "%s: %s%s", store->path,
		       sqlite3_errmsg(store->db), advice);
}

static int execute_sql(struct store *store, const char *sql, struct err *err)
{
	int code = sqlite3_exec(store->db, sql, NULL, NULL, NULL);

	return code == SQLITE_OK ? 0 : fail_sqlite(store, code, err);
}

int store_begin(struct store *store, struct err *err)
{
	return execute_sql(store, "BEGIN IMMEDIATE", err);
}

int store_end(struct store *store, int commit, struct err *err)
{
	int r = execute_sql(store, commit ? "COMMIT" : "ROLLBACK", err);

	if (r < 0 && commit)
		sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
	return r;
}

int store_end_with(struct store *store, int result, struct err *err)
{
	if (result >= 0)
		return store_end(store, 1, err);
	store_end(store, 0, NULL);
	return result;
}

static int query_number(struct store *store, const char *sql, int *number, struct err *err)
{
	sqlite3_stmt *statement = NULL;
	int code = sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL);

	if (code == SQLITE_OK)
		code = sqlite3_step(statement);
	if (code == SQLITE_ROW)
		*number = sqlite3_column_int(statement, 0);
	sqlite3_finalize(statement);
	return code == SQLITE_ROW ? 0 : fail_sqlite(store, code, err);
}

/* Reads the version of the store, 0 for a new file. Fails if the file cannot be used. */
static int read_version(struct store *store, int *version, struct err *err)
{
	int application = 0, tables = 0, r;

	r = query_number(store, "PRAGMA user_version", version, err);
	if (r >= 0)
		r = query_number(store, "PRAGMA application_id", &application, err);
	if (r >= 0)
		r = query_number(store, "SELECT count(*) FROM sqlite_master", &tables, err);
	if (r < 0)
		return r;
	if (application != APPLICATION_ID && (tables || application || *version))
		return err_set(
			err, EBADMSG,
			"%s: this is a database of another application; set store.path to another "
			"file",
			store->path);
	if (*version > VERSION)
		return err_set(err, EPROTO,
			       "%s: made by a later version of Sluice (store version %d, this "
			       "version supports up to %d); set store.path to another file",
			       store->path, *version, VERSION);
	return 0;
}

static int migrate_from(struct store *store, int version, struct err *err)
{
	AUTO_FREE char *sql = xprintf("PRAGMA application_id = %d; PRAGMA user_version = %d",
				      APPLICATION_ID, VERSION);
	int r = 0;

	for (; r >= 0 && version < VERSION; version++)
		r = execute_sql(store, versions[version], err);
	return r < 0 ? r : execute_sql(store, sql, err);
}

/* Reads the version in a transaction, because another process may be creating the store. */
static int read_version_consistently(struct store *store, int *version, struct err *err)
{
	int r = execute_sql(store, "BEGIN", err);

	if (r < 0)
		return r;
	r = read_version(store, version, err);
	store_end(store, 0, NULL);
	return r;
}

/* Migrates the schema. It reads the version again under the write lock: others may migrate, too. */
static int migrate(struct store *store, struct err *err)
{
	int version = 0, r = read_version_consistently(store, &version, err);

	if (r < 0 || version == VERSION)
		return r;
	r = store_begin(store, err);
	if (r < 0)
		return r;
	r = read_version(store, &version, err);
	if (r >= 0)
		r = migrate_from(store, version, err);
	return store_end_with(store, r, err);
}

/* SQLite would create the file with the modes of the umask. Its journal inherits the mode. */
static int create_file(const char *path, struct err *err)
{
	struct err why;
	int fd = trusted_create_file(AT_FDCWD, path, &why);

	if (fd == -EEXIST)
		return 0; /* another process was faster */
	if (fd < 0)
		return err_set(err, why.code, "%s", why.text);
	close(fd);
	return 0;
}

/* The directory counts as well: SQLite replays a journal that it finds beside the file. */
static int check_directory(const char *path, struct err *err)
{
	AUTO_FREE char *real = realpath(path, NULL);
	AUTO_FREE char *copy = real ? xstrdup(real) : xstrdup(path);
	AUTO_CLOSE int fd = trusted_open_directory(AT_FDCWD, dirname(copy), TRUSTED_PROVIDED, err);

	return fd < 0 ? fd : 0;
}

/* Refuses a store that another user could have written. */
static int check_trust(const char *path, struct err *err)
{
	AUTO_CLOSE int fd = trusted_open_file(AT_FDCWD, path, O_RDONLY, TRUSTED_PROVIDED, err);

	return fd < 0 ? fd : check_directory(path, err);
}

static int open_file(struct store **out, const char *path, struct err *err)
{
	struct store *store;
	int code, r = check_trust(path, err);

	if (r < 0)
		return r;
	store = xcalloc(1, sizeof(*store));
	store->path = xstrdup(path);
	code = sqlite3_open_v2(path, &store->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
	if (code != SQLITE_OK) {
		r = fail_sqlite(store, code, err);
	} else {
		sqlite3_busy_timeout(store->db, STORE_WAIT_MS);
		/* The schema of a store is ours, but its file may have been replaced. */
		sqlite3_db_config(store->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
		sqlite3_db_config(store->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
		sqlite3_db_config(store->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
		sqlite3_db_config(store->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
		r = migrate(store, err);
	}
	if (r < 0) {
		store_close(store);
		return r;
	}
	*out = store;
	return 0;
}

int store_open(struct store **store, const char *path, struct err *err)
{
	int r = place_make_parent(path, TRUSTED_DIRECTORY_MODE, err);

	if (r >= 0 && !place_exists(path))
		r = check_directory(path, err);
	if (r >= 0 && !place_exists(path))
		r = create_file(path, err);
	return r < 0 ? r : open_file(store, path, err);
}

int store_open_existing(struct store **store, const char *path, struct err *err)
{
	if (!place_exists(path))
		return err_set(err, ENOENT,
			       "%s: the store does not exist yet; 'sluice run' creates it", path);
	return open_file(store, path, err);
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

static int prepare_statement(struct store *store, const char *sql, sqlite3_stmt **out,
			     struct err *err)
{
	size_t i = 0;
	int code;

	/* The last slot is shared by all statements that find no free one. */
	while (i < STATEMENTS_MAX - 1 && store->kept[i].sql && store->kept[i].sql != sql)
		i++;
	if (store->kept[i].sql != sql) {
		sqlite3_finalize(store->kept[i].statement);
		store->kept[i].statement = NULL;
		store->kept[i].sql = NULL;
		code = sqlite3_prepare_v2(store->db, sql, -1, &store->kept[i].statement, NULL);
		if (code != SQLITE_OK)
			return fail_sqlite(store, code, err);
		store->kept[i].sql = sql;
	}
	*out = store->kept[i].statement;
	sqlite3_reset(*out);
	return 0;
}

static void bind_arguments(sqlite3_stmt *statement, const char *format, va_list ap)
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
	sqlite3_stmt *statement = NULL;
	va_list ap;

	if (prepare_statement(store, sql, &statement, err) < 0)
		return NULL;
	va_start(ap, format);
	bind_arguments(statement, format, ap);
	va_end(ap);
	return statement;
}

int store_step(struct store *store, struct sqlite3_stmt *statement, struct err *err)
{
	int code = sqlite3_step(statement), r = 0;

	if (code == SQLITE_ROW)
		return 1;
	if (code != SQLITE_DONE)
		r = fail_sqlite(store, code, err);
	sqlite3_reset(statement);
	return r;
}

int store_run(struct store *store, struct err *err, const char *sql, const char *format, ...)
{
	sqlite3_stmt *statement = NULL;
	va_list ap;
	int r = prepare_statement(store, sql, &statement, err);

	if (r < 0)
		return r;
	va_start(ap, format);
	bind_arguments(statement, format, ap);
	va_end(ap);
	do {
		r = store_step(store, statement, err);
	} while (r > 0);
	return r;
}

void store_done(struct sqlite3_stmt *statement)
{
	sqlite3_reset(statement);
}

int64_t store_first_number(struct store *store, struct sqlite3_stmt *statement, struct err *err)
{
	int64_t number;
	int r = statement ? store_step(store, statement, err) : -EIO;

	if (r <= 0)
		return r;
	number = sqlite3_column_int64(statement, 0);
	store_done(statement);
	return number;
}

const char *store_text(struct sqlite3_stmt *statement, int column)
{
	const char *text = (const char *)sqlite3_column_text(statement, column);

	return text ? text : "";
}
