/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Opens and migrates the store, and prepares statements.
 */
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/place.h"
#include "base/trusted.h"
#include "store/database.h"
#include "store/store_internal.h"

/* Prepared statements that are kept for reuse; more than all callers together have. */
#define STATEMENTS_MAX 96

struct store {
	struct database *database;
	struct statement kept[STATEMENTS_MAX];
};

static bool is_postgres(const struct store *store)
{
	return store->database->ops->dialect == DIALECT_POSTGRES;
}

int store_execute(struct store *store, const char *sql, struct err *err)
{
	return store->database->ops->execute(store->database, sql, err);
}

int store_begin(struct store *store, struct err *err)
{
	return store->database->ops->begin(store->database, err);
}

int store_begin_shared(struct store *store, struct err *err)
{
	return store->database->ops->begin_shared(store->database, err);
}

int store_end(struct store *store, int commit, struct err *err)
{
	int r = store_execute(store, commit ? "COMMIT" : "ROLLBACK", err);

	if (r < 0 && commit)
		store_execute(store, "ROLLBACK", NULL);
	return r;
}

int store_end_with(struct store *store, int result, struct err *err)
{
	if (result >= 0)
		return store_end(store, 1, err);
	store_end(store, 0, NULL);
	return result;
}

int store_version(struct store *store, int *version, struct err *err)
{
	return store->database->ops->version(store->database, version, err);
}

/* Reads the version in a transaction, because another process may be creating the store. */
static int read_version_consistently(struct store *store, int *version, struct err *err)
{
	int r = store_execute(store, "BEGIN", err);

	if (r < 0)
		return r;
	r = store_version(store, version, err);
	store_end(store, 0, NULL);
	return r;
}

static int fail_later(const struct store *store, int version, struct err *err)
{
	return err_set(err, EPROTO,
		       "%s: made by a later version of Sluice (store version %d, this version "
		       "supports up to %d); update Sluice, or use another %s",
		       store->database->name, version, SCHEMA_VERSION,
		       is_postgres(store) ? "database" : "file");
}

static int migrate_locked(struct store *store, int to, struct err *err)
{
	AUTO_BUF struct buf sql = { 0 };
	int version = 0, r = store_version(store, &version, err);

	if (r >= 0 && version > SCHEMA_VERSION)
		r = fail_later(store, version, err);
	if (r < 0 || version == to)
		return r;
	for (; version < to; version++)
		schema_step(&sql, store->database->ops->dialect, version + 1, true);
	for (; version > to; version--)
		schema_step(&sql, store->database->ops->dialect, version, false);
	r = store_execute(store, buf_text(&sql), err);
	return r < 0 ? r : store->database->ops->set_version(store->database, to, err);
}

int store_migrate(struct store *store, int to, struct err *err)
{
	int r = to < 0 || to > SCHEMA_VERSION
			? err_set(err, EINVAL, "unknown version %d; versions are 0 to %d", to,
				  SCHEMA_VERSION)
			: 0;

	if (r >= 0 && is_postgres(store))
		r = store_execute(store,
				  "DO $$ BEGIN IF current_schema() IS NULL THEN EXECUTE "
				  "'CREATE SCHEMA ' || current_setting('search_path'); END IF; "
				  "END $$",
				  err);
	if (r >= 0)
		r = store_begin(store, err);
	if (r < 0)
		return r;
	/* The version is read again under the lock: others may migrate, too. */
	r = migrate_locked(store, to, err);
	r = store_end_with(store, r, err);
	/* Prepared statements may refer to what is gone. */
	store_forget_statements(store);
	return r;
}

