/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The server: a bounded number of threads that accept connections and receive frames with epoll. It
 * refuses clients that exceed a limit, and tells them why if they read it. No thread ever waits for
 * a client.
 */
#ifndef SLUICE_DAEMON_SERVER_H
#define SLUICE_DAEMON_SERVER_H

#include <stddef.h>
#include <stdint.h>

#include "daemon/client.h"

struct err;
struct server;

struct server_options {
	int listener; /* a listening socket; stays open */
	unsigned threads;
	uint64_t clients_max;
	uint64_t user_max; /* connections of one user; root and the daemon's user are exempt */
	int64_t timeout_ns, idle_ns; /* as in struct client_room */
	struct counters *counters;
	/* As in struct client_room; called by all threads. `thread` is their number. */
	int (*handle)(void *arg, unsigned thread, struct client *client, const struct frame *frame);
	void *arg;
};

int server_start(struct server **server, const struct server_options *options, struct err *err);

/* Closes all connections and joins the threads. Accepts NULL. */
void server_stop(struct server *server);

#endif
