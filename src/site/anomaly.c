/* SPDX-License-Identifier: BSD-3-Clause */
#include "site/anomaly.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "site/notice.h"
#include "site/site_internal.h"
#include "site/verdict.h"

#define LOADS_MAX 100000 /* rows that a judgement considers */
#define ANOMALIES_MAX 10000
/* The row of `source` that says when the reasoner judged last. */
#define REASONER "system reasoner"
#define REASONER_LOCK "8317427303"

/* Notifies for each row of a statement, whose first column is an id. Returns their number. */
static int notify_rows(struct site_db *site, struct statement *rows, struct err *err)
{
	char **ids = NULL;
	int count = 0, r = store_read_texts(site->store, rows, &ids, err);

	for (; r >= 0 && ids[count]; count++)
		r = notice_send(site, NOTICE_ANOMALY, strtoll(ids[count], NULL, 10), err);
	store_free_texts(ids);
	return r < 0 ? r : count;
}

/* --- what nodes send --- */

static char *text_of(const char *table, const struct row_value *values, const char *name)
{
	const struct row_value *value = &values[schema_column(schema_find(table), name)];

	return value->is_set ? xstrndup(value->text, value->text_bytes) : xstrdup("");
}

static int64_t number_of(const char *table, const struct row_value *values, const char *name)
{
	return values[schema_column(schema_find(table), name)].number;
}

static double real_of(const char *table, const struct row_value *values, const char *name)
{
	return values[schema_column(schema_find(table), name)].real;
}

/* Ends what began earlier. */
static int end_node(struct site_db *site, const char *node, const char *subject, int64_t ended_ns,
		    struct err *err)
{
	int r = notify_rows(site,
			    store_query(site->store, err,
					"UPDATE anomaly SET ended_ns = ?3 WHERE node = ?1 AND "
					"subject = ?2 AND ended_ns IS NULL AND started_ns <= ?3 "
					"RETURNING id",
					"tti", node, subject, ended_ns),
			    err);

	return r < 0 ? r : 0;
}

int anomaly_insert(struct site_db *site, const struct row_value *values, struct err *err)
{
	static const char table[] = "anomaly";
	AUTO_FREE char *node = text_of(table, values, "node");
	AUTO_FREE char *subject = text_of(table, values, "subject");
	AUTO_FREE char *owner = text_of(table, values, "owner");
	AUTO_FREE char *job = text_of(table, values, "job");
	AUTO_FREE char *target = text_of(table, values, "target");
	AUTO_FREE char *cause = text_of(table, values, "cause");
	AUTO_FREE char *detail = text_of(table, values, "detail");
	int64_t started_ns = number_of(table, values, "started_ns");
	int r;

	if (!*node || !strcmp(subject, ANOMALY_SYSTEM))
		return err_set(err, EBADMSG, "invalid payload: an anomaly without a node");
	if (values[schema_column(schema_find(table), "ended_ns")].is_set)
		return end_node(site, node, subject, number_of(table, values, "ended_ns"), err);
	r = store_run(site->store, err,
		      "DELETE FROM anomaly WHERE node = ?1 AND subject = ?2 AND started_ns = ?3",
		      "tti", node, subject, started_ns);
	if (r < 0)
		return r;
	r = notify_rows(site,
			store_query(site->store, err,
				    "INSERT INTO anomaly (node, subject, owner, job, target, "
				    "started_ns, cause, detail, value) VALUES (?1, ?2, ?3, ?4, ?5, "
				    "?6, ?7, ?8, ?9) RETURNING id",
				    "tttttittd", node, subject, owner, job, target, started_ns,
				    cause, detail, real_of(table, values, "value")),
			err);
	return r < 0 ? r : 0;
}

int load_insert(struct site_db *site, const struct row_value *values, struct err *err)
{
	static const char table[] = "node_load";
	AUTO_FREE char *node = text_of(table, values, "node");
	AUTO_FREE char *owner = text_of(table, values, "owner");
	AUTO_FREE char *job = text_of(table, values, "job");
	AUTO_FREE char *target = text_of(table, values, "target");
	int r = 0;

	/* A report begins with the row that has no owner, and replaces the previous one. */
	if (!*owner)
		r = store_run(site->store, err, "DELETE FROM node_load WHERE node = ?1", "t", node);
	if (r < 0)
		return r;
	return store_run(
		site->store, err,
		"INSERT INTO node_load (node, owner, job, target, bytes_read, bytes_written, "
		"operations, updated_ns) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT "
		"(node, owner, job, target) DO UPDATE SET bytes_read = excluded.bytes_read, "
		"bytes_written = excluded.bytes_written, operations = excluded.operations, "
		"updated_ns = excluded.updated_ns",
		"ttttdddi", node, owner, job, target, real_of(table, values, "bytes_read"),
		real_of(table, values, "bytes_written"), real_of(table, values, "operations"),
		number_of(table, values, "updated_ns"));
}

