/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The web application: serves the pages (web/, compiled into the program) and the data behind them
 * as JSON (docs/reference/api.md), to one user or, behind a proxy, to the users of a site.
 *
 * It reads the traces of the directory trace.dir, the user's store and models, and the database of
 * the site. It changes the tags of runs, and stops and resumes tunings if the user asks for it. Runs
 * that were read stay in memory, at most RUN_CACHE_MAX of them (web/run_cache.h); probe data and
 * models are read by one request at a time (web/probe_view.h).
 *
 * For the users of a site, it reads the database with the role of the user whom the proxy names
 * (site/portal.h), and keeps nothing.
 */
#ifndef SLUICE_WEB_WEB_H
#define SLUICE_WEB_WEB_H

struct config;
struct err;
struct http_proxy;
struct web;

struct web_options {
	const struct config *config; /* must outlive the application */
	const char *directory;	     /* of traces */
	const char *address;	     /* as in struct http_server_options */
	const char *base;
	/* Of a site, instead of the directory; NULL: of one user. */
	const char *database;
	const struct http_proxy *proxy;
};

int web_start(struct web **web, const struct web_options *options, struct err *err);
void web_stop(struct web *web); /* accepts NULL */

/* The TCP port and the token; 0 and NULL for a unix socket. */
unsigned web_port(const struct web *web);
const char *web_token(const struct web *web);

#endif
