/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Opens the database and applies payloads. The row of `source` is locked first, so that a payload
 * that an earlier, lost connection is still committing is waited for and then found to be applied.
 */
#include "site/site.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "base/mem.h"
#include "site/site_internal.h"

#define NODE_MAX 64

int64_t site_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Rows of users who are subject to policies are inserted one by one. */
static int choose_way(struct site_db *site, struct err *err)
{
	int64_t restricted;

	/* A transaction that exceeds the cache of SQLite would be written to disk twice. */
	if (!site_is_postgres(site))
		return store_execute(site->store, "PRAGMA cache_size = -65536", err);
	restricted = store_first_number(
		site->store,
		store_query(site->store, err,
			    "SELECT CASE WHEN row_security_active('run') THEN 1 ELSE 0 END", ""),
		err);
	site->copies = !restricted;
	return restricted < 0 ? (int)restricted : 0;
}

/* Takes over the store. */
static int open_tables(struct site_db **site, struct store *store, struct err *err)
{
	struct site_db *made = xcalloc(1, sizeof(*made));
	int r;

	made->store = store;
	made->inserts = xcalloc(schema_table_count, sizeof(char *));
	made->formats = xcalloc(schema_table_count, sizeof(char *));
	r = choose_way(made, err);
	if (r < 0)
		site_close(made);
	else
		*site = made;
	return r;
}

int site_open(struct site_db **site, const char *database, struct err *err)
{
	struct store *store = NULL;
	int r = store_open(&store, database, err);

	return r < 0 ? r : open_tables(site, store, err);
}

int site_open_existing(struct site_db **site, const char *database, struct err *err)
{
	struct store *store = NULL;
	int r = store_open_existing(&store, database, err);

	return r < 0 ? r : open_tables(site, store, err);
}

void site_close(struct site_db *site)
{
	if (!site)
		return;
	store_close(site->store);
	for (size_t i = 0; i < schema_table_count; i++) {
		free(site->inserts[i]);
		free(site->formats[i]);
	}
	free(site->inserts);
	free(site->formats);
	buf_release(&site->tuples);
	free(site);
}

struct store *site_store(struct site_db *site)
{
	return site->store;
}

bool site_is_postgres(const struct site_db *site)
{
	return store_dialect(site->store) == DIALECT_POSTGRES;
}

int site_end(struct site_db *site, int result, struct err *err)
{
	int r = store_end_with(site->store, result, err);

	if (r < 0) {
		site->day_count = 0;
		site->uuid[0] = '\0';
	}
	return r;
}

/* Locks the row of the node and returns its last sequence number, or -errno. */
static int64_t lock_source(struct site_db *site, const char *node, struct err *err)
{
	struct err why = { 0 };
	int64_t sequence = store_first_number(
		site->store,
		store_query(site->store, &why,
			    "INSERT INTO source (node, sequence, changed) VALUES (?1, 0, ?2) "
			    "ON CONFLICT (node) DO UPDATE SET changed = excluded.changed "
			    "RETURNING sequence",
			    "ti", node, site_now_ns()),
		&why);

	if (sequence < 0 && err)
		*err = why;
	return sequence < 0 && why.code ? -why.code : sequence;
}

static int set_source(struct site_db *site, const char *node, uint64_t sequence, struct err *err)
{
	return store_run(site->store, err, "UPDATE source SET sequence = ?2 WHERE node = ?1", "ti",
			 node, (int64_t)sequence);
}

static int apply_locked(struct site_db *site, const char *node, uint64_t first,
			const struct site_payload *payloads, size_t count, struct err *err)
{
	int64_t done = lock_source(site, node, err);
	int r = 0;

	if (done < 0)
		return (int)done;
	if (first + count - 1 <= (uint64_t)done)
		return 0;
	for (size_t i = 0; i < count && !r; i++)
		if (first + i > (uint64_t)done)
			r = site_insert(site, payloads[i].bytes, payloads[i].count, err);
	if (!r)
		r = set_source(site, node, first + count - 1, err);
	return r < 0 ? r : 1;
}

static int check_payloads(const char *node, const struct site_payload *payloads, size_t count,
			  size_t *bad, struct err *err)
{
	if (!*node || strlen(node) > NODE_MAX)
		return err_set(err, EINVAL, "the id of a node must have 1 to %d characters",
			       NODE_MAX);
	for (size_t i = 0; i < count; i++) {
		int r = rows_check(payloads[i].bytes, payloads[i].count, err);

		if (r < 0) {
			*bad = i;
			return r;
		}
	}
	return 0;
}

int site_apply_batch(struct site_db *site, const char *node, uint64_t first,
		     const struct site_payload *payloads, size_t count, size_t *bad,
		     struct err *err)
{
	int r, applied;

	if (!count)
		return 0;
	r = check_payloads(node, payloads, count, bad, err);
	if (r >= 0 && store_is_lost(site->store)) {
		site->day_count = 0;
		site->uuid[0] = '\0';
		r = store_reconnect(site->store, err);
	}
	if (r >= 0)
		r = store_begin_shared(site->store, err);
	if (r < 0)
		return r;
	/* Another process may have removed the run in the meantime. */
	site->uuid[0] = '\0';
	applied = apply_locked(site, node, first, payloads, count, err);
	r = site_end(site, applied, err);
	/* The payloads were checked. A refusal of the server has another reason; which one of
	 * several payloads it concerns is unknown. */
	if (r == -EBADMSG)
		*bad = 0;
	return r < 0 ? r : applied;
}

int site_apply(struct site_db *site, const char *node, uint64_t sequence, const void *payload,
	       size_t bytes, struct err *err)
{
	struct site_payload one = { payload, bytes };
	size_t bad = 0;

	return site_apply_batch(site, node, sequence, &one, 1, &bad, err);
}

int site_applied(struct site_db *site, const char *node, uint64_t *sequence, struct err *err)
{
	int64_t found = store_first_number(
		site->store,
		store_query(site->store, err, "SELECT sequence FROM source WHERE node = ?1", "t",
			    node),
		err);

	if (found < 0)
		return (int)found;
	*sequence = (uint64_t)found;
	return 0;
}
