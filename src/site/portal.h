/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Connections of a web server to the PostgreSQL of a site, each used for one user at a time.
 *
 * The login role of the server has no rights on tables (site/access.h). portal_enter() begins a
 * read-only transaction in which the server takes the role of the user, so PostgreSQL decides what
 * is visible. PostgreSQL takes the role back when the transaction ends, however it ends; a
 * connection whose transaction cannot be ended is closed. Used by many threads.
 */
#ifndef SLUICE_SITE_PORTAL_H
#define SLUICE_SITE_PORTAL_H

#include <stdbool.h>

struct err;
struct portal;
struct site_db;

#define PORTAL_CONNECTIONS 8 /* further requests wait */

/*
 * Connects once, to find out whether the database and the role of the server can be used. Functions
 * need an err that is not NULL.
 */
int portal_open(struct portal **portal, const char *database, struct err *err);
void portal_close(struct portal *portal); /* nobody uses a connection; accepts NULL */

/*
 * A connection with the role of the user, for queries that read; portal_leave() returns it.
 *
 *   -EACCES    the user has no role in the database, or one that policies do not restrict
 *   -EBUSY     all connections are in use for too long
 *   -ENOTCONN  the server cannot be reached
 */
int portal_enter(struct portal *portal, const char *user, struct site_db **site, struct err *err);
void portal_leave(struct portal *portal, struct site_db *site);

/* Can it be the name of a user? Letters, digits and ._- only, at most 63 characters. */
bool portal_is_user(const char *name);

#endif
