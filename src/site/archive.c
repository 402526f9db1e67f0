/* SPDX-License-Identifier: BSD-3-Clause */
#include "site/archive.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/config.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/place.h"
#include "base/trusted.h"
#include "observe/export/export.h"
#include "site/forget.h"
#include "site/reader.h"
#include "site/site_internal.h"
#include "trace/format.h"

#define EXPORT_MEMORY (UINT64_C(64) << 20)

char *archive_path(const char *archive, const char *uuid)
{
	return xprintf("%s/run=%s", archive, uuid);
}

/* Writes the run as a trace, which an export reads as often as it needs. */
static int write_trace(struct site_db *site, const char *uuid, const char *path, struct err *err)
{
	struct trace trace;
	int r = site_read(&trace, site, uuid, err);

	if (r < 0)
		return r;
	r = trace_convert(&trace, &trace_container, path, NULL, err);
	trace_close(&trace);
	return r;
}

static int export_dataset(const char *from, const char *to, struct export_totals *totals,
			  struct err *err)
{
	struct export_options options = { .memory = EXPORT_MEMORY };
	struct trace_filter filter = { 0 };
	struct trace trace;
	int r = trace_open(&trace, from, &filter, err);

	if (r < 0)
		return r;
	r = export_trace(&(struct export_job){ &trace, from, &filter, &options, totals },
			 &export_parquet, to, err);
	trace_close(&trace);
	return r;
}

static int64_t count_activities(struct site_db *site, int64_t run, struct err *err)
{
	return store_first_number(site->store,
				  store_query(site->store, err,
					      "SELECT count(*) FROM activity WHERE run = ?1", "i",
					      run),
				  err);
}

/* Deletes the activities, unless others were added after the export. */
static int move_locked(struct site_db *site, int64_t run, const char *path,
		       const struct export_totals *totals, struct err *err)
{
	int64_t count = count_activities(site, run, err);
	int r;

	if (count < 0)
		return (int)count;
	if ((uint64_t)count != totals->activities)
		return err_set(err, EBUSY, "%s: the run has changed meanwhile; try again later",
			       path);
	r = store_run(site->store, err, "DELETE FROM activity WHERE run = ?1", "i", run);
	if (r >= 0)
		r = store_run(site->store, err,
			      "INSERT INTO archive (run, path, activities, bytes, archived_ns) "
			      "VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (run) DO UPDATE SET path = "
			      "excluded.path, activities = excluded.activities, bytes = "
			      "excluded.bytes, archived_ns = excluded.archived_ns",
			      "itiii", run, path, (int64_t)totals->activities,
			      (int64_t)totals->bytes, site_now_ns());
	return r;
}

static int move_run(struct site_db *site, int64_t run, const char *uuid, const char *path,
		    struct archive_totals *totals, struct err *err)
{
	AUTO_FREE char *trace = xprintf("%s.tmp", path);
	struct export_totals written = { 0 };
	int r;

	/* What a killed archiving has left: its rows are still in the database. */
	unlink(trace);
	file_remove_tree(path);
	r = write_trace(site, uuid, trace, err);
	if (r >= 0)
		r = export_dataset(trace, path, &written, err);
	unlink(trace);
	if (r >= 0)
		r = store_begin(site->store, err);
	if (r < 0)
		return r;
	r = site_end(site, move_locked(site, run, path, &written, err), err);
	if (r < 0) {
		file_remove_tree(path);
		return r;
	}
	totals->runs++;
	totals->activities += written.activities;
	totals->bytes += written.bytes;
	return 0;
}

/* A run whose activities are in the archive already must not lose them to an empty dataset. */
int archive_run(struct site_db *site, const char *archive, const char *uuid,
		struct archive_totals *totals, struct err *err)
{
	AUTO_FREE char *path = archive_path(archive, uuid);
	int64_t run = site_find_run(site, uuid, err), count;
	int r;