/* --- lists --- */

#define ANOMALY_COLUMNS "id, node, subject, owner, job, target, started_ns, cause, detail, value"

static int list_rows(struct site_db *site, struct statement *rows, anomaly_seen *seen, void *arg,
		     struct err *err)
{
	int r = rows ? 0 : -EIO;

	while (rows && (r = store_step(site->store, rows, err)) > 0) {
		struct anomaly a = { store_number(rows, 0), store_text(rows, 1),
				     store_text(rows, 2),   store_text(rows, 3),
				     store_text(rows, 4),   store_text(rows, 5),
				     store_number(rows, 6), store_text(rows, 7),
				     store_text(rows, 8),   store_real(rows, 9) };

		if (seen(arg, &a)) {
			store_done(rows);
			return 0;
		}
	}
	return r;
}

int anomaly_list(struct site_db *site, anomaly_seen *seen, void *arg, struct err *err)
{
	return list_rows(site,
			 store_query(site->store, err,
				     "SELECT " ANOMALY_COLUMNS " FROM anomaly WHERE ended_ns IS "
				     "NULL ORDER BY started_ns, id",
				     ""),
			 seen, arg, err);
}

int anomaly_list_verdicts(struct site_db *site, const char *node, int64_t now_ns,
			  anomaly_seen *seen, void *arg, struct err *err)
{
	return list_rows(
		site,
		store_query(site->store, err,
			    "SELECT " ANOMALY_COLUMNS " FROM anomaly WHERE ended_ns IS NULL AND "
			    "subject = '" ANOMALY_SYSTEM "' AND (node = ?1 OR (node = '' AND "
			    "(target = '' OR target IN (SELECT target FROM node_load WHERE node = "
			    "?1) OR target IN (SELECT target FROM anomaly WHERE node = ?1 AND "
			    "ended_ns IS NULL)))) AND EXISTS (SELECT 1 FROM source WHERE node = "
			    "'" REASONER "' AND changed >= ?2) ORDER BY started_ns, id",
			    "ti", node, now_ns - ANOMALY_STALE_NS),
		seen, arg, err);
}

int load_rank(struct site_db *site, int64_t now_ns, const char *target, size_t limit,
	      load_seen *seen, void *arg, struct err *err)
{
	/* Those who are not listed count for the shares, but are nobody to be ranked. */
	struct statement *rows = store_query(
		site->store, err,
		"SELECT * FROM (SELECT owner, job, sum(bytes_read) AS bytes_read, "
		"sum(bytes_written) AS bytes_written, sum(operations) AS operations, "
		"sum(sum(bytes_read + bytes_written)) OVER () AS all_bytes, "
		"sum(sum(operations)) OVER () AS all_operations FROM node_load WHERE updated_ns "
		">= ?1 AND (?2 IS NULL OR target = ?2) GROUP BY owner, job) AS sums WHERE owner <> "
		"'' ORDER BY bytes_read + bytes_written DESC, operations DESC, owner, job LIMIT ?3",
		"iti", now_ns - ANOMALY_STALE_NS, target, (int64_t)limit);
	int r = rows ? 0 : -EIO;

	while (rows && (r = store_step(site->store, rows, err)) > 0) {
		double bytes = store_real(rows, 5), operations = store_real(rows, 6);
		struct load load = { .owner = store_text(rows, 0),
				     .job = store_text(rows, 1),
				     .bytes_read = store_real(rows, 2),
				     .bytes_written = store_real(rows, 3),
				     .operations = store_real(rows, 4) };

		if (bytes > 0)
			load.byte_share = (load.bytes_read + load.bytes_written) / bytes;
		if (operations > 0)
			load.operation_share = load.operations / operations;
		if (seen(arg, &load)) {
			store_done(rows);
			return 0;
		}
	}
	return r;
}

