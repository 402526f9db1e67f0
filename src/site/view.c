/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The statements are those of PostgreSQL only: an SQLite file has no users who could look at it.
 */
#include "site/view.h"

#include <errno.h>
#include <math.h>

#include "base/clock.h"
#include "base/err.h"
#include "site/site_internal.h"

#define SILENT_NS (60 * NS_PER_S) /* loads of a node that was silent for so long do not count */

#define RUN_COLUMNS                                                                      \
	"SELECT id, uuid, owner, job, program, command, host, started_ns, duration_ns, " \
	"exit_status, processes, ranks, activities, kept, sample, lost, bytes_read, "    \
	"bytes_written, io_share, complete, hidden FROM run "
#define RUN_MATCHES                                                                          \
	"WHERE strpos(lower(concat_ws(chr(10), command, program, host, owner, job, uuid)), " \
	"lower(?1)) > 0 "

#define LIST(order) RUN_COLUMNS RUN_MATCHES "ORDER BY " order ", id LIMIT ?2 OFFSET ?3"
#define BOTH(order)                              \
	{                                        \
		LIST(order " DESC"), LIST(order) \
	}

/* By order and direction. */
static const char *const lists[VIEW_ORDERS][2] = {
	[VIEW_BY_START] = BOTH("started_ns"), [VIEW_BY_DURATION] = BOTH("duration_ns"),
	[VIEW_BY_CALLS] = BOTH("activities"), [VIEW_BY_BYTES] = BOTH("bytes_read + bytes_written"),
	[VIEW_BY_COMMAND] = BOTH("command"),
};

static double real_or_nan(struct statement *row, int column)
{
	return store_is_null(row, column) ? NAN : store_real(row, column);
}

static const char *text_or_null(struct statement *row, int column)
{
	return store_is_null(row, column) ? NULL : store_text(row, column);
}

static struct view_run read_run(struct statement *row)
{
	return (struct view_run){ .number = store_number(row, 0),
				  .id = store_text(row, 1),
				  .owner = store_text(row, 2),
				  .job = store_text(row, 3),
				  .program = store_text(row, 4),
				  .command = store_text(row, 5),
				  .host = store_text(row, 6),
				  .started_ns = store_number(row, 7),
				  .duration_ns = store_number(row, 8),
				  .exit_status = store_number(row, 9),
				  .processes = store_number(row, 10),
				  .ranks = store_number(row, 11),
				  .activities = store_number(row, 12),
				  .kept = store_number(row, 13),
				  .sample = store_number(row, 14),
				  .lost = store_number(row, 15),
				  .bytes_read = store_number(row, 16),
				  .bytes_written = store_number(row, 17),
				  .io_share = real_or_nan(row, 18),
				  .is_complete = store_number(row, 19) != 0,
				  .is_hidden = store_number(row, 20) != 0 };
}

int64_t view_runs(struct site_db *site, const struct view_query *query, view_visit_run *visit,
		  void *arg, struct err *err)
{
	int64_t total = store_first_number(site->store,
					   store_query(site->store, err,
						       "SELECT count(*) FROM run " RUN_MATCHES, "t",
						       query->search),
					   err);
	struct statement *rows;
	int r;

	if (total < 0)
		return total;
	rows = store_query(site->store, err, lists[query->order][query->ascending], "tii",
			   query->search, query->limit, query->offset);
	if (!rows)
		return -EIO;
	while ((r = store_step(site->store, rows, err)) > 0) {
		struct view_run run = read_run(rows);

		visit(arg, &run);
	}
	return r < 0 ? r : total;
}

int view_run(struct site_db *site, const char *id, view_visit_run *visit, void *arg,
	     struct err *err)
{
	int64_t found = store_first_number(
		site->store,
		store_query(site->store, err,
			    "SELECT count(*) FROM run WHERE starts_with(uuid, ?1)", "t", id),
		err);
	struct statement *rows;
	struct view_run run;
	int r;

	if (found < 0)
		return (int)found;
	if (found != 1)
		return err_set(err, ENOENT, "%s: %s", id,
			       found ? "several runs have ids like that" : "no such run");
	rows = store_query(site->store, err, RUN_COLUMNS "WHERE starts_with(uuid, ?1)", "t", id);
	r = rows ? store_step(site->store, rows, err) : -EIO;
	if (r <= 0)
		return r < 0 ? r : err_set(err, ENOENT, "%s: no such run", id);
	run = read_run(rows);
	visit(arg, &run);
	store_done(rows);
	return 0;
}

/* --- one run --- */

#define SUMS                                                                                   \
	"sum(a.calls), sum(a.errors), sum(a.opens), sum(a.reads), sum(a.writes), "             \
	"sum(a.bytes_read), sum(a.bytes_written), sum(a.time_ns) AS time, sum(a.sequential), " \
	"sum(a.small), min(a.first_ns), max(a.last_ns) "
#define LARGEST " ORDER BY time DESC, 1, 2, 4 LIMIT ?2"

