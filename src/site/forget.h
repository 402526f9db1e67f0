/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Removes data everywhere: rows in all tables, partitions that become empty, and the archive.
 * What is still on its way (in the queue of a node) is refused when it arrives. Nodes ask what was
 * forgotten, and remove their traces of it.
 */
#ifndef SLUICE_SITE_FORGET_H
#define SLUICE_SITE_FORGET_H

#include <stdint.h>

struct err;
struct site_db;

struct forget_totals {
	uint64_t runs, archives;
	uint64_t partitions; /* that were dropped */
};

/* Removes a run by its id. -ENOENT: there is no such run, or the user may not see it. */
int forget_run(struct site_db *site, const char *archive, const char *uuid,
	       struct forget_totals *totals, struct err *err);

/* Removes all runs, tunings, hint statistics and anomalies of a user. */
int forget_user(struct site_db *site, const char *archive, const char *user,
		struct forget_totals *totals, struct err *err);

/*
 * Calls `seen` for what was forgotten after *since_ns (ns since 1970), and sets that to the time of
 * the last of them: the id of a run, or "user:NAME". What began before before_ns is meant.
 */
int forget_list(struct site_db *site, int64_t *since_ns,
		void (*seen)(void *arg, const char *what, int64_t before_ns), void *arg,
		struct err *err);

/* Drops partitions without rows, and adds their number. Only for roles that see all rows. */
int forget_compact(struct site_db *site, uint64_t *partitions, struct err *err);

/* Frees the space of deleted rows, so that it can be overwritten, as far as the role may do so. */
int forget_vacuum(struct site_db *site, struct err *err);

#endif
