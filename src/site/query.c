/* SPDX-License-Identifier: BSD-3-Clause */
#include "site/query.h"

#include <errno.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "site/site_internal.h"

#define FETCH "1000"

struct query {
	query_row *row;
	void *arg;
	const char **names, **values;
};

/* Passes the current row on. Returns 1 to stop, or -errno. */
static int pass_row(struct query *q, struct statement *rows, struct err *err)
{
	int count = store_columns(rows);

	if (count > QUERY_COLUMNS_MAX)
		return err_set(err, E2BIG, "the result has more than %d columns",
			       QUERY_COLUMNS_MAX);
	for (int i = 0; i < count; i++) {
		q->names[i] = store_column_name(rows, i);
		q->values[i] = store_is_null(rows, i) ? NULL : store_text(rows, i);
	}
	return q->row(q->arg, q->names, q->values, (size_t)count) != 0;
}

/* Passes the rows of a statement on. Returns their number, 0 if row() has stopped, or -errno. */
static int pass_rows(struct site_db *site, struct query *q, struct statement *rows, struct err *err)
{
	int r, count = 0;

	while ((r = store_step(site->store, rows, err)) > 0) {
		r = pass_row(q, rows, err);
		count++;
		if (r) {
			store_done(rows);
			return r < 0 ? r : 0;
		}
	}
	return r < 0 ? r : count;
}

static int query_postgres(struct site_db *site, const char *sql, struct query *q, struct err *err)
{
	AUTO_FREE char *declare = xprintf("DECLARE result CURSOR FOR %s", sql);
	struct err why = { 0 };
	struct statement *rows = store_query(site->store, &why, declare, "");
	int r = rows ? 1 : -why.code;

	if (!rows && err)
		*err = why;
	if (rows)
		store_done(rows);
	while (r > 0) {
		rows = store_query(site->store, err, "FETCH " FETCH " FROM result", "");
		r = rows ? pass_rows(site, q, rows, err) : -EIO;
	}
	return r;
}

static int query_sqlite(struct site_db *site, const char *sql, struct query *q, struct err *err)
{
	AUTO_FREE char *copy = xstrdup(sql);
	struct err why = { 0 };
	struct statement *rows;
	int r = store_execute(site->store, "PRAGMA query_only = ON", err);

	if (r < 0)
		return r;
	rows = store_query(site->store, &why, copy, "");
	r = rows ? pass_rows(site, q, rows, err) : -why.code;
	if (!rows && err)
		*err = why;
	store_execute(site->store, "PRAGMA query_only = OFF", NULL);
	return r;
}

int site_query(struct site_db *site, const char *sql, query_row *row, void *arg, struct err *err)
{
	struct query q = { row, arg, xcalloc(QUERY_COLUMNS_MAX, sizeof(char *)),
			   xcalloc(QUERY_COLUMNS_MAX, sizeof(char *)) };
	int r = store_execute(site->store, site_is_postgres(site) ? "BEGIN READ ONLY" : "BEGIN",
			      err);

	if (r >= 0) {
		r = site_is_postgres(site) ? query_postgres(site, sql, &q, err)
					   : query_sqlite(site, sql, &q, err);
		store_end(site->store, 0, NULL);
		/* The text of the statement does not outlive this function. */
		store_forget_statements(site->store);
	}
	free(q.names);
	free(q.values);
	return r < 0 ? r : 0;
}
