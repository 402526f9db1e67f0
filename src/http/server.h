/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An HTTP server for one user's browser: answers GET requests that may see everything the server's
 * user may see, so it lets nobody else in.
 *
 * On a unix socket (mode 0600), the kernel says who connects: only the server's own user and root
 * are answered. Over TCP, only loopback addresses are accepted, and a request needs the token of
 * the server: as `Authorization: Bearer`, as the cookie that the server has set, or once as
 * `?token=`, which the server turns into that cookie. The name of the host in a request must be one
 * of the loopback interface, also on a unix socket, which ssh forwards to: so no other web site can
 * reach the server through DNS.
 *
 * Each connection has a thread; their number, the size of requests and the time of slow clients
 * are limited. Answers have headers that forbid browsers to load anything from elsewhere, and to
 * run any script that is not one of the server's files.
 */
#ifndef SLUICE_HTTP_SERVER_H
#define SLUICE_HTTP_SERVER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct err;
struct http_server;
struct MHD_Connection;

struct http_request {
	const char *path; /* below the base path; starts with '/' */
	struct MHD_Connection *connection;
};

/* The value of a query parameter; NULL if the request lacks it. */
const char *http_query(const struct http_request *request, const char *name);

struct http_answer {
	unsigned status;  /* 200 unless the handler sets it */
	const char *type; /* "application/json; charset=utf-8" unless the handler sets it */
	struct buf body;  /* released by the server */
	/* Constant bytes instead of `body`; compressed, and sent as they are if the client accepts
	 * gzip, else unpacked. */
	const void *packed;
	size_t packed_bytes;
	const char *etag; /* NULL: must not be cached */
};

struct http_server_options {
	const char *address; /* absolute path of a socket, or HOST:PORT on loopback */
	const char *base;    /* path below which everything is served: "" or "/sluice" */
	/* Called by many threads. */
	void (*handle)(void *arg, const struct http_request *request, struct http_answer *answer);
	void *arg;
};

int http_server_start(struct http_server **server, const struct http_server_options *options,
		      struct err *err);
/* Ends all connections and removes the socket. Accepts NULL. */
void http_server_stop(struct http_server *server);

/* The TCP port, 0 for a unix socket. */
unsigned http_server_port(const struct http_server *server);
/* The token; NULL for a unix socket. */
const char *http_server_token(const struct http_server *server);

#endif
