/* SPDX-License-Identifier: BSD-3-Clause */
#include "site/portal.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/err.h"
#include "base/mem.h"
#include "site/site_internal.h"

#define WAIT_S 20
#define NAME_MAX_BYTES 63 /* PostgreSQL cuts longer names, and could take another user's */
#define NO_ROLE "none"	  /* means the role of the server */

struct portal {
	char *database;
	pthread_mutex_t lock;
	pthread_cond_t is_free;
	struct site_db *idle[PORTAL_CONNECTIONS];
	size_t idle_count, open_count;
};

bool portal_is_user(const char *name)
{
	size_t n = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				"0123456789._-");

	return n && !name[n] && n <= NAME_MAX_BYTES && name[0] != '-' && name[0] != '.' &&
	       strcasecmp(name, NO_ROLE) != 0;
}

/* --- connections --- */

/* The connection is closed if it is NULL. */
static void put_connection(struct portal *portal, struct site_db *site)
{
	pthread_mutex_lock(&portal->lock);
	if (site)
		portal->idle[portal->idle_count++] = site;
	else
		portal->open_count--;
	pthread_cond_signal(&portal->is_free);
	pthread_mutex_unlock(&portal->lock);
}

/* Waits until a connection is free, or may be opened: *site is then NULL. */
static int await_connection(struct portal *portal, struct site_db **site)
{
	struct timespec end;
	int r = 0;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += WAIT_S;
	*site = NULL;
	pthread_mutex_lock(&portal->lock);
	while (!r && !portal->idle_count && portal->open_count == PORTAL_CONNECTIONS)
		r = pthread_cond_timedwait(&portal->is_free, &portal->lock, &end);
	if (portal->idle_count) {
		*site = portal->idle[--portal->idle_count];
		r = 0;
	} else if (portal->open_count < PORTAL_CONNECTIONS) {
		portal->open_count++;
		r = 0;
	}
	pthread_mutex_unlock(&portal->lock);
	return r ? -EBUSY : 0;
}

/* NULL with err set, which is not NULL. */
static struct site_db *get_connection(struct portal *portal, struct err *err)
{
	struct site_db *site;

	if (await_connection(portal, &site) < 0) {
		err_set(err, EBUSY, "the database of the site is busy; try again later");
		return NULL;
	}
	if (!site && site_open(&site, portal->database, err) < 0)
		put_connection(portal, NULL);
	return site;
}

int portal_open(struct portal **made, const char *database, struct err *err)
{
	struct portal *portal = xcalloc(1, sizeof(*portal));
	struct site_db *site;
	int r = 0;

	portal->database = xstrdup(database);
	pthread_mutex_init(&portal->lock, NULL);
	pthread_cond_init(&portal->is_free, NULL);
	site = get_connection(portal, err);
	if (!site)
		r = -err->code;
	else if (!site_is_postgres(site))
		r = err_set(err, EINVAL,
			    "%s: an SQLite file has no users; 'sluice serve --portal' needs "
			    "PostgreSQL",
			    database);
	if (site)
		put_connection(portal, site);
	if (r < 0)
		portal_close(portal);
	else
		*made = portal;
	return r;
}

void portal_close(struct portal *portal)
{
	if (!portal)
		return;
	for (size_t i = 0; i < portal->idle_count; i++)
		site_close(portal->idle[i]);
	pthread_cond_destroy(&portal->is_free);
	pthread_mutex_destroy(&portal->lock);
	free(portal->database);
	free(portal);
}

/* --- roles --- */

static int begin(struct site_db *site, struct err *err)
{
	return store_execute(site->store, "BEGIN READ ONLY; SET LOCAL statement_timeout = 30000",
			     err);
}

/* A server that was restarted is noticed only when the connection is used. */
static int begin_connected(struct site_db *site, struct err *err)
{
	int r;

	if (!store_is_lost(site->store) && begin(site, NULL) >= 0)
		return 0;
	r = store_reconnect(site->store, err);
	return r < 0 ? r : begin(site, err);
}

/* The role lasts until the end of the transaction. */
static int take_role(struct site_db *site, const char *user, struct err *err)
{
	struct err why = { 0 };
	int r = store_run(site->store, &why, "SELECT set_config('role', ?1, true)", "t", user);
	int64_t is_restricted = 0;

	if (r >= 0)
		is_restricted = store_first_number(
			site->store,
			store_query(site->store, &why,
				    "SELECT count(*) FROM pg_catalog.pg_roles WHERE rolname = ?1 "
				    "AND rolname = current_user AND rolname <> session_user AND "
				    "rolcanlogin AND NOT rolsuper AND NOT rolbypassrls",
				    "t", user),
			&why);
	if (is_restricted > 0)
		return 0;
	if (store_is_lost(site->store))
		return err_set(err, ENOTCONN, "%s", why.text);
	return err_set(err, EACCES,
		       "%s: no access to the database of the site; an administrator gives it with "
		       "'sluice site grant %s'",
		       user, user);
}

int portal_enter(struct portal *portal, const char *user, struct site_db **out, struct err *err)
{
	struct site_db *site;
	int r;

	if (!portal_is_user(user))
		return err_set(err, EACCES, "the name of the user is not one of this site");
	site = get_connection(portal, err);
	if (!site)
		return -err->code;
	r = begin_connected(site, err);
	if (r >= 0)
		r = take_role(site, user, err);
	if (r < 0)
		portal_leave(portal, site);
	else
		*out = site;
	return r;
}

void portal_leave(struct portal *portal, struct site_db *site)
{
	if (store_end(site->store, 0, NULL) < 0) {
		site_close(site);
		site = NULL;
	}
	put_connection(portal, site);
}
