/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Notifications between the processes that use the database of a site: who waits for a change does
 * not have to ask for it again and again. PostgreSQL delivers them (LISTEN, NOTIFY) to those that
 * listen at that moment, after the transaction that sends them; SQLite does not have them. Every
 * user of the database can send them, so they only say that it is time to look.
 */
#ifndef SLUICE_SITE_NOTICE_H
#define SLUICE_SITE_NOTICE_H

#include <stdint.h>

struct err;
struct site_db;

enum notice {
	NOTICE_ANOMALY,	  /* channel sluice_anomaly: an anomaly has changed; its id */
	NOTICE_KNOWLEDGE, /* channel sluice_knowledge: something was learned; 0 */
	NOTICES
};

/* Does nothing with SQLite. */
int notice_send(struct site_db *site, enum notice notice, int64_t id, struct err *err);

/* -EOPNOTSUPP with SQLite. */
int notice_listen(struct site_db *site, enum notice notice, struct err *err);

/*
 * Waits up to timeout_ms for a notification that this connection listens for. Returns 1 and what it
 * says, 0 if there is none, -EOPNOTSUPP with SQLite.
 */
int notice_wait(struct site_db *site, int timeout_ms, enum notice *notice, int64_t *id,
		struct err *err);

#endif
