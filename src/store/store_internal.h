/* SPDX-License-Identifier: BSD-3-Clause
 *
 * SQL statements on a store, for the files of src/store and src/site only. store/database.h says
 * which SQL both dialects accept.
 */
#ifndef SLUICE_STORE_STORE_INTERNAL_H
#define SLUICE_STORE_STORE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/schema.h"
#include "store/store.h"

struct statement;

/*
 * Prepares a statement, binds its arguments and starts it. The format has one letter per argument,
 * at most 32: 'i' int64_t, 'd' double (NAN is stored as NULL), 't' const char * (NULL is stored as
 * NULL). The statement is kept for reuse by the address of sql, which must live as long as the
 * store. Returns NULL on failure.
 */
struct statement *store_query(struct store *store, struct err *err, const char *sql,
			      const char *format, ...);

/* Steps to the next row. Returns 1, or 0 after the last row or -errno with the statement reset. */
int store_step(struct store *store, struct statement *statement, struct err *err);

/* Resets a statement before its last row, because an active statement blocks writers. */
void store_done(struct statement *statement);

/* A parameter by its letter: 'i' number, 'd' real, 't' text, 'n' NULL. */
struct parameter {
	char letter;
	int64_t number;
	double real;	  /* NAN is stored as NULL */
	const char *text; /* NULL is stored as NULL */
};

#define STORE_PARAMETERS 32

/* Like store_query(), with parameters that fit the format or are NULL. */
struct statement *store_query_values(struct store *store, struct err *err, const char *sql,
				     const char *format, const struct parameter *values);

/* Runs a statement and ignores its rows. */
int store_run(struct store *store, struct err *err, const char *sql, const char *format, ...);

/*
 * The integer in the first column of the first row, 0 if there is no row, or -errno. Resets the
 * statement, which may be NULL after a failed store_query().
 */
int64_t store_first_number(struct store *store, struct statement *statement, struct err *err);

/*
 * Reads the first column of all rows into a list that ends with NULL; store_free_texts() frees it.
 * The statement may be NULL after a failed store_query(). *texts is set in any case.
 */
int store_read_texts(struct store *store, struct statement *statement, char ***texts,
		     struct err *err);
void store_free_texts(char **texts);

/* The value in a column; 0 or "" if it is NULL. Texts are valid until the next step. */
bool store_is_null(struct statement *statement, int column);
int64_t store_number(struct statement *statement, int column);
double store_real(struct statement *statement, int column);
const char *store_text(struct statement *statement, int column);

/* Number and names of the columns of a statement that has a row. */
int store_columns(struct statement *statement);
const char *store_column_name(struct statement *statement, int column);

/* Runs statements without arguments, separated by semicolons. */
int store_execute(struct store *store, const char *sql, struct err *err);

/* Ends a transaction: commits if result >= 0, else rolls back and returns result. */
int store_end_with(struct store *store, int result, struct err *err);

/* Begins a transaction that does not exclude others, where the database permits it. */
int store_begin_shared(struct store *store, struct err *err);

enum dialect store_dialect(const struct store *store);

/* Releases all prepared statements. */
void store_forget_statements(struct store *store);

/* Is the connection to the server lost? Connects again; a transaction in progress is gone. */
bool store_is_lost(const struct store *store);
int store_reconnect(struct store *store, struct err *err);

/* PostgreSQL only; see database_copy() and database_wait(). */
int store_copy(struct store *store, const char *sql, const void *bytes, size_t n, struct err *err);
int store_wait(struct store *store, int timeout_ms, char **channel, char **text, struct err *err);

#endif