	if (run <= 0)
		return run < 0 ? (int)run
			       : err_set(err, ENOENT, "%s: no such run in the site database", uuid);
	count = count_activities(site, run, err);
	if (count <= 0)
		return (int)count;
	r = place_make_dir(archive, TRUSTED_DIRECTORY_MODE, err);
	return r < 0 ? r : move_run(site, run, uuid, path, totals, err);
}

/* Runs with activities in the database that began before a time. */
#define RUNS_WITH_ACTIVITIES                                                                      \
	"SELECT uuid FROM run WHERE started_ns < ?1 AND kept > 0 AND id NOT IN (SELECT run FROM " \
	"archive) ORDER BY started_ns, id"

static int64_t database_bytes(struct site_db *site, struct err *err)
{
	return store_first_number(
		site->store,
		site_is_postgres(site)
			? store_query(site->store, err,
				      "SELECT pg_database_size(current_database())", "")
			: store_query(site->store, err,
				      "SELECT (page_count - freelist_count) * page_size FROM "
				      "pragma_page_count(), pragma_freelist_count(), "
				      "pragma_page_size()",
				      ""),
		err);
}

struct retention {
	struct site_db *site;
	const char *archive;
	const struct trace_watch *watch;
	struct archive_totals *totals;
	uint64_t limit; /* bytes of the database; 0: all runs of the list move */
	struct err *err;
};

static int move_runs(const struct retention *t, char **runs)
{
	size_t count = 0;
	int r = 0;

	while (runs[count])
		count++;
	for (size_t i = 0; i < count && r >= 0; i++) {
		if (t->limit) {
			int64_t bytes = database_bytes(t->site, t->err);

			if (bytes < 0 || (uint64_t)bytes <= t->limit)
				return bytes < 0 ? (int)bytes : 0;
		}
		r = trace_watch_show(t->watch, i, count, t->err);
		if (r >= 0)
			r = archive_run(t->site, t->archive, runs[i], t->totals, t->err);
		/* Only a dropped partition makes the database smaller. */
		if (r >= 0 && t->limit)
			r = forget_compact(t->site, &t->totals->partitions, t->err);
	}
	return r;
}

static int move_older(const struct retention *t, int64_t before_ns)
{
	char **runs = NULL;
	int r = store_read_texts(
		t->site->store,
		store_query(t->site->store, t->err, RUNS_WITH_ACTIVITIES, "i", before_ns), &runs,
		t->err);

	if (r >= 0)
		r = move_runs(t, runs);
	store_free_texts(runs);
	return r;
}

static int remove_older(const struct retention *t, int64_t before_ns)
{
	struct forget_totals forgotten = { 0 };
	char **runs = NULL;
	int r = store_read_texts(t->site->store,
				 store_query(t->site->store, t->err,
					     "SELECT uuid FROM run WHERE started_ns < ?1 ORDER BY "
					     "started_ns, id",
					     "i", before_ns),
				 &runs, t->err);

	for (size_t i = 0; r >= 0 && runs[i]; i++)
		r = forget_run(t->site, t->archive, runs[i], &forgotten, t->err);
	store_free_texts(runs);
	t->totals->removed += forgotten.runs;
	return r;
}

int archive_retain(struct site_db *site, const struct config *config,
		   const struct trace_watch *watch, struct archive_totals *totals, struct err *err)
{
	struct retention t = { site, config_text(config, SETTING_SITE_ARCHIVE), watch, totals, 0,
			       err };
	int64_t keep_ns = (int64_t)config_number(config, SETTING_SITE_KEEP_ACTIVITIES);
	int64_t runs_ns = (int64_t)config_number(config, SETTING_SITE_KEEP_RUNS);
	int64_t now = site_now_ns();
	int r = 0;

	if (runs_ns)
		r = remove_older(&t, now - runs_ns);
	if (r >= 0 && keep_ns)
		r = move_older(&t, now - keep_ns);
	t.limit = config_number(config, SETTING_SITE_KEEP_SIZE);
	if (r >= 0 && t.limit)
		r = move_older(&t, now);
	return r < 0 ? r : forget_compact(site, &totals->partitions, err);
}
