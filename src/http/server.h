/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An HTTP server for one user's browser: answers requests that may see everything the server's
 * user may see, so it lets nobody else in.
 *
 * On a unix socket (mode 0600), the kernel says who connects: only the server's own user and root
 * are answered. Over TCP, only loopback addresses are accepted, and a request needs the token of
 * the server: as `Authorization: Bearer`, as the cookie that the server has set, or once as
 * `?token=`, which the server turns into that cookie. The name of the host in a request must be one
 * of the loopback interface, also on a unix socket, which ssh forwards to: so no other web site can
 * reach the server through DNS. Requests that a browser marks as made by another site's page are
 * refused unless they open a page.
 *
 * A request that changes something is a POST request to a path that permits it. Its body is JSON of
 * at most HTTP_BODY_MAX bytes, and it must have the header "X-Sluice: 1", which the page of another
 * site cannot send; if the browser names an origin, it must be this server.
 *
 * An answer may last: a stream of events (server-sent events) ends when its handler says so, when
 * the client has gone, or when the server is stopped. At most HTTP_STREAMS_MAX are open at a time.
 *
 * A server behind an authenticating proxy (struct http_proxy) answers the requests of many users.
 * It listens on a unix socket, and asks the kernel whether the process that connects is the proxy;
 * nobody else is answered, not even root. Only then is the header believed in which the proxy names
 * the user. The proxy decides which names of the host it answers to.
 *
 * Each connection has a thread; their number, the size of requests and the time of slow clients
 * are limited. Answers have headers that forbid browsers to load anything from elsewhere, and to
 * run any script that is not one of the server's files.
 */
#ifndef SLUICE_HTTP_SERVER_H
#define SLUICE_HTTP_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/buf.h"

struct err;
struct http_server;
struct MHD_Connection;

#define HTTP_BODY_MAX (64u * 1024)
#define HTTP_STREAMS_MAX 16

enum http_method { HTTP_GET = 1, HTTP_POST = 2 }; /* HEAD is answered as GET */

struct http_request {
	enum http_method method;
	const char *path; /* below the base path; starts with '/' */
	const char *user; /* whom the proxy has named; NULL without a proxy */
	const char *body; /* of a POST request; a zero byte follows it */
	size_t body_bytes;
	struct MHD_Connection *connection;
};

/* The value of a query parameter; NULL if the request lacks it. */
const char *http_query(const struct http_request *request, const char *name);

/* A stream of events. All hooks are called by the thread of the connection. */
struct http_stream {
	/*
	 * Appends what has happened since the last call to `piece` (http_put_event()), or nothing.
	 * Called at once and then every period_ms. It must not wait for anything. Returns false to
	 * end the stream after this piece and an event named "end", after which browsers do not
	 * connect again.
	 */
	bool (*next)(void *arg, struct buf *piece);
	void (*release)(void *arg); /* called once, even if next() was never called; optional */
	void *arg;
	unsigned period_ms; /* 0: 500 */
};

/* Appends an event. The name is a word; the data may have several lines. */
void http_put_event(struct buf *piece, const char *name, const char *data);

struct http_answer {
	unsigned status;  /* 200 unless the handler sets it */
	const char *type; /* "application/json; charset=utf-8" unless the handler sets it */
	struct buf body;  /* released by the server */
	/* Constant bytes instead of `body`; compressed, and sent as they are if the client accepts
	 * gzip, else unpacked. */
	const void *packed;
	size_t packed_bytes;
	const char *etag; /* NULL: must not be cached */
	/* Instead of `body`, if it has next(); the type is then "text/event-stream". */
	struct http_stream stream;
	const char *allow; /* with status 405: the methods */
};

struct http_proxy {
	uid_t user;	    /* as whom the proxy runs */
	gid_t group;	    /* of the socket, so that the proxy can connect */
	const char *header; /* that names the user */
};

struct http_server_options {
	const char *address;		/* absolute path of a socket, or HOST:PORT on loopback */
	const char *base;		/* path below which everything is served: "" or "/sluice" */
	const struct http_proxy *proxy; /* NULL: none */
	/* Called by many threads. */
	void (*handle)(void *arg, const struct http_request *request, struct http_answer *answer);
	/* The methods of a path below the base; NULL: HTTP_GET for all. */
	unsigned (*methods)(void *arg, const char *path);
	void *arg;
	unsigned patience_s; /* for clients that send or receive nothing, and for a body; 0: 30 */
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