/* --- the reasoner --- */

/* Evidence with its own texts. */
struct evidence {
	struct verdict_anomaly *anomalies;
	struct verdict_load *loads;
	size_t anomaly_count, anomaly_cap, load_count, load_cap;
	char **texts;
	size_t text_count, text_cap;
};

static void evidence_release(struct evidence *e)
{
	for (size_t i = 0; i < e->text_count; i++)
		free(e->texts[i]);
	free(e->texts);
	free(e->anomalies);
	free(e->loads);
}

static const char *keep_text(struct evidence *e, const char *text)
{
	e->texts = xgrow(e->texts, &e->text_cap, e->text_count + 1, sizeof(*e->texts));
	return e->texts[e->text_count++] = xstrdup(text);
}

/* Anomalies of nodes that began or were heard of lately. */
static int read_anomalies(struct site_db *site, int64_t since_ns, struct evidence *e,
			  struct err *err)
{
	struct statement *rows = store_query(
		site->store, err,
		"SELECT a.node, a.target, a.value FROM anomaly a LEFT JOIN (SELECT node, "
		"max(updated_ns) AS heard FROM node_load GROUP BY node) AS l ON l.node = a.node "
		"WHERE a.ended_ns IS NULL AND a.subject <> '" ANOMALY_SYSTEM "' AND (a.started_ns "
		">= ?1 OR l.heard >= ?1) ORDER BY a.id LIMIT ?2",
		"ii", since_ns, (int64_t)ANOMALIES_MAX);
	int r = rows ? 0 : -EIO;

	while (rows && (r = store_step(site->store, rows, err)) > 0) {
		const char *node = keep_text(e, store_text(rows, 0));
		const char *target = keep_text(e, store_text(rows, 1));

		e->anomalies = xgrow(e->anomalies, &e->anomaly_cap, e->anomaly_count + 1,
				     sizeof(*e->anomalies));
		e->anomalies[e->anomaly_count++] =
			(struct verdict_anomaly){ node, target, store_real(rows, 2) };
	}
	return r;
}

/* Loads on the targets of the anomalies. */
static int read_loads(struct site_db *site, int64_t since_ns, struct evidence *e, struct err *err)
{
	struct statement *rows = store_query(
		site->store, err,
		"SELECT node, owner, job, target, bytes_read + bytes_written, operations FROM "
		"node_load WHERE updated_ns >= ?1 AND target IN (SELECT target FROM anomaly WHERE "
		"ended_ns IS NULL) ORDER BY bytes_read + bytes_written DESC, operations DESC, "
		"node, owner, job LIMIT ?2",
		"ii", since_ns, (int64_t)LOADS_MAX);
	int r = rows ? 0 : -EIO;

	while (rows && (r = store_step(site->store, rows, err)) > 0) {
		const char *texts[4];

		for (int i = 0; i < 4; i++)
			texts[i] = keep_text(e, store_text(rows, i));
		e->loads = xgrow(e->loads, &e->load_cap, e->load_count + 1, sizeof(*e->loads));
		e->loads[e->load_count++] = (struct verdict_load){
			texts[0],	    texts[1], texts[2], texts[3], store_real(rows, 4),
			store_real(rows, 5)
		};
	}
	return r;
}

/* Stores a verdict. A new one, or one that says something else, is notified; returns 1 then. */
static int store_verdict(struct site_db *site, const struct verdict *v, int64_t now_ns,
			 struct err *err)
{
	AUTO_BUF struct buf cause = { 0 };
	int64_t lasting = store_first_number(
		site->store,
		store_query(site->store, err,
			    "SELECT id FROM anomaly WHERE ended_ns IS NULL AND subject = "
			    "'" ANOMALY_SYSTEM "' AND node = ?1 AND target = ?2",
			    "tt", v->node, v->target),
		err);

