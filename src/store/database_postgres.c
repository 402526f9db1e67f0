/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The driver of PostgreSQL, version 15 or later. Tables are in the schema "sluice", or in that of
 * the search_path that the connection string sets. A result is received as a whole.
 * Papers: SIOX-33.
 */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/escape.h"
#include "base/mem.h"
#include "base/number.h"
#include "store/database.h"
#include "store/libpq.h"

bool database_is_postgres(const char *name)
{
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz_");

	return !strncmp(name, "postgresql://", 13) || !strncmp(name, "postgres://", 11) ||
	       (n && name[n] == '=');
}

#ifndef SLUICE_LIBPQ

static int fail_unsupported(struct err *err)
{
	return err_set(err, ENOSYS,
		       "this Sluice was built without libpq and cannot use PostgreSQL; install "
		       "libpq-dev and build it again, or name an SQLite file");
}

int database_open_postgres(struct database **database, const char *conninfo, struct err *err)
{
	(void)database, (void)conninfo;
	return fail_unsupported(err);
}

int database_copy(struct database *database, const char *sql, const void *bytes, size_t n,
		  struct err *err)
{
	(void)database, (void)sql, (void)bytes, (void)n;
	return fail_unsupported(err);
}

bool database_is_lost(const struct database *database)
{
	(void)database;
	return false;
}

int database_reconnect(struct database *database, struct err *err)
{
	(void)database, (void)err;
	return 0;
}

int database_wait(struct database *database, int timeout_ms, char **channel, char **text,
		  struct err *err)
{
	(void)database, (void)timeout_ms, (void)channel, (void)text;
	return fail_unsupported(err);
}

#else

#define SERVER_MIN 150000 /* views with the rights of their reader */
#define SCHEMA_DEFAULT "sluice"
/* A transaction that reads before it writes excludes others, and those that only add rows; any
 * constant will do. */
#define LOCK_NUMBER "8317427301"

/* Types of parameters, from pg_type: bigint, double precision, text. */
enum { OID_INT8 = 20, OID_FLOAT8 = 701, OID_TEXT = 25 };

struct postgres {
	struct database base;
	const struct libpq *pq;
	PGconn *connection;
	int next_slot; /* number of the next prepared statement */
};

static struct postgres *postgres_of(const struct database *database)
{
	return (struct postgres *)(uintptr_t)database;
}

/* The message of the server without its severity and line break. */
static void trim_message(char *out, size_t cap, const char *message)
{
	size_t n;

	snprintf(out, cap, "%s", message ? message : "");
	n = strlen(out);
	while (n && isspace((unsigned char)out[n - 1]))
		out[--n] = '\0';
	for (char *c = out; *c; c++)
		if (*c == '\n')
			*c = ' ';
}

/* SQLSTATE, by its class of two letters or as a whole. */
static int errno_of_state(const char *state)
{
	static const struct {
		const char *prefix;
		int code;
	} states[] = {
		{ "08", ENOTCONN },  { "57P0", ENOTCONN }, { "28", EACCES },
		{ "42501", EACCES }, { "53100", ENOSPC },  { "53", EBUSY },
		{ "40", EBUSY },     { "55", EBUSY },	   { "57014", EINTR },
		{ "23", EEXIST },    { "42P01", ENODATA }, { "3D", ENODATA },
		{ "3F", ENODATA },   { "22", EBADMSG },	   { "25006", EROFS },
	};

	for (size_t i = 0; state && i < sizeof(states) / sizeof(states[0]); i++)
		if (!strncmp(state, states[i].prefix, strlen(states[i].prefix)))
			return states[i].code;
	return EIO;
}

static const char *advice_of(int code)
{
	switch (code) {
	case ENOTCONN:
		return "; is the server running? Check the setting site.database";
	case EACCES:
		return "; ask an administrator to run 'sluice site grant' for your user";
	case ENODATA:
		return "; an administrator creates the tables with 'sluice site init'";
	case ENOSPC:
		return "; free space on the disk of the server";
	default:
		return "";
	}
}

static int fail_postgres(const struct database *database, const PGresult *result, struct err *err)
{
	const struct postgres *p = postgres_of(database);
	const char *state = result ? p->pq->resultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
	const char *primary =
		result ? p->pq->resultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : NULL;
	char message[300];
	int code = errno_of_state(state);

	if (p->pq->status(p->connection) != CONNECTION_OK)
		code = ENOTCONN;
	trim_message(message, sizeof(message),
		     primary ? primary : p->pq->errorMessage(p->connection));
	return err_set(err, code, "%s: %s%s", database->name, message, advice_of(code));
}

