/* SPDX-License-Identifier: BSD-3-Clause
 *
 * SQL statements on a store, for the files of src/store only.
 */
#ifndef SLUICE_STORE_STORE_INTERNAL_H
#define SLUICE_STORE_STORE_INTERNAL_H

#include <stdint.h>

#include "store/store.h"

struct sqlite3_stmt;

/*
 * Prepares a statement and binds its arguments. The format has one letter per argument: 'i'
 * int64_t, 'd' double (NAN is stored as NULL), 't' const char * (NULL is stored as NULL). The
 * statement is kept for reuse by the address of sql, which must be a literal. Returns NULL on
 * failure.
 */
struct sqlite3_stmt *store_query(struct store *store, struct err *err, const char *sql,
				 const char *format, ...);

/* Steps to the next row. Returns 1, or 0 after the last row or -errno with the statement reset. */
int store_step(struct store *store, struct sqlite3_stmt *statement, struct err *err);

/* Resets a statement before its last row, because an active statement blocks writers. */
void store_done(struct sqlite3_stmt *statement);

/* Runs a statement and ignores its rows. */
int store_run(struct store *store, struct err *err, const char *sql, const char *format, ...);

/*
 * The integer in the first column of the first row, 0 if there is no row, or -errno. Resets the
 * statement, which may be NULL after a failed store_query().
 */
int64_t store_first_number(struct store *store, struct sqlite3_stmt *statement, struct err *err);

/* The text in a column, "" if it is NULL. Valid until the next step. */
const char *store_text(struct sqlite3_stmt *statement, int column);

/* Ends a transaction: commits if result >= 0, else rolls back and returns result. */
int store_end_with(struct store *store, int result, struct err *err);

#endif
