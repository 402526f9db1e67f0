/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A connection to a database, in one of two dialects. Statements are written once, in the SQL that
 * SQLite and PostgreSQL share: parameters are ?1, ?2 or ?; a conflict names its columns; columns
 * that are reserved words ("user") are quoted; the table is named before a column that `excluded`
 * has, too; integers are no truth values. The driver of PostgreSQL writes parameters as $1 and
 * CROSS JOIN ... ON, by which SQLite is told the order of tables, as JOIN.
 *
 * For the files of src/store only. Functions return -errno:
 *
 *   -ENOTCONN the server cannot be reached   -EACCES  no right    -ENOSPC  no space on disk
 *   -EBUSY    locked by others for too long  -EEXIST  a key exists already
 *   -ENODATA  a table or the database is missing    -EBADMSG  damaged, or invalid data
 * Papers: SIOX-31.
 */
#ifndef SLUICE_STORE_DATABASE_H
#define SLUICE_STORE_DATABASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/schema.h"
#include "store/store_internal.h"

struct err;
struct database;

/* A prepared statement and its current row. */
struct statement {
	struct database *database;
	const char *sql;    /* the caller's literal; its address identifies the statement */
	const char *format; /* one letter per parameter, see store_internal.h */
	void *prepared;	    /* of the driver; NULL: none */
	void *rows;
	int row, count;
	int slot;
};

struct database_ops {
	enum dialect dialect;
	void (*close)(struct database *database);
	/* Runs statements without parameters, separated by semicolons. */
	int (*execute)(struct database *database, const char *sql, struct err *err);
	/* Starts a transaction that excludes others; one that may run beside others of its kind, if
	 * the database permits it. */
	int (*begin)(struct database *database, struct err *err);
	int (*begin_shared)(struct database *database, struct err *err);
	int (*prepare)(struct database *database, struct statement *statement, struct err *err);
	/* Binds parameters, so that step() starts with the first row. */
	int (*start)(struct statement *statement, const struct parameter *parameters, int count,
		     struct err *err);
	int (*step)(struct statement *statement, struct err *err);
	void (*reset)(struct statement *statement);
	void (*finalize)(struct statement *statement);
	bool (*is_null)(struct statement *statement, int column);
	int64_t (*number)(struct statement *statement, int column);
	double (*real)(struct statement *statement, int column);
	const char *(*text)(struct statement *statement, int column);
	int (*columns)(struct statement *statement);
	const char *(*column_name)(struct statement *statement, int column);
	/* Version of the schema; 0: no tables yet. -EBADMSG: tables of another application. */
	int (*version)(struct database *database, int *version, struct err *err);
	int (*set_version)(struct database *database, int version, struct err *err);
};

struct database {
	const struct database_ops *ops;
	char *name; /* path, or connection string without password, for messages */
};

/* Does the name mean PostgreSQL: "postgresql://...", or KEY=VALUE...? */
bool database_is_postgres(const char *name);

/* Opens a file that exists. */
int database_open_sqlite(struct database **database, const char *path, struct err *err);

/* Fails with -ENOSYS if libpq is missing. */
int database_open_postgres(struct database **database, const char *conninfo, struct err *err);

/*
 * Of PostgreSQL only. Loads rows: sql is COPY ... FROM STDIN (FORMAT binary), bytes are complete
 * tuples without header and trailer.
 */
int database_copy(struct database *database, const char *sql, const void *bytes, size_t n,
		  struct err *err);

/* Is the connection of PostgreSQL broken? */
bool database_is_lost(const struct database *database);
/* Connects again; prepared statements must be finalized before. */
int database_reconnect(struct database *database, struct err *err);

/* Waits up to timeout_ms for a notification. Returns 1 and its texts, which the caller frees; 0. */
int database_wait(struct database *database, int timeout_ms, char **channel, char **text,
		  struct err *err);

#endif