static void close_postgres(struct database *database)
{
	struct postgres *p = postgres_of(database);

	p->pq->finish(p->connection);
	free(database->name);
	free(p);
}

static bool is_good(ExecStatusType status)
{
	return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK ||
	       status == PGRES_EMPTY_QUERY;
}

static int execute(struct database *database, const char *sql, struct err *err)
{
	struct postgres *p = postgres_of(database);
	PGresult *result = p->pq->exec(p->connection, sql);
	int r = is_good(p->pq->resultStatus(result)) ? 0 : fail_postgres(database, result, err);

	p->pq->clear(result);
	return r;
}

static int begin(struct database *database, struct err *err)
{
	int r = execute(database, "BEGIN", err);

	return r < 0 ? r : execute(database, "SELECT pg_advisory_xact_lock(" LOCK_NUMBER ")", err);
}

static int begin_shared(struct database *database, struct err *err)
{
	int r = execute(database, "BEGIN", err);

	return r < 0 ? r
		     : execute(database, "SELECT pg_advisory_xact_lock_shared(" LOCK_NUMBER ")",
			       err);
}

/* Writes ?, ?1 as $1, and CROSS JOIN as JOIN. Quoted text stays as it is. */
static void translate(struct buf *out, const char *sql)
{
	int next = 0;
	char quote = '\0';

	for (; *sql; sql++) {
		if (quote || *sql == '\'' || *sql == '"') {
			quote = quote == *sql ? '\0' : quote ? quote : *sql;
			buf_putc(out, *sql);
		} else if (*sql == '?') {
			buf_putc(out, '$');
			if (!isdigit((unsigned char)sql[1]))
				buf_printf(out, "%d", ++next);
		} else if (!strncmp(sql, "CROSS JOIN ", 11)) {
			sql += 5;
		} else {
			buf_putc(out, *sql);
		}
	}
}

static Oid oid_of(char letter)
{
	return letter == 'i' ? OID_INT8 : letter == 'd' ? OID_FLOAT8 : OID_TEXT;
}

static int prepare(struct database *database, struct statement *statement, struct err *err)
{
	struct postgres *p = postgres_of(database);
	AUTO_BUF struct buf sql = { 0 };
	Oid types[STORE_PARAMETERS];
	int count = (int)strlen(statement->format), r = 0;
	char name[16];
	PGresult *result;

	for (int i = 0; i < count; i++)
		types[i] = oid_of(statement->format[i]);
	translate(&sql, statement->sql);
	statement->slot = p->next_slot++;
	snprintf(name, sizeof(name), "s%d", statement->slot);
	result = p->pq->prepare(p->connection, name, buf_text(&sql), count, types);
	if (is_good(p->pq->resultStatus(result)))
		statement->prepared = statement;
	else
		r = fail_postgres(database, result, err);
	p->pq->clear(result);
	return r;
}

static void reset(struct statement *statement)
{
	if (statement->rows)
		postgres_of(statement->database)->pq->clear(statement->rows);
	statement->rows = NULL;
}

/* Room for parameters as text. Texts that are not UTF-8 are escaped, because the server refuses
 * them. */
struct arguments {
	const char *values[STORE_PARAMETERS];
	char numbers[STORE_PARAMETERS][NUMBER_TEXT_MAX];
	struct buf escaped[STORE_PARAMETERS];
};

static const char *put_text(struct buf *escaped, const char *text)
{
	uint32_t code;
	size_t n;

	for (const char *at = text; at && *at; at += n) {
		n = escape_decode(at, &code);
		if (!n) {
			escape_text(escaped, text, "");
			return buf_text(escaped);
		}
	}
	return text;
}

static void put_argument(struct arguments *to, int i, const struct parameter *from)
{
	to->values[i] = to->numbers[i];
	if (from->letter == 'n')
		to->values[i] = NULL;
	else if (from->letter == 'i')
		snprintf(to->numbers[i], NUMBER_TEXT_MAX, "%lld", (long long)from->number);
	else if (from->letter == 'd' && isnan(from->real))
		to->values[i] = NULL;
	else if (from->letter == 'd')
		number_format(from->real, to->numbers[i]);
	else
		to->values[i] = put_text(&to->escaped[i], from->text);
}

