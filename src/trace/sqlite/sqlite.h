/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The SQLite form of a trace: declarations that its writer and reader share. The database has one
 * table per kind of fact, with a plural name if it may have several rows, and one table of
 * activities. Columns are the fields of trace/facts.h. Unsigned 64-bit values keep their bits, so
 * values from 2^63 on appear negative. An absent field is NULL.
 */
#ifndef SLUICE_TRACE_SQLITE_SQLITE_H
#define SLUICE_TRACE_SQLITE_SQLITE_H

#include "base/buf.h"
#include "trace/facts.h"

#define SQLITE_APPLICATION_ID 0x536c7563    /* "Sluc" */
#define SQLITE_SCHEMA_VERSION FACTS_VERSION /* PRAGMA user_version, and in table schema_version */
#define SQLITE_ORDER "start_ns, process, id"

struct sqlite_table {
	const char *name;
	const struct fact *fact;
	int since; /* first schema version that has the table */
};

/* In the order in which the reader loads them; ends with a NULL name. */
extern const struct sqlite_table sqlite_tables[];

/* The functions of the reader, for the table in sqlite.c. */
int sqlite_open(void **reader, const char *path, const struct trace_filter *filter,
		struct trace_head *head, struct err *err);
ssize_t sqlite_next(void *reader, struct activity *batch, size_t cap, struct err *err);
void sqlite_close(void *reader);

#endif