static const struct {
	const char *rows, *count;
} sums[VIEW_PARTS] = {
	[VIEW_LAYERS] = { "SELECT a.layer, NULL, NULL, 0, " SUMS
			  "FROM aggregate a WHERE a.run = ?1 GROUP BY a.layer" LARGEST,
			  "SELECT count(DISTINCT layer) FROM aggregate WHERE run = ?1" },
	[VIEW_FILES] = { "SELECT a.layer, f.path, f.filesystem, 0, " SUMS
			 "FROM aggregate a LEFT JOIN run_file f ON f.run = a.run AND f.file = "
			 "a.file WHERE a.run = ?1 GROUP BY a.layer, a.file, f.path, "
			 "f.filesystem" LARGEST,
			 "SELECT count(DISTINCT (layer, file)) FROM aggregate WHERE run = ?1" },
	[VIEW_MEMBERS] = { "SELECT a.layer, NULL, NULL, a.rank, " SUMS
			   "FROM aggregate a WHERE a.run = ?1 GROUP BY a.layer, a.rank" LARGEST,
			   "SELECT count(DISTINCT (layer, rank)) FROM aggregate WHERE run = ?1" },
};

static struct view_sum read_sum(struct statement *row)
{
	return (struct view_sum){ .layer = store_text(row, 0),
				  .file = text_or_null(row, 1),
				  .filesystem = text_or_null(row, 2),
				  .member = store_number(row, 3),
				  .calls = store_number(row, 4),
				  .errors = store_number(row, 5),
				  .opens = store_number(row, 6),
				  .reads = store_number(row, 7),
				  .writes = store_number(row, 8),
				  .bytes_read = store_number(row, 9),
				  .bytes_written = store_number(row, 10),
				  .time_ns = store_number(row, 11),
				  .sequential = store_number(row, 12),
				  .small = store_number(row, 13),
				  .first_ns = store_number(row, 14),
				  .last_ns = store_number(row, 15) };
}

int64_t view_sums(struct site_db *site, int64_t run, enum view_part part, int64_t limit,
		  view_visit_sum *visit, void *arg, struct err *err)
{
	int64_t total = store_first_number(
		site->store, store_query(site->store, err, sums[part].count, "i", run), err);
	struct statement *rows;
	int r;

	if (total < 0)
		return total;
	rows = store_query(site->store, err, sums[part].rows, "ii", run, limit);
	r = rows ? 0 : -EIO;
	while (rows && (r = store_step(site->store, rows, err)) > 0) {
		struct view_sum sum = read_sum(rows);

		visit(arg, &sum);
	}
	return r < 0 ? r : total;
}

int view_findings(struct site_db *site, int64_t run, view_visit_finding *visit, void *arg,
		  struct err *err)
{
	struct statement *rows = store_query(
		site->store, err,
		"SELECT g.code, g.title, g.severity, g.evidence, f.path, g.possible, g.share, "
		"g.gain, g.files FROM finding g LEFT JOIN run_file f ON f.run = g.run AND f.file = "
		"g.file WHERE g.run = ?1 ORDER BY g.share DESC NULLS LAST, g.code",
		"i", run);
	int r = rows ? 0 : -EIO;

	while (rows && (r = store_step(site->store, rows, err)) > 0) {
		struct view_finding finding = { .code = store_text(rows, 0),
						.title = store_text(rows, 1),
						.severity = store_text(rows, 2),
						.evidence = store_text(rows, 3),
						.file = text_or_null(rows, 4),
						.is_possible = store_number(rows, 5) != 0,
						.share = real_or_nan(rows, 6),
						.gain = real_or_nan(rows, 7),
						.files = store_number(rows, 8) };

		visit(arg, &finding);
	}
	return r;
}

/* --- the site --- */

int view_anomalies(struct site_db *site, int64_t limit, view_visit_anomaly *visit, void *arg,
		   struct err *err)
{
	struct statement *rows = store_query(
		site->store, err,
		"SELECT node, subject, owner, job, target, cause, detail, started_ns, ended_ns, "
		"value FROM anomaly ORDER BY ended_ns IS NOT NULL, started_ns DESC, id LIMIT ?1",
		"i", limit);
	int r = rows ? 0 : -EIO;

	while (rows && (r = store_step(site->store, rows, err)) > 0) {
		struct view_anomaly anomaly = { .node = store_text(rows, 0),
						.subject = store_text(rows, 1),
						.owner = store_text(rows, 2),
						.job = store_text(rows, 3),
						.target = store_text(rows, 4),
						.cause = store_text(rows, 5),
						.detail = store_text(rows, 6),
						.started_ns = store_number(rows, 7),
						.ended_ns = store_is_null(rows, 8)
								    ? 0
								    : store_number(rows, 8),
						.value = store_real(rows, 9) };

		visit(arg, &anomaly);
	}
	return r;
}

int view_loads(struct site_db *site, int64_t limit, view_visit_load *visit, void *arg,
	       struct err *err)
{
	struct statement *rows = store_query(
		site->store, err,
		"SELECT owner, job, target, count(DISTINCT node), sum(bytes_read), "
		"sum(bytes_written), sum(operations) FROM node_load WHERE updated_ns > ?1 GROUP BY "
		"owner, job, target ORDER BY sum(bytes_read + bytes_written) DESC, sum(operations) "
		"DESC, 1, 2, 3 LIMIT ?2",
		"ii", site_now_ns() - SILENT_NS, limit);
	int r = rows ? 0 : -EIO;

	while (rows && (r = store_step(site->store, rows, err)) > 0) {
		struct view_load load = { .owner = store_text(rows, 0),
					  .job = store_text(rows, 1),
					  .target = store_text(rows, 2),
					  .nodes = store_number(rows, 3),
					  .bytes_read = store_real(rows, 4),
					  .bytes_written = store_real(rows, 5),
					  .operations = store_real(rows, 6) };

		visit(arg, &load);
	}
	return r;
}
