/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One connection to the daemon: receives bytes and descriptors and cuts them into frames. A client
 * may be hostile. It costs sizeof(struct client), and up to FRAME_CLIENT_MAX bytes while a frame is
 * incomplete; complete frames are decoded in the buffer of the thread, without a copy. Descriptors
 * belong to the first frame that is completed after they arrived.
 */
#ifndef SLUICE_DAEMON_CLIENT_H
#define SLUICE_DAEMON_CLIENT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/counters.h"
#include "wire/frame.h"

#define CLIENT_ROOM_BYTES (256u << 10) /* of the thread's buffer */
#define CLIENT_GONE 1		       /* the peer has closed the connection */

struct client {
	int fd;
	uid_t user;    /* SO_PEERCRED */
	pid_t process; /* the same */
	int64_t deadline_ns;
	uint8_t *partial; /* an incomplete frame; NULL: none */
	uint32_t partial_bytes, partial_need;
	int fds[FRAME_DESCRIPTORS_MAX];
	uint32_t fd_count;
	struct client *next, *previous; /* of the server's thread */
};

struct client_room {
	uint8_t *bytes; /* CLIENT_ROOM_BYTES */
	struct counters *counters;
	int64_t now_ns;
	int64_t timeout_ns; /* to complete a frame */
	int64_t idle_ns;    /* to begin one */
	/*
	 * Handles one frame. It may take descriptors of the client over by setting fd_count to 0;
	 * all others are closed afterwards. Returns 0, or -1 - enum refusal.
	 */
	int (*handle)(void *arg, struct client *client, const struct frame *frame);
	void *arg;
};

/*
 * Receives what is there, at most about CLIENT_ROOM_BYTES, so that a busy client does not keep
 * others waiting. Returns 0, CLIENT_GONE, or -1 - enum refusal.
 */
int client_receive(struct client *client, const struct client_room *room);

/* Sends one frame without waiting. Returns 0 or -1 - enum refusal. */
int client_send(struct client *client, uint16_t type, const void *payload, size_t n);

/* Closes the connection and releases all but the structure itself. */
void client_release(struct client *client, struct counters *counters);

#endif