/* Migrates a file. The tables of a server are changed on request only. */
static int check_version(struct store *store, struct err *err)
{
	int version = 0, r = read_version_consistently(store, &version, err);

	if (r < 0 || version == SCHEMA_VERSION)
		return r;
	if (version > SCHEMA_VERSION)
		return fail_later(store, version, err);
	if (!is_postgres(store))
		return store_migrate(store, SCHEMA_VERSION, err);
	if (!version)
		return err_set(err, ENODATA,
			       "%s: there are no tables of Sluice; an administrator creates them "
			       "with 'sluice site init'",
			       store->database->name);
	return err_set(err, EPROTO,
		       "%s: the tables have version %d, but this Sluice needs version %d; an "
		       "administrator changes them with 'sluice site migrate'",
		       store->database->name, version, SCHEMA_VERSION);
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

static int make_file(const char *path, struct err *err)
{
	int r = place_make_parent(path, TRUSTED_DIRECTORY_MODE, err);

	if (r >= 0 && !place_exists(path))
		r = check_directory(path, err);
	if (r >= 0 && !place_exists(path))
		r = create_file(path, err);
	return r;
}

static int connect_to(struct store **out, const char *name, struct err *err)
{
	struct database *database = NULL;
	int r;

	if (database_is_postgres(name)) {
		r = database_open_postgres(&database, name, err);
	} else {
		r = check_trust(name, err);
		if (r >= 0)
			r = database_open_sqlite(&database, name, err);
	}
	if (r < 0)
		return r;
	*out = xcalloc(1, sizeof(**out));
	(*out)->database = database;
	return 0;
}

int store_connect(struct store **store, const char *path, struct err *err)
{
	int r = database_is_postgres(path) ? 0 : make_file(path, err);

	return r < 0 ? r : connect_to(store, path, err);
}

static int open_store(struct store **out, const char *path, struct err *err)
{
	struct store *store = NULL;
	int r = connect_to(&store, path, err);

	if (r >= 0)
		r = check_version(store, err);
	if (r < 0) {
		store_close(store);
		return r;
	}
	*out = store;
	return 0;
}

int store_open(struct store **store, const char *path, struct err *err)
{
	int r = database_is_postgres(path) ? 0 : make_file(path, err);

	return r < 0 ? r : open_store(store, path, err);
}

int store_open_existing(struct store **store, const char *path, struct err *err)
{
	if (!database_is_postgres(path) && !place_exists(path))
		return err_set(err, ENOENT,
			       "%s: the store does not exist yet; 'sluice run' creates it", path);
	return open_store(store, path, err);
}

void store_forget_statements(struct store *store)
{
	for (size_t i = 0; i < STATEMENTS_MAX; i++) {
		if (store->kept[i].prepared)
			store->database->ops->finalize(&store->kept[i]);
		store->kept[i] = (struct statement){ 0 };
	}
}

void store_close(struct store *store)
{
	if (!store)
		return;
	store_forget_statements(store);
	store->database->ops->close(store->database);
	free(store);
}

const char *store_path(const struct store *store)
{
	return store->database->name;
}

enum dialect store_dialect(const struct store *store)
{
	return store->database->ops->dialect;
}

bool store_is_lost(const struct store *store)
{
	return is_postgres(store) && database_is_lost(store->database);
}

int store_reconnect(struct store *store, struct err *err)
{
	store_forget_statements(store);
	return database_reconnect(store->database, err);
}

int store_copy(struct store *store, const char *sql, const void *bytes, size_t n, struct err *err)
{
	return database_copy(store->database, sql, bytes, n, err);
}

int store_wait(struct store *store, int timeout_ms, char **channel, char **text, struct err *err)
{
	return database_wait(store->database, timeout_ms, channel, text, err);
}

static struct statement *prepare_statement(struct store *store, const char *sql, const char *format,
					   struct err *err)
{
	struct statement *kept;
	size_t i = 0;

	/* The last slot is shared by all statements that find no free one. */
	while (i < STATEMENTS_MAX - 1 && store->kept[i].sql && store->kept[i].sql != sql)
		i++;
	kept = &store->kept[i];
	if (kept->sql == sql)
		return kept;
	if (kept->prepared)
		store->database->ops->finalize(kept);
	*kept = (struct statement){ .database = store->database, .sql = sql, .format = format };
	if (store->database->ops->prepare(store->database, kept, err) >= 0)
		return kept;
	*kept = (struct statement){ 0 };
	return NULL;
}

static void read_arguments(struct parameter *parameters, const char *format, va_list ap)
{
	for (; *format; format++) {
		struct parameter *p = parameters++;

		*p = (struct parameter){ .letter = *format };
		if (*format == 'i')
			p->number = va_arg(ap, int64_t);
		else if (*format == 'd')
			p->real = va_arg(ap, double);
		else
			p->text = va_arg(ap, const char *);
	}
}

struct statement *store_query_values(struct store *store, struct err *err, const char *sql,
				     const char *format, const struct parameter *values)
{
	struct statement *statement = prepare_statement(store, sql, format, err);

	if (statement &&
	    store->database->ops->start(statement, values, (int)strlen(format), err) < 0)
		return NULL;
	return statement;
}

static struct statement *start_statement(struct store *store, struct err *err, const char *sql,
					 const char *format, va_list ap)
{
	struct parameter parameters[STORE_PARAMETERS];

	read_arguments(parameters, format, ap);
	return store_query_values(store, err, sql, format, parameters);
}

struct statement *store_query(struct store *store, struct err *err, const char *sql,
			      const char *format, ...)
{
	struct statement *statement;
	va_list ap;

	va_start(ap, format);
	statement = start_statement(store, err, sql, format, ap);
	va_end(ap);
	return statement;
}

int store_step(struct store *store, struct statement *statement, struct err *err)
{
	return store->database->ops->step(statement, err);
}

int store_run(struct store *store, struct err *err, const char *sql, const char *format, ...)
{
	struct err why = { 0 };
	struct statement *statement;
	va_list ap;
	int r;

	va_start(ap, format);
	statement = start_statement(store, &why, sql, format, ap);
	va_end(ap);
	if (!statement) {
		if (err)
			*err = why;
		return -why.code;
	}
	do {
		r = store_step(store, statement, err);
	} while (r > 0);
	return r;
}

void store_done(struct statement *statement)
{
	statement->database->ops->reset(statement);
}

int64_t store_first_number(struct store *store, struct statement *statement, struct err *err)
{
	int64_t number;
	int r = statement ? store_step(store, statement, err) : -EIO;

	if (r <= 0)
		return r;
	number = store_number(statement, 0);
	store_done(statement);
	return number;
}

int store_read_texts(struct store *store, struct statement *statement, char ***texts,
		     struct err *err)
{
	char **list = xcalloc(1, sizeof(*list));
	size_t count = 0;
	int r = statement ? 1 : -EIO;

	while (statement && (r = store_step(store, statement, err)) > 0) {
		list = xrealloc(list, count + 2, sizeof(*list));
		list[count++] = xstrdup(store_text(statement, 0));
		list[count] = NULL;
	}
	*texts = list;
	return r;
}

void store_free_texts(char **texts)
{
	for (size_t i = 0; texts && texts[i]; i++)
		free(texts[i]);
	free(texts);
}

bool store_is_null(struct statement *statement, int column)
{
	return statement->database->ops->is_null(statement, column);
}

int64_t store_number(struct statement *statement, int column)
{
	return statement->database->ops->number(statement, column);
}

double store_real(struct statement *statement, int column)
{
	return statement->database->ops->real(statement, column);
}

const char *store_text(struct statement *statement, int column)
{
	const char *text = statement->database->ops->text(statement, column);

	return text ? text : "";
}

int store_columns(struct statement *statement)
{
	return statement->database->ops->columns(statement);
}

const char *store_column_name(struct statement *statement, int column)
{
	return statement->database->ops->column_name(statement, column);
}
