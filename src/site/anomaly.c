/* SPDX-License-Identifier: BSD-3-Clause */
#include "site/anomaly.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "site/site_internal.h"

/* Loads that were stated within this time before the judgement count. */
#define LOAD_NS (INT64_C(60) * 1000000000)
/* A job is the likely cause if it has at least this share of the bytes. */
#define JOB_SHARE 0.5
#define NODES_LEAST 2

static int notify(struct site_db *site, int64_t id, struct err *err)
{
	AUTO_FREE char *text = xprintf("%lld", (long long)id);

	if (!site_is_postgres(site))
		return 0;
	return store_run(site->store, err, "SELECT pg_notify('" ANOMALY_CHANNEL "', ?1)", "t",
			 text);
}

static int64_t find_lasting(struct site_db *site, const struct anomaly *a, struct err *err)
{
	return store_first_number(
		site->store,
		store_query(site->store, err,
			    "SELECT id FROM anomaly WHERE ended_ns IS NULL AND node = ?1 AND "
			    "subject = ?2 AND job = ?3 AND target = ?4",
			    "tttt", text_or_empty(a->node), a->subject, text_or_empty(a->job),
			    text_or_empty(a->target)),
		err);
}

static int64_t insert_anomaly(struct site_db *site, const struct anomaly *a, struct err *err)
{
	return store_first_number(
		site->store,
		store_query(site->store, err,
			    "INSERT INTO anomaly (node, subject, owner, job, target, started_ns, "
			    "cause, detail, value) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) "
			    "RETURNING id",
			    "tttttittd", text_or_empty(a->node), a->subject,
			    text_or_empty(a->owner), text_or_empty(a->job),
			    text_or_empty(a->target), a->started_ns, text_or_empty(a->cause),
			    text_or_empty(a->detail), a->value),
		err);
}

static int raise_locked(struct site_db *site, const struct anomaly *a, int64_t *id, struct err *err)
{
	int64_t found = find_lasting(site, a, err);
	int r = found < 0 ? (int)found : 0;

	if (!r && found)
		r = store_run(site->store, err,
			      "UPDATE anomaly SET cause = ?2, detail = ?3, value = ?4 WHERE id = "
			      "?1",
			      "ittd", found, text_or_empty(a->cause), text_or_empty(a->detail),
			      a->value);
	if (!r && !found)
		found = insert_anomaly(site, a, err);
	if (r < 0 || found <= 0)
		return r < 0 ? r : found < 0 ? (int)found : -EIO;
	*id = found;
	return notify(site, found, err);
}

int anomaly_raise(struct site_db *site, const struct anomaly *anomaly, int64_t *id, struct err *err)
{
	int r = store_begin(site->store, err);

	return r < 0 ? r : site_end(site, raise_locked(site, anomaly, id, err), err);
}

static int end_locked(struct site_db *site, int64_t id, int64_t ended_ns, struct err *err)
{
	int r = store_run(site->store, err,
			  "UPDATE anomaly SET ended_ns = ?2 WHERE id = ?1 AND ended_ns IS NULL",
			  "ii", id, ended_ns);

	return r < 0 ? r : notify(site, id, err);
}

int anomaly_end(struct site_db *site, int64_t id, int64_t ended_ns, struct err *err)
{
	int r = store_begin(site->store, err);

	return r < 0 ? r : site_end(site, end_locked(site, id, ended_ns, err), err);
}

int anomaly_list(struct site_db *site, anomaly_seen *seen, void *arg, struct err *err)
{
	struct statement *rows = store_query(
		site->store, err,
		"SELECT id, node, subject, owner, job, target, started_ns, cause, detail, value "
		"FROM anomaly WHERE ended_ns IS NULL ORDER BY started_ns, id",
		"");
	int r = rows ? 0 : -EIO;

	while (rows && (r = store_step(site->store, rows, err)) > 0) {
		struct anomaly a = { store_number(rows, 0), store_text(rows, 1),
				     store_text(rows, 2),   store_text(rows, 3),
				     store_text(rows, 4),   store_text(rows, 5),
				     store_number(rows, 6), 0,
				     store_text(rows, 7),   store_text(rows, 8),
				     store_real(rows, 9) };

		if (seen(arg, &a)) {
			store_done(rows);
			return 0;
		}
	}
	return r;
}

int load_report(struct site_db *site, const struct load *load, struct err *err)
{
	return store_run(
		site->store, err,
		"INSERT INTO node_load (node, owner, job, target, bytes_read, "
		"bytes_written, operations, updated_ns) VALUES (?1, ?2, ?3, ?4, ?5, ?6, "
		"?7, ?8) ON CONFLICT (node, owner, job, target) DO UPDATE SET bytes_read = "
		"excluded.bytes_read, bytes_written = excluded.bytes_written, operations = "
		"excluded.operations, updated_ns = excluded.updated_ns",
		"ttttdddi", load->node, text_or_empty(load->owner), text_or_empty(load->job),
		text_or_empty(load->target), load->bytes_read, load->bytes_written,
		load->operations, load->updated_ns);
}

int load_rank(struct site_db *site, int64_t since_ns, size_t limit, load_seen *seen, void *arg,
	      struct err *err)
{
	struct statement *rows = store_query(
		site->store, err,
		"SELECT owner, job, sum(bytes_read), sum(bytes_written), sum(operations), "
		"max(updated_ns) FROM node_load WHERE updated_ns >= ?1 GROUP BY owner, job ORDER "
		"BY sum(bytes_read) + sum(bytes_written) DESC, sum(operations) DESC, owner, job "
		"LIMIT ?2",
		"ii", since_ns, (int64_t)limit);
	int r = rows ? 0 : -EIO;

