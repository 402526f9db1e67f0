/* SPDX-License-Identifier: BSD-3-Clause */
#include "store/elements.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "store/store_internal.h"

#define ELEMENT_COLUMNS                                                                      \
	"platform, operation, placement, cache, nodes, cores, senders, receivers, writers, " \
	"bytes, round, repetition, seconds, time"

void elements_add(struct elements *elements, const struct element *row)
{
	elements->rows = xgrow(elements->rows, &elements->cap, elements->count + 1, sizeof(*row));
	elements->rows[elements->count++] = *row;
}

void elements_release(struct elements *elements)
{
	free(elements->rows);
	*elements = (struct elements){ 0 };
}

static int save_row(struct store *store, const struct element *row, struct err *err)
{
	return store_run(store, err,
			 "INSERT INTO element (" ELEMENT_COLUMNS ") VALUES "
			 "(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14) "
			 "ON CONFLICT (platform, operation, placement, cache, nodes, cores, "
			 "senders, receivers, writers, bytes, round, repetition) DO UPDATE SET "
			 "seconds = excluded.seconds, time = excluded.time",
			 "ttttddddddiidi", row->platform, row->operation, row->placement,
			 row->cache, row->nodes, row->cores, row->senders, row->receivers,
			 row->writers, row->bytes, row->round, row->repetition, row->seconds,
			 row->time_ns);
}

int elements_save(struct store *store, const struct element *rows, size_t count, struct err *err)
{
	int r = store_begin(store, err);

	if (r < 0)
		return r;
	for (size_t i = 0; r >= 0 && i < count; i++)
		r = save_row(store, &rows[i], err);
	return store_end_with(store, r, err);
}

/* Truncates texts that do not fit, because other programs can change the file. */
static void copy_text(char *to, size_t cap, struct statement *statement, int column)
{
	snprintf(to, cap, "%s", store_text(statement, column));
}

static void read_row(struct element *row, struct statement *statement)
{
	double *const numbers[] = { &row->nodes,     &row->cores,   &row->senders,
				    &row->receivers, &row->writers, &row->bytes };
	int column = 4;

	copy_text(row->platform, sizeof(row->platform), statement, 0);
	copy_text(row->operation, sizeof(row->operation), statement, 1);
	copy_text(row->placement, sizeof(row->placement), statement, 2);
	copy_text(row->cache, sizeof(row->cache), statement, 3);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		*numbers[i] = store_real(statement, column++);
	row->round = store_number(statement, column++);
	row->repetition = store_number(statement, column++);
	row->seconds = store_real(statement, column++);
	row->time_ns = store_number(statement, column);
}

int elements_load(struct store *store, const char *platform, const char *operation,
		  struct elements *out, struct err *err)
{
	size_t before = out->count;
	struct statement *statement =
		store_query(store, err,
			    "SELECT " ELEMENT_COLUMNS " FROM element WHERE platform = ?1 "
			    "AND (?2 IS NULL OR operation = ?2) ORDER BY id",
			    "tt", platform, operation);
	int r = statement ? 1 : -EIO;

	while (r > 0) {
		r = store_step(store, statement, err);
		if (r > 0) {
			struct element row = { 0 };

			read_row(&row, statement);
			elements_add(out, &row);
		}
	}
	if (r < 0)
		out->count = before;
	return r;
}

int elements_platforms(struct store *store, elements_seen seen, void *arg, struct err *err)
{
	struct statement *statement = store_query(store, err,
						  "SELECT platform, count(*) FROM element "
						  "GROUP BY platform ORDER BY platform",
						  "");
	int r = statement ? 1 : -EIO;

	while (r > 0) {
		r = store_step(store, statement, err);
		if (r > 0 &&
		    seen(arg, store_text(statement, 0), (uint64_t)store_number(statement, 1))) {
			store_done(statement);
			return 0;
		}
	}
	return r;
}

int elements_forget(struct store *store, const char *platform, struct err *err)
{
	int64_t found;
	int r = store_begin(store, err);

	if (r < 0)
		return r;
	found = store_first_number(store,
				   store_query(store, err,
					       "SELECT 1 FROM element WHERE platform = ?1 LIMIT 1",
					       "t", platform),
				   err);
	if (found > 0) {
		r = store_run(store, err, "DELETE FROM element WHERE platform = ?1", "t", platform);
	} else {
		r = found < 0 ? (int)found
			      : err_set(err, ENOENT, "no benchmarks of platform \"%s\"", platform);
	}
	return store_end_with(store, r, err);
}