static int start(struct statement *statement, const struct parameter *parameters, int count,
		 struct err *err)
{
	struct postgres *p = postgres_of(statement->database);
	struct arguments arguments;
	PGresult *result;
	char name[16];

	reset(statement);
	memset(arguments.escaped, 0, sizeof(arguments.escaped));
	for (int i = 0; i < count; i++)
		put_argument(&arguments, i, &parameters[i]);
	snprintf(name, sizeof(name), "s%d", statement->slot);
	result = p->pq->execPrepared(p->connection, name, count, arguments.values, NULL, NULL, 0);
	for (int i = 0; i < count; i++)
		buf_release(&arguments.escaped[i]);
	if (!is_good(p->pq->resultStatus(result))) {
		int r = fail_postgres(statement->database, result, err);

		p->pq->clear(result);
		return r;
	}
	statement->rows = result;
	statement->row = -1;
	statement->count = p->pq->ntuples(result);
	return 0;
}

static int step(struct statement *statement, struct err *err)
{
	(void)err;
	if (++statement->row < statement->count)
		return 1;
	reset(statement);
	return 0;
}

static void finalize(struct statement *statement)
{
	reset(statement);
	statement->prepared = NULL;
}

static const char *text(struct statement *statement, int column)
{
	return postgres_of(statement->database)
		->pq->getvalue(statement->rows, statement->row, column);
}

static bool is_null(struct statement *statement, int column)
{
	return postgres_of(statement->database)
		->pq->getisnull(statement->rows, statement->row, column);
}

static int64_t number(struct statement *statement, int column)
{
	const char *value = text(statement, column);

	/* Sums of bigint are of type numeric; truth values are t and f. */
	return *value == 't' ? 1 : strtoll(value, NULL, 10);
}

static double real(struct statement *statement, int column)
{
	const char *value = text(statement, column);
	double out = 0;

	number_parse(value, strlen(value), &out);
	return out;
}

static int columns(struct statement *statement)
{
	return postgres_of(statement->database)->pq->nfields(statement->rows);
}

static const char *column_name(struct statement *statement, int column)
{
	return postgres_of(statement->database)->pq->fname(statement->rows, column);
}

/* Runs a query and returns the integer of its first row, or -1 if there is no row. */
static int query_number(struct database *database, const char *sql, int64_t *out, struct err *err)
{
	struct postgres *p = postgres_of(database);
	PGresult *result = p->pq->exec(p->connection, sql);
	int r = is_good(p->pq->resultStatus(result)) ? 0 : fail_postgres(database, result, err);

	if (!r)
		*out = p->pq->ntuples(result) ? strtoll(p->pq->getvalue(result, 0, 0), NULL, 10)
					      : -1;
	p->pq->clear(result);
	return r;
}

static int read_version(struct database *database, int *version, struct err *err)
{
	int64_t exists = 0, value = 0;
	int r = query_number(database,
			     "SELECT count(*) FROM pg_tables WHERE tablename = 'schema_version' "
			     "AND schemaname = current_schema()",
			     &exists, err);

	if (!r && exists)
		r = query_number(database, "SELECT version FROM schema_version", &value, err);
	if (!r)
		*version = (int)value;
	return r;
}

static int set_version(struct database *database, int version, struct err *err)
{
	AUTO_FREE char *sql = xprintf("CREATE TABLE IF NOT EXISTS schema_version (version INTEGER "
				      "NOT NULL); DELETE FROM schema_version; "
				      "INSERT INTO schema_version VALUES (%d)",
				      version);

	return execute(database, version ? sql : "DROP TABLE schema_version", err);
}

