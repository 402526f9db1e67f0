/* SPDX-License-Identifier: BSD-3-Clause */
#include "site/forget.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/place.h"
#include "site/archive.h"
#include "site/site_internal.h"

static int mark_forgotten(struct site_db *site, const char *what, struct err *err)
{
	return store_run(site->store, err,
			 "INSERT INTO forgotten (uuid, before_ns) VALUES (?1, ?2)", "ti", what,
			 site_now_ns());
}

/* Within a transaction. The archive is removed first: if that fails, the rows still name it. */
static int forget_locked(struct site_db *site, const char *archive, const char *uuid,
			 struct forget_totals *totals, struct err *err)
{
	AUTO_FREE char *path = archive_path(archive, uuid);
	int64_t run = site_find_run(site, uuid, err);
	int r;

	if (run <= 0)
		return run < 0 ? (int)run
			       : err_set(err, ENOENT,
					 "%s: no such run in the site database, or it belongs to "
					 "another user",
					 uuid);
	if (place_exists(path)) {
		file_remove_tree(path);
		if (place_exists(path))
			return err_set(err, EACCES,
				       "%s: cannot remove the archive of the run; check the "
				       "owner of the directory",
				       path);
		totals->archives++;
	}
	r = mark_forgotten(site, uuid, err);
	if (r >= 0)
		r = site_delete_run(site, run, err);
	totals->runs += r >= 0;
	return r;
}

int forget_run(struct site_db *site, const char *archive, const char *uuid,
	       struct forget_totals *totals, struct err *err)
{
	int r = store_begin(site->store, err);

	return r < 0 ? r : site_end(site, forget_locked(site, archive, uuid, totals, err), err);
}

static int forget_runs_locked(struct site_db *site, const char *archive, const char *user,
			      struct forget_totals *totals, struct err *err)
{
	char uuid[ROWS_UUID_DIGITS + 1];
	int r = 0;

	while (r >= 0) {
		struct statement *rows =
			store_query(site->store, err,
				    "SELECT uuid FROM run WHERE owner = ?1 LIMIT 1", "t", user);

		r = rows ? store_step(site->store, rows, err) : -EIO;
		if (r <= 0)
			return r;
		snprintf(uuid, sizeof(uuid), "%s", store_text(rows, 0));
		store_done(rows);
		r = forget_locked(site, archive, uuid, totals, err);
	}
	return r;
}

static int forget_user_locked(struct site_db *site, const char *archive, const char *user,
			      struct forget_totals *totals, struct err *err)
{
	static const char *const statements[] = {
		"DELETE FROM study_run WHERE study IN (SELECT id FROM study WHERE owner = ?1)",
		"DELETE FROM study WHERE owner = ?1",
		"DELETE FROM outcome WHERE \"user\" = ?1",
		"DELETE FROM trial WHERE \"user\" = ?1",
		"DELETE FROM anomaly WHERE owner = ?1",
		"DELETE FROM node_load WHERE owner = ?1",
	};
	AUTO_FREE char *mark = xprintf("user:%s", user);
	int r = forget_runs_locked(site, archive, user, totals, err);

	for (size_t i = 0; i < sizeof(statements) / sizeof(statements[0]) && r >= 0; i++)
		r = store_run(site->store, err, statements[i], "t", user);
	return r < 0 ? r : mark_forgotten(site, mark, err);
}

int forget_user(struct site_db *site, const char *archive, const char *user,
		struct forget_totals *totals, struct err *err)
{
	int r = store_begin(site->store, err);

	return r < 0 ? r
		     : site_end(site, forget_user_locked(site, archive, user, totals, err), err);
}

int forget_list(struct site_db *site, int64_t *since_ns,
		void (*seen)(void *arg, const char *what, int64_t before_ns), void *arg,
		struct err *err)
{
	struct statement *rows =
		store_query(site->store, err,
			    "SELECT uuid, before_ns FROM forgotten WHERE before_ns > ?1 "
			    "ORDER BY before_ns",
			    "i", *since_ns);
	int r = -EIO;

	while (rows && (r = store_step(site->store, rows, err)) > 0) {
		*since_ns = store_number(rows, 1);
		seen(arg, store_text(rows, 0), *since_ns);
	}
	return r;
}

int forget_compact(struct site_db *site, uint64_t *partitions, struct err *err)
{
	int64_t dropped;

	/* A user who may only remove own runs leaves this to an administrator. */
	if (!site_is_postgres(site) || !site->copies)
		return 0;
	dropped = store_first_number(
		site->store,
		store_query(site->store, err, "SELECT sluice_drop_empty_partitions()", ""), err);
	if (dropped < 0)
		return (int)dropped;
	site->day_count = 0;
	*partitions += (uint64_t)dropped;
	return 0;
}

int forget_vacuum(struct site_db *site, struct err *err)
{
	AUTO_BUF struct buf sql = { 0 };

	if (!site_is_postgres(site))
		return store_execute(site->store, "VACUUM", err);
	/* Who does not own the tables gets warnings of the server, which are not shown. */
	buf_puts(&sql, "VACUUM run");
	for (size_t i = 0; i < schema_table_count; i++)
		if (schema_tables[i].access == ACCESS_RUN)
			buf_printf(&sql, ", \"%s\"", schema_tables[i].name);
	return store_execute(site->store, buf_text(&sql), err);
}
