/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The worker: the process of the daemon that serves clients. Its threads are those of the server,
 * which receive messages; its first thread handles signals. daemon/keeper.h says what happens when
 * it is killed.
 * Papers: SIOX-6.
 */
#ifndef SLUICE_DAEMON_WORKER_H
#define SLUICE_DAEMON_WORKER_H

#include <stdint.h>

struct config;
struct err;

struct worker_options {
	const struct config *config;
	int listener;
	uint64_t clients_max; /* site.clients within the limit of open files */
	/* Tells the operator what happens: a line of the journal. */
	void (*tell)(const char *sentence);
};

/*
 * Serves until SIGTERM or SIGINT. Returns 0, or -errno if the worker cannot start. channel leads to
 * the keeper.
 */
int worker_run(const struct worker_options *options, int channel, struct err *err);

#endif
