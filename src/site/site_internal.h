/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The state of an open site, for the files of src/site only.
 */
#ifndef SLUICE_SITE_SITE_INTERNAL_H
#define SLUICE_SITE_SITE_INTERNAL_H

#include "base/buf.h"
#include "site/rows.h"
#include "site/site.h"
#include "store/store_internal.h"

#define SITE_DAYS 64

struct site_db {
	struct store *store;
	bool copies; /* rows are added by COPY, which PostgreSQL refuses to users under policies */
	char **inserts; /* by table: INSERT of SQLite, COPY of PostgreSQL; NULL: not used yet */
	char **formats; /* by table: types of the parameters of the INSERT */
	/* The run that rows are being added to; 0: unknown or forgotten, its rows are skipped. */
	char uuid[ROWS_UUID_DIGITS + 1];
	int64_t run;
	int64_t days[SITE_DAYS]; /* whose partitions are known to exist */
	size_t day_count;
	struct buf tuples; /* of COPY */
};

/* Time of day in ns. */
int64_t site_now_ns(void);

bool site_is_postgres(const struct site_db *site);

/* Adds the rows of a checked payload to the tables, within a transaction. */
int site_insert(struct site_db *site, const void *payload, size_t bytes, struct err *err);

/* Ends a transaction like store_end_with(), and forgets what depends on it if it is undone. */
int site_end(struct site_db *site, int result, struct err *err);

/* The id of a run, 0 if there is none, or -errno. */
int64_t site_find_run(struct site_db *site, const char *uuid, struct err *err);

/*
 * Apply a row of `anomaly` and of `node_load` that a node sends, within a transaction; see
 * site/report.h for what they mean.
 */
int anomaly_insert(struct site_db *site, const struct row_value *values, struct err *err);
int load_insert(struct site_db *site, const struct row_value *values, struct err *err);

/* Deletes the rows of a run in all tables, within a transaction. */
int site_delete_run(struct site_db *site, int64_t run, struct err *err);

#endif