	while (rows && (r = store_step(site->store, rows, err)) > 0) {
		struct load load = { "",
				     store_text(rows, 0),
				     store_text(rows, 1),
				     "",
				     store_real(rows, 2),
				     store_real(rows, 3),
				     store_real(rows, 4),
				     store_number(rows, 5) };

		if (seen(arg, &load)) {
			store_done(rows);
			return 0;
		}
	}
	return r;
}

/* What the reasoner of the system considers. */
struct evidence {
	size_t nodes; /* with an anomaly */
	char *target; /* that most of them name; NULL: none */
	size_t target_nodes;
	double worst;
	char *job, *owner; /* with the most bytes; NULL: none */
	double job_bytes, all_bytes;
};

static void evidence_release(struct evidence *e)
{
	free(e->target);
	free(e->job);
	free(e->owner);
}

static int count_nodes(struct site_db *site, struct evidence *e, struct err *err)
{
	struct statement *rows =
		store_query(site->store, err,
			    "SELECT count(DISTINCT node), coalesce(max(value), 0) FROM anomaly "
			    "WHERE ended_ns IS NULL AND subject <> '" ANOMALY_SYSTEM "'",
			    "");
	int r = rows ? store_step(site->store, rows, err) : -EIO;

	if (r <= 0)
		return r < 0 ? r : -EIO;
	e->nodes = (size_t)store_number(rows, 0);
	e->worst = store_real(rows, 1);
	store_done(rows);
	return 0;
}

static int find_target(struct site_db *site, struct evidence *e, struct err *err)
{
	struct statement *rows =
		store_query(site->store, err,
			    "SELECT target, count(DISTINCT node) FROM anomaly WHERE ended_ns IS "
			    "NULL AND subject <> '" ANOMALY_SYSTEM "' AND target <> '' GROUP BY "
			    "target ORDER BY 2 DESC, 1 LIMIT 1",
			    "");
	int r = rows ? store_step(site->store, rows, err) : -EIO;

	if (r <= 0)
		return r;
	e->target = xstrdup(store_text(rows, 0));
	e->target_nodes = (size_t)store_number(rows, 1);
	store_done(rows);
	return 0;
}

static int add_load(void *arg, const struct load *load)
{
	struct evidence *e = arg;
	double bytes = load->bytes_read + load->bytes_written;

	if (!e->job) {
		e->job = xstrdup(load->job);
		e->owner = xstrdup(load->owner);
		e->job_bytes = bytes;
	}
	e->all_bytes += bytes;
	return 0;
}

/* Fills in the likely cause. The texts of the anomaly are valid as long as `text` is. */
static void judge_cause(const struct evidence *e, struct anomaly *a, struct buf *text)
{
	*a = (struct anomaly){ .node = "", .subject = ANOMALY_SYSTEM, .value = e->worst };
	if (e->target && 2 * e->target_nodes > e->nodes) {
		a->cause = "target";
		buf_printf(text, "%zu of %zu slow nodes access %s", e->target_nodes, e->nodes,
			   e->target);
	} else if (e->job && e->all_bytes > 0 && e->job_bytes >= JOB_SHARE * e->all_bytes) {
		a->cause = "job";
		buf_printf(text, "job %s of %s causes %.0f %% of the load; %zu nodes are slow",
			   *e->job ? e->job : "(none)", e->owner, 100 * e->job_bytes / e->all_bytes,
			   e->nodes);
	} else {
		a->cause = "load";
		buf_printf(text, "%zu nodes are slow, and no target or job stands out", e->nodes);
	}
	a->detail = buf_text(text);
}

static int judge_locked(struct site_db *site, int64_t now_ns, struct err *err)
{
	struct evidence e = { 0 };
	AUTO_BUF struct buf text = { 0 };
	struct anomaly a;
	int64_t lasting = 0, id = 0;
	int r = count_nodes(site, &e, err);

	if (!r)
		r = find_target(site, &e, err);
	if (!r)
		r = load_rank(site, now_ns - LOAD_NS, 1000, add_load, &e, err);
	judge_cause(&e, &a, &text);
	a.started_ns = now_ns;
	if (!r)
		lasting = find_lasting(site, &a, err);
	if (r < 0 || lasting < 0)
		r = r < 0 ? r : (int)lasting;
	else if (e.nodes >= NODES_LEAST)
		r = raise_locked(site, &a, &id, err);
	else if (lasting)
		r = end_locked(site, lasting, now_ns, err);
	if (r >= 0)
		r = e.nodes >= NODES_LEAST || lasting;
	evidence_release(&e);
	return r;
}

int anomaly_judge(struct site_db *site, int64_t now_ns, struct err *err)
{
	int changed, r = store_begin(site->store, err);

	if (r < 0)
		return r;
	changed = judge_locked(site, now_ns, err);
	r = site_end(site, changed, err);
	return r < 0 ? r : changed;
}

static int check_server(const struct site_db *site, struct err *err)
{
	return site_is_postgres(site)
		       ? 0
		       : err_set(err, EOPNOTSUPP, "an SQLite file cannot notify other processes");
}

int anomaly_listen(struct site_db *site, struct err *err)
{
	int r = check_server(site, err);

	return r < 0 ? r : store_execute(site->store, "LISTEN " ANOMALY_CHANNEL, err);
}

int anomaly_wait(struct site_db *site, int timeout_ms, int64_t *id, struct err *err)
{
	AUTO_FREE char *channel = NULL, *text = NULL;
	int r = check_server(site, err);

	if (r >= 0)
		r = store_wait(site->store, timeout_ms, &channel, &text, err);
	if (r > 0)
		*id = strtoll(text, NULL, 10);
	return r;
}
