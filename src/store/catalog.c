/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A row is searched before it is added, so that known rows need no write lock. If two processes add
 * the same row, the second one finds the row of the first.
 */
#include "store/catalog.h"

#include <errno.h>

#include "base/err.h"
#include "store/store_internal.h"

const char *const thing_kind_names[THING_KINDS] = { "node", "device", "layer", "call" };

static int64_t fail_lost_row(const struct store *store, struct err *err)
{
	return err_set(err, EIO, "%s: cannot find a row that was just added", store_path(store));
}

static int64_t find_attribute(struct store *store, const char *domain, const char *name,
			      struct err *err)
{
	return store_first_number(
		store,
		store_query(store, err, "SELECT id FROM attribute WHERE domain = ? AND name = ?",
			    "tt", domain, name),
		err);
}

int64_t catalog_attribute(struct store *store, const char *domain, const char *name,
			  const char *type, struct err *err)
{
	int64_t id = find_attribute(store, domain, name, err);

	if (id)
		return id;
	id = store_run(store, err,
		       "INSERT INTO attribute (domain, name, type) VALUES (?, ?, ?)"
		       " ON CONFLICT DO NOTHING",
		       "ttt", domain, name, type);
	if (id < 0)
		return id;
	id = find_attribute(store, domain, name, err);
	return id ? id : fail_lost_row(store, err);
}

static int64_t find_thing(struct store *store, enum thing_kind kind, int64_t of, const char *name,
			  struct err *err)
{
	return store_first_number(
		store,
		store_query(store, err,
			    "SELECT id FROM thing WHERE kind = ? AND of = ? AND name = ?", "tit",
			    thing_kind_names[kind], of, name),
		err);
}

int64_t catalog_thing(struct store *store, enum thing_kind kind, int64_t of, const char *name,
		      struct err *err)
{
	int64_t id = find_thing(store, kind, of, name, err);

	if (id)
		return id;
	id = store_run(store, err,
		       "INSERT INTO thing (kind, of, name) VALUES (?, ?, ?)"
		       " ON CONFLICT DO NOTHING",
		       "tit", thing_kind_names[kind], of, name);
	if (id < 0)
		return id;
	id = find_thing(store, kind, of, name, err);
	return id ? id : fail_lost_row(store, err);
}

int catalog_fact_set(struct store *store, const char *run, int32_t process, const char *key,
		     const char *value, struct err *err)
{
	return store_run(store, err,
			 "INSERT INTO fact (run, process, key, value) VALUES (?, ?, ?, ?)"
			 " ON CONFLICT (run, process, key) DO UPDATE SET value = excluded.value"
			 " WHERE fact.value <> excluded.value",
			 "titt", run, (int64_t)process, key, value);
}

int catalog_keep_runs(struct store *store, int64_t count, struct err *err)
{
	return store_run(store, err,
			 "DELETE FROM fact WHERE run IN (SELECT run FROM fact WHERE process = -1"
			 " AND key = 'started' ORDER BY CAST(value AS BIGINT) DESC, run"
			 " LIMIT 9223372036854775807 OFFSET ?)",
			 "i", count);
}

int catalog_attributes(struct store *store, catalog_attribute_seen seen, void *arg, struct err *err)
{
	struct statement *rows = store_query(
		store, err, "SELECT id, domain, name, type FROM attribute ORDER BY id", "");
	int r = rows ? 0 : -EIO, stop = 0;

	while (rows && !stop && (r = store_step(store, rows, err)) > 0)
		stop = seen(arg, store_number(rows, 0), store_text(rows, 1), store_text(rows, 2),
			    store_text(rows, 3));
	if (stop)
		store_done(rows);
	return stop ? 0 : r;
}

int catalog_things(struct store *store, enum thing_kind kind, catalog_thing_seen seen, void *arg,
		   struct err *err)
{
	struct statement *rows = store_query(
		store, err,
		"SELECT t.id, t.of, t.name, o.name FROM thing t LEFT JOIN thing o ON o.id = t.of"
		" WHERE t.kind = ? ORDER BY t.id",
		"t", thing_kind_names[kind]);
	int r = rows ? 0 : -EIO, stop = 0;

	while (rows && !stop && (r = store_step(store, rows, err)) > 0)
		stop = seen(arg, store_number(rows, 0), store_number(rows, 1), store_text(rows, 2),
			    store_text(rows, 3));
	if (stop)
		store_done(rows);
	return stop ? 0 : r;
}

int catalog_facts(struct store *store, const char *run, catalog_fact_seen seen, void *arg,
		  struct err *err)
{
	struct statement *rows =
		store_query(store, err,
			    "SELECT run, process, key, value FROM fact WHERE run = ?1 OR ?1 IS NULL"
			    " ORDER BY run, process, key",
			    "t", run);
	int r = rows ? 0 : -EIO, stop = 0;

	while (rows && !stop && (r = store_step(store, rows, err)) > 0)
		stop = seen(arg, store_text(rows, 0), (int)store_number(rows, 1),
			    store_text(rows, 2), store_text(rows, 3));
	if (stop)
		store_done(rows);
	return stop ? 0 : r;
}
