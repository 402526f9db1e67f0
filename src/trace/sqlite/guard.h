/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Opens a trace in the SQLite form that anybody may have made. A database can hold more than data:
 * views and generated columns compute when they are read, and damaged pages can form cycles. The
 * guard lets SQLite execute nothing of the file, checks that the expected tables are plain tables,
 * and ends queries that take more work than a file of that size can need.
 */
#ifndef SLUICE_TRACE_SQLITE_GUARD_H
#define SLUICE_TRACE_SQLITE_GUARD_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "trace/facts.h"

struct guard {
	uint64_t steps_left; /* in units of GUARD_STEP operations of SQLite's virtual machine */
	uint64_t bytes_left; /* texts and rows that a file of this size can still hold */
	bool exceeded;
};

/*
 * Opens the database for reading. It must not change meanwhile: journals beside it are ignored, and
 * nothing is locked. *db is set in any case, for sqlite3_errmsg() and sqlite3_close(); guard must
 * outlive it.
 */
int guard_open(struct guard *guard, sqlite3 **db, const char *path, struct err *err);

/* Checks that the table exists, is a plain table, and has the columns of that version. */
int guard_check_table(sqlite3 *db, const char *path, const char *table, const struct fact *fact,
		      int64_t version, struct err *err);

/* Accounts for one row of a fact with texts of that length. False: the file cannot hold it. */
bool guard_take_row(struct guard *guard, size_t text_bytes);

#endif
