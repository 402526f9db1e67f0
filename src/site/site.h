/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The site database: what the runs of all users of a site did, in PostgreSQL 15 or later, or in an
 * SQLite file with the same tables (store/schema.h; docs/reference/site.md).
 *
 *   build.h    turns a finished trace into payloads: rows of tables, which any node can send
 *   rows.h     the encoding of a payload
 *   access.h   roles, row-level security, users
 *   forget.h   retention, and removal of users and runs
 *   archive.h  activities that moved to Parquet
 *   learn.h    expectations that are learned from stored activities, and served to programs
 *   anomaly.h  anomalies, loads, and the reasoner of the system
 *
 * A site is used by one thread of the process that opened it. libpq is loaded when a PostgreSQL
 * database is opened for the first time; it is not linked.
 */
#ifndef SLUICE_SITE_SITE_H
#define SLUICE_SITE_SITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct site_db;
struct store;

/*
 * Opens the database: a connection string ("host=/run/postgresql dbname=sluice",
 * "postgresql://...") or the path of an SQLite file, which is created if it is missing. A
 * PostgreSQL database must have the schema already ('sluice site init'). Errors say what to do:
 *
 *   -ENOTCONN  the server cannot be reached; try again later
 *   -EACCES    it refuses the user, or the user's role lacks a right
 *   -ENODATA   the database has no tables of Sluice
 *   -EPROTO    its schema, or the server, has another version
 *   -ENOSYS    libpq is missing
 */
int site_open(struct site_db **site, const char *database, struct err *err);
/* The same, but -ENOENT if the SQLite file is missing. */
int site_open_existing(struct site_db **site, const char *database, struct err *err);
void site_close(struct site_db *site);

/* The same database as a store, for store/knowledge.h, store/studies.h and the like. */
struct store *site_store(struct site_db *site);

/*
 * Applies one payload of build.h in one transaction, exactly once. `node` names the sender for
 * ever: the id of its queue (struct frame, stream), at most 64 characters. Its payloads have
 * ascending sequence numbers and are applied in that order. Returns
 *
 *   1          it is applied and durable
 *   0          a payload with this or a later number of the node was applied before: nothing to do
 *   -EBADMSG   it is invalid and never can be applied: count it, drop it, go on with the next
 *   -ENOTCONN  the connection is lost: nothing was applied. Call again, later: every call
 *              reconnects first
 *   other      nothing was applied; err says why (full disk, missing right). Retry later
 */
int site_apply(struct site_db *site, const char *node, uint64_t sequence, const void *payload,
	       size_t bytes, struct err *err);

/*
 * Applies several payloads of one node in one transaction, which costs one sync of the disk. All
 * of them are applied, or none. first is the sequence number of payloads[0]; the others follow
 * without a gap. Payloads that were applied before are skipped. Results as above; after -EBADMSG
 * *bad is the index of the invalid payload: apply those before it, drop it.
 */
struct site_payload {
	const void *bytes;
	size_t count;
};
int site_apply_batch(struct site_db *site, const char *node, uint64_t first,
		     const struct site_payload *payloads, size_t count, size_t *bad,
		     struct err *err);

/* The last sequence number of the node that was applied; 0: none. */
int site_applied(struct site_db *site, const char *node, uint64_t *sequence, struct err *err);

#endif
