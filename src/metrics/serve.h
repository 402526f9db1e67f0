/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Serves metrics to Prometheus over HTTP: GET /metrics (and GET /-/healthy). One thread of its own.
 *
 * The address is "HOST:PORT", with a numeric host, or the absolute path of a unix socket.
 * Prometheus scrapes TCP addresses only; there, every local user can connect and the sender is not
 * known, so job-labelled metrics are served only to requests that carry the bearer token of
 * `token_file` (readable by the owner and the group that may see all jobs; created if it does not
 * exist). On a unix socket, the mode and group of the socket decide who can connect at all, and
 * SO_PEERCRED decides about jobs: root, the server's own user, and members of the group.
 */
#ifndef SLUICE_METRICS_SERVE_H
#define SLUICE_METRICS_SERVE_H

#include <sys/types.h>

struct err;
struct metrics;
struct metrics_server;

struct metrics_server_options {
	const char *address;
	const char *token_file; /* NULL or "": no token, so no job metrics over TCP */
	gid_t group;		/* may see job metrics; (gid_t)-1: none */
	/* Called before each answer, in the server's thread; may be NULL. */
	void (*update)(void *arg, struct metrics *metrics);
	void *arg;
};

/* metrics must outlive the server. -errno with a sentence on failure. */
int metrics_server_start(struct metrics_server **server, struct metrics *metrics,
			 const struct metrics_server_options *options, struct err *err);
void metrics_server_stop(struct metrics_server *server); /* accepts NULL */

/* The TCP port it listens on (the one that the kernel chose, if the address has port 0); 0 for a
 * unix socket. */
unsigned metrics_server_port(const struct metrics_server *server);

#endif