	verdict_put_cause(&cause, v);
	if (lasting < 0)
		return (int)lasting;
	if (lasting)
		return notify_rows(
			site,
			store_query(site->store, err,
				    "UPDATE anomaly SET owner = ?2, job = ?3, cause = ?4, detail = "
				    "?5, value = ?6 WHERE id = ?1 AND (owner <> ?2 OR job <> ?3 "
				    "OR cause <> ?4 OR detail <> ?5) RETURNING id",
				    "ittttd", lasting, v->owner, v->job, buf_text(&cause),
				    v->detail, v->value),
			err);
	return notify_rows(
		site,
		store_query(site->store, err,
			    "INSERT INTO anomaly (node, subject, owner, job, target, started_ns, "
			    "cause, detail, value) VALUES (?1, '" ANOMALY_SYSTEM "', ?2, ?3, ?4, "
			    "?5, ?6, ?7, ?8) RETURNING id",
			    "ttttittd", v->node, v->owner, v->job, v->target, now_ns,
			    buf_text(&cause), v->detail, v->value),
		err);
}

static bool is_in(const struct verdict *verdicts, size_t count, const char *node,
		  const char *target)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(verdicts[i].node, node) && !strcmp(verdicts[i].target, target))
			return true;
	return false;
}

struct ending {
	const struct verdict *verdicts;
	size_t count;
	int64_t *ids; /* of verdicts that hold no longer */
	size_t id_count, id_cap;
};

static int find_ended(void *arg, const struct anomaly *a)
{
	struct ending *ending = arg;

	if (strcmp(a->subject, ANOMALY_SYSTEM) != 0 ||
	    is_in(ending->verdicts, ending->count, a->node, a->target))
		return 0;
	ending->ids =
		xgrow(ending->ids, &ending->id_cap, ending->id_count + 1, sizeof(*ending->ids));
	ending->ids[ending->id_count++] = a->id;
	return 0;
}

/* Ends the verdicts that hold no longer. Returns their number. */
static int end_verdicts(struct site_db *site, const struct verdict *verdicts, size_t count,
			int64_t now_ns, struct err *err)
{
	struct ending ending = { .verdicts = verdicts, .count = count };
	int r = anomaly_list(site, find_ended, &ending, err);

	for (size_t i = 0; i < ending.id_count && r >= 0; i++) {
		r = store_run(site->store, err, "UPDATE anomaly SET ended_ns = ?2 WHERE id = ?1",
			      "ii", ending.ids[i], now_ns);
		if (r >= 0)
			r = notice_send(site, NOTICE_ANOMALY, ending.ids[i], err);
	}
	free(ending.ids);
	return r < 0 ? r : (int)ending.id_count;
}

static int store_verdicts(struct site_db *site, const struct evidence *e, int64_t now_ns,
			  struct err *err)
{
	struct verdict_evidence evidence = { e->anomalies, e->anomaly_count, e->loads,
					     e->load_count };
	struct verdict *verdicts = NULL;
	size_t count = verdict_judge(&evidence, &verdicts);
	int changed = end_verdicts(site, verdicts, count, now_ns, err);

	for (size_t i = 0; i < count && changed >= 0; i++) {
		int r = store_verdict(site, &verdicts[i], now_ns, err);

		changed = r < 0 ? r : changed + r;
	}
	verdict_free(verdicts, count);
	return changed;
}

/* Nodes believe a verdict only if its author is alive. Only one reasoner judges at a time. */
static int mark_reasoner(struct site_db *site, int64_t now_ns, struct err *err)
{
	int r = site_is_postgres(site)
			? store_execute(site->store,
					"SELECT pg_advisory_xact_lock(" REASONER_LOCK ")", err)
			: 0;

	return r < 0 ? r
		     : store_run(site->store, err,
				 "INSERT INTO source (node, sequence, changed) VALUES "
				 "('" REASONER "', 0, ?1) ON CONFLICT (node) DO UPDATE SET changed "
				 "= excluded.changed",
				 "i", now_ns);
}

static int judge_locked(struct site_db *site, int64_t now_ns, struct err *err)
{
	struct evidence e = { 0 };
	int r = mark_reasoner(site, now_ns, err);

	if (r >= 0)
		r = read_anomalies(site, now_ns - ANOMALY_STALE_NS, &e, err);
	if (r >= 0 && e.anomaly_count)
		r = read_loads(site, now_ns - ANOMALY_STALE_NS, &e, err);
	if (r >= 0)
		r = store_verdicts(site, &e, now_ns, err);
	evidence_release(&e);
	return r;
}

int anomaly_judge(struct site_db *site, int64_t now_ns, struct err *err)
{
	int changed, r = store_begin_shared(site->store, err);

	if (r < 0)
		return r;
	changed = judge_locked(site, now_ns, err);
	r = site_end(site, changed, err);
	return r < 0 ? r : changed;
}
