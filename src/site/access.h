/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Who may see what in a site's PostgreSQL: the server enforces it, by roles and row-level security.
 *
 *   sluice_user    reads what concerns everybody, and the runs of the role that is logged in
 *   sluice_admin   reads everything
 *   sluice_node    the daemon: writes everything (its login role bypasses row-level security)
 *   sluice_web     'sluice serve --portal': takes the role of a user for each request
 * (site/portal.h). It has no rights of its own, and inherits none
 *
 * A user of the operating system is the role of the same name: with peer authentication, the server
 * asks the kernel who is at the other end of the socket. In an SQLite file there are no roles; who
 * may read the file may read everything.
 */
#ifndef SLUICE_SITE_ACCESS_H
#define SLUICE_SITE_ACCESS_H

#include <stddef.h>

struct err;
struct store;

#define ACCESS_ROLE_USER "sluice_user"
#define ACCESS_ROLE_ADMIN "sluice_admin"
#define ACCESS_ROLE_NODE "sluice_node"
#define ACCESS_ROLE_WEB "sluice_web"

/*
 * Creates roles, rights, policies, functions and views, or replaces them. The tables must have the
 * current version. Needs the rights of a superuser. Does nothing in SQLite.
 */
int access_init(struct store *store, struct err *err);

/* Lets a user of the operating system log in, with one of the roles above. */
int access_grant(struct store *store, const char *user, const char *role, struct err *err);

/* Takes the role from a user. */
int access_revoke(struct store *store, const char *user, const char *role, struct err *err);

/*
 * Makes the members of a group of the operating system, and root, administrators, and takes the
 * role from everybody else. changed receives how many users gained or lost it.
 */
int access_sync_group(struct store *store, const char *group, size_t *changed, struct err *err);

#endif