static const struct database_ops postgres_ops = {
	.dialect = DIALECT_POSTGRES,
	.close = close_postgres,
	.execute = execute,
	.begin = begin,
	.begin_shared = begin_shared,
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

static int copy_result(struct database *database, struct err *err)
{
	struct postgres *p = postgres_of(database);
	PGresult *result;
	int r = 0;

	while ((result = p->pq->getResult(p->connection))) {
		if (!r && !is_good(p->pq->resultStatus(result)))
			r = fail_postgres(database, result, err);
		p->pq->clear(result);
	}
	return r;
}

int database_copy(struct database *database, const char *sql, const void *bytes, size_t n,
		  struct err *err)
{
	/* Signature, flags and the length of an empty header extension. */
	static const char header[] = "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0";
	static const char trailer[] = { '\377', '\377' };
	struct postgres *p = postgres_of(database);
	PGresult *result = p->pq->exec(p->connection, sql);
	bool is_started = p->pq->resultStatus(result) == PGRES_COPY_IN;
	int r = is_started ? 0 : fail_postgres(database, result, err);

	p->pq->clear(result);
	if (r < 0)
		return r;
	if (p->pq->putCopyData(p->connection, header, 19) != 1 ||
	    p->pq->putCopyData(p->connection, bytes, (int)n) != 1 ||
	    p->pq->putCopyData(p->connection, trailer, 2) != 1 ||
	    p->pq->putCopyEnd(p->connection, NULL) != 1)
		r = fail_postgres(database, NULL, err);
	return r < 0 ? (copy_result(database, NULL), r) : copy_result(database, err);
}

bool database_is_lost(const struct database *database)
{
	const struct postgres *p = postgres_of(database);

	return database->ops == &postgres_ops && p->pq->status(p->connection) != CONNECTION_OK;
}

static void ignore_notice(void *arg, const char *message)
{
	(void)arg, (void)message;
}

/* What a refused connection means; the server reports it as text only. */
static int errno_of_refusal(const char *message)
{
	if (strstr(message, "role \"") || strstr(message, "authentication") ||
	    strstr(message, "no pg_hba.conf entry") || strstr(message, "permission denied"))
		return EACCES;
	if (strstr(message, "database \"") && strstr(message, "does not exist"))
		return ENODATA;
	return ENOTCONN;
}

static int check_connection(struct database *database, struct err *err)
{
	struct postgres *p = postgres_of(database);
	char message[300];
	int code, version;

	if (p->pq->status(p->connection) != CONNECTION_OK) {
		trim_message(message, sizeof(message), p->pq->errorMessage(p->connection));
		code = errno_of_refusal(message);
		return err_set(err, code, "%s%s", message,
			       code == ENODATA ? "; create it with 'createdb'" : advice_of(code));
	}
	version = p->pq->serverVersion(p->connection);
	if (version < SERVER_MIN)
		return err_set(err, EPROTO,
			       "%s: the server is PostgreSQL %d; version %d or later is required",
			       database->name, version / 10000, SERVER_MIN / 10000);
	p->pq->setNoticeProcessor(p->connection, ignore_notice, NULL);
	return execute(database,
		       "SELECT set_config('search_path', '" SCHEMA_DEFAULT "', false) WHERE "
		       "current_setting('search_path') = '\"$user\", public';"
		       "SET client_encoding = 'UTF8'; SET bytea_output = 'hex'",
		       err);
}

int database_reconnect(struct database *database, struct err *err)
{
	struct postgres *p = postgres_of(database);

	if (database->ops != &postgres_ops)
		return 0;
	p->pq->reset(p->connection);
	return check_connection(database, err);
}

int database_open_postgres(struct database **database, const char *conninfo, struct err *err)
{
	const struct libpq *pq = libpq_load(err);
	struct postgres *p;
	int r;

	if (!pq)
		return -ENOSYS;
	p = xcalloc(1, sizeof(*p));
	p->pq = pq;
	p->connection = pq->connectdb(conninfo);
	p->base.ops = &postgres_ops;
	/* The connection string may contain a password. */
	p->base.name = xprintf("PostgreSQL database \"%s\" on %s",
			       pq->db(p->connection) ? pq->db(p->connection) : "",
			       pq->host(p->connection) ? pq->host(p->connection) : "?");
	r = check_connection(&p->base, err);
	if (r < 0) {
		close_postgres(&p->base);
		return r;
	}
	*database = &p->base;
	return 0;
}

int database_wait(struct database *database, int timeout_ms, char **channel, char **out,
		  struct err *err)
{
	struct postgres *p = postgres_of(database);
	struct pollfd poll_fd = { p->pq->socket(p->connection), POLLIN, 0 };
	PGnotify *notice;

	if (!p->pq->consumeInput(p->connection))
		return fail_postgres(database, NULL, err);
	notice = p->pq->notifies(p->connection);
	if (!notice && poll(&poll_fd, 1, timeout_ms) > 0) {
		if (!p->pq->consumeInput(p->connection))
			return fail_postgres(database, NULL, err);
		notice = p->pq->notifies(p->connection);
	}
	if (!notice)
		return 0;
	*channel = xstrdup(notice->relname);
	*out = xstrdup(notice->extra);
	p->pq->freemem(notice);
	return 1;
}

#endif
