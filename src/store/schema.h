/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The one schema of all databases of Sluice: the store of a user (SQLite) and the database of a
 * site (PostgreSQL, or an SQLite file). Each table and each column is one row of schema_tables[],
 * with the version that added it. The statements that create and change tables are generated from
 * these rows for either dialect, upward and downward; docs/reference/site.md is checked against
 * them.
 *
 * To change the schema, add a column or a table with the next SCHEMA_VERSION as its `since`. Rows
 * are never removed. A column that becomes part of the key lets the table be rebuilt.
 */
#ifndef SLUICE_STORE_SCHEMA_H
#define SLUICE_STORE_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>

struct buf;

#define SCHEMA_VERSION 12

enum dialect { DIALECT_SQLITE, DIALECT_POSTGRES };

enum column_type {
	COLUMN_ID,  /* 64 bits, the primary key, given by the database */
	COLUMN_INT, /* 64 bits; SQLite stores all integers like this */
	COLUMN_INT32,
	COLUMN_INT16,
	COLUMN_REAL, /* 64 bits */
	COLUMN_TEXT,
	COLUMN_OWNER, /* text: a user; in PostgreSQL by default the one who inserts the row */
};

struct schema_column {
	const char *name;
	enum column_type type;
	bool nullable;
	int since;
	const char *fallback; /* SQL; required for a later column that is not nullable */
	const char *help;
};

/* Who may read the rows of a table in a site's database. Nodes may write all of them. */
enum schema_access {
	ACCESS_ALL,	  /* every user of the site */
	ACCESS_OWNER,	  /* the user in the column of type COLUMN_OWNER, and administrators */
	ACCESS_CONCERNED, /* the same, but only nodes add and change rows */
	ACCESS_RUN,	  /* those who may read the row of `run` that the column run refers to */
	ACCESS_STUDY,	  /* the same with `study` */
	ACCESS_ADMIN,	  /* administrators */
};

struct schema_table {
	const char *name;
	int since;
	const char *help;
	const struct schema_column *columns;
	size_t count;
	const char *key;    /* columns of the primary key; NULL: the column of type COLUMN_ID */
	const char *unique; /* columns that are unique together; NULL: none */
	const char *index;  /* columns of a further index; NULL: none */
	enum schema_access access;
	/* Rows come by payloads of nodes (site/rows.h); those of runs begin with the run. */
	bool is_sent;
	/* In PostgreSQL partitioned by this column, in ranges of SCHEMA_PARTITION; NULL: not. */
	const char *partitioned;
};

/* A partition covers a day, in nanoseconds. */
#define SCHEMA_PARTITION_NS (INT64_C(86400) * 1000000000)

extern const struct schema_table schema_tables[];
extern const size_t schema_table_count;

/* The table of that name, or NULL. */
const struct schema_table *schema_find(const char *name);

/* Number of the column, or -1. */
int schema_column(const struct schema_table *table, const char *name);

/*
 * Appends the statements that change a database from version - 1 to version, or, if !up, back. What
 * the earlier version cannot hold is dropped.
 */
void schema_step(struct buf *sql, enum dialect dialect, int version, bool up);

/* Appends "name", quoted, as both dialects accept it. */
void schema_put_name(struct buf *sql, const char *name);

#endif
