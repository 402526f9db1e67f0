/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The keeper: the first process of the daemon. It starts the worker, which does everything else,
 * and holds a copy of each descriptor that processes handed over, with the message that came along.
 * If the worker is killed or crashes, the keeper starts another one and gives it all of them. It is
 * small, has one thread, reads nothing from clients, and waits in poll().
 *
 * The worker tells the keeper what to hold, and when to let go. Both share a socket pair on which
 * each message is one packet.
 */
#ifndef SLUICE_DAEMON_KEEPER_H
#define SLUICE_DAEMON_KEEPER_H

#include <stddef.h>
#include <stdint.h>

#include "contract/frame.h"

struct err;

#define KEPT_BYTES 512 /* of the payload of a message */

/* A message with descriptors that a process has handed over. */
struct kept {
	uint64_t ticket; /* chosen by the worker; not 0 */
	uint32_t user;	 /* of the process that sent it */
	uint32_t bytes;	 /* of the payload */
	uint32_t fd_count;
	uint8_t payload[KEPT_BYTES];
	int fds[FRAME_DESCRIPTORS_MAX];
};

struct keeper_options {
	/* Runs in the worker's process, which exits with its result. `channel` leads to the keeper.
	 */
	int (*work)(void *arg, int channel);
	void *arg;
	size_t kept_max; /* messages that the keeper holds; more are not kept */
	/* Says what the keeper does: a worker was started again, and why. May be NULL. */
	void (*tell)(void *arg, const char *sentence);
};

/*
 * Runs workers until SIGTERM, SIGINT, or a worker that exits by itself. Returns the exit code of
 * the last worker, or -errno. The caller's process must have one thread.
 */
int keeper_run(const struct keeper_options *options, struct err *err);

/* --- the worker's side --- */

/*
 * Receives the next message that the keeper has held for this worker. The descriptors belong to the
 * caller. Returns 1; 0 after the last one; -errno if the keeper is gone.
 */
int keeper_next(int channel, struct kept *kept);

/*
 * Asks the keeper to hold copies of the descriptors, which stay open here as well. Waits at most a
 * second. Returns -errno if the keeper cannot be reached; then nothing is held.
 */
int keeper_hold(int channel, const struct kept *kept);

/* The spool of this ticket is in the trace: the keeper closes its copies. */
int keeper_drop(int channel, uint64_t ticket);

/* The worker is ready: clients are served from now on. */
int keeper_ready(int channel);

#endif
