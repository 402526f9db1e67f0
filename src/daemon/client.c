/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/client.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/integer.h"
#include "base/mem.h"

static int refuse(enum refusal why)
{
	return -1 - (int)why;
}

static int refuse_frame(int problem)
{
	switch (problem) {
	case -EPROTONOSUPPORT:
		return refuse(REFUSAL_VERSION);
	case -ENOMSG:
		return refuse(REFUSAL_TYPE);
	case -EMSGSIZE:
		return refuse(REFUSAL_LENGTH);
	case -EBADMSG:
		return refuse(REFUSAL_DAMAGED);
	default:
		return refuse(REFUSAL_GARBAGE);
	}
}

static void drop_descriptors(struct client *client)
{
	while (client->fd_count)
		close(client->fds[--client->fd_count]);
}

static void drop_partial(struct client *client, struct counters *counters)
{
	if (!client->partial)
		return;
	counters_return_memory(counters, client->partial_need);
	free(client->partial);
	client->partial = NULL;
	client->partial_bytes = client->partial_need = 0;
}

void client_release(struct client *client, struct counters *counters)
{
	drop_descriptors(client);
	drop_partial(client, counters);
	close(client->fd);
}

/* Takes the descriptors of a message. False: there are too many; all of them are closed. */
static bool take_descriptors(struct client *client, struct msghdr *message)
{
	bool fits = !(message->msg_flags & MSG_CTRUNC);

	for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
		size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < count; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(fd));
			if (client->fd_count < FRAME_DESCRIPTORS_MAX)
				client->fds[client->fd_count++] = fd;
			else {
				close(fd);
				fits = false;
			}
		}
	}
	return fits;
}

/* Returns the number of bytes; 0 if there are none now; CLIENT_GONE and refusals as -errno. */
static ssize_t receive(struct client *client, void *to, size_t room)
{
	union {
		char bytes[CMSG_SPACE(FRAME_DESCRIPTORS_MAX * sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec part = { to, room };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = control.bytes,
				  .msg_controllen = sizeof(control.bytes) };
	ssize_t n = recvmsg(client->fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? -EAGAIN : -ECONNRESET;
	if (!take_descriptors(client, &message))
		return -EBADF;
	return n == 0 ? -ECONNRESET : n;
}

static int handle(struct client *client, const struct client_room *room, const struct frame *frame)
{
	int r = room->handle(room->arg, client, frame);

	drop_descriptors(client);
	return r;
}

/* Keeps the start of an incomplete frame, with room for `need` bytes. */
static int keep_partial(struct client *client, const struct client_room *room, const void *bytes,
			size_t n, size_t need)
{
	if (!counters_take_memory(room->counters, need))
		return refuse(REFUSAL_MEMORY);
	client->partial = xmalloc(need);
	memcpy(client->partial, bytes, n);
	client->partial_bytes = (uint32_t)n;
	client->partial_need = (uint32_t)need;
	client->deadline_ns = room->now_ns + room->timeout_ns;
	return 0;
}

/* The header of the partial frame is complete: makes room for its payload. */
static int grow_partial(struct client *client, const struct client_room *room, size_t need)
{
	if (!counters_take_memory(room->counters, need - client->partial_need))
		return refuse(REFUSAL_MEMORY);
	client->partial = xrealloc(client->partial, need, 1);
	client->partial_need = (uint32_t)need;
	return 0;
}

/*
 * Receives the rest of a partial frame into its own buffer, so that a client that sends it byte by
 * byte costs no more than one that does not.
 */
static int receive_rest(struct client *client, const struct client_room *room)
{
	struct frame frame;
	size_t need;
	ssize_t n = receive(client, client->partial + client->partial_bytes,
			    client->partial_need - client->partial_bytes);
	int r;

	if (n < 0)
		return n == -EAGAIN ? 0 : n == -EBADF ? refuse(REFUSAL_DESCRIPTORS) : CLIENT_GONE;
	client->partial_bytes += (uint32_t)n;
	counters_add(&room->counters->bytes, (uint64_t)n);
	r = frame_decode(&frame, client->partial, client->partial_bytes, FRAME_CLIENT_MAX, &need);
	if (r < 0)
		return refuse_frame(r);
	if (r == 0)
		return need > client->partial_need ? grow_partial(client, room, need) : 0;
	counters_add(&room->counters->frames, 1);
	r = handle(client, room, &frame);
	drop_partial(client, room->counters);
	client->deadline_ns = room->now_ns + room->idle_ns;
	return r;
}

static int decode_all(struct client *client, const struct client_room *room, size_t n)
{
	size_t at = 0, need = 0, frames = 0;
	int r = 0;

	while (at < n && r == 0) {
		struct frame frame;
		int size = frame_decode(&frame, room->bytes + at, n - at, FRAME_CLIENT_MAX, &need);

		if (size == 0)
			break;
		if (size < 0)
			return refuse_frame(size);
		r = handle(client, room, &frame);
		at += (size_t)size;
		frames++;
	}
	counters_add(&room->counters->frames, frames);
	client->deadline_ns = room->now_ns + room->idle_ns;
	return r || at == n ? r : keep_partial(client, room, room->bytes + at, n - at, need);
}

int client_receive(struct client *client, const struct client_room *room)
{
	ssize_t n;

	if (client->partial) {
		int r = receive_rest(client, room);

		if (r || client->partial)
			return r;
	}
	n = receive(client, room->bytes, CLIENT_ROOM_BYTES);
	if (n < 0)
		return n == -EAGAIN ? 0 : n == -EBADF ? refuse(REFUSAL_DESCRIPTORS) : CLIENT_GONE;
	counters_add(&room->counters->bytes, (uint64_t)n);
	return decode_all(client, room, (size_t)n);
}

int client_send(struct client *client, uint16_t type, const void *payload, size_t n)
{
	AUTO_BUF struct buf bytes = { 0 };

	if (frame_add(&bytes, type, 0, payload, n) < 0)
		return refuse(REFUSAL_LENGTH);
	if (send(client->fd, bytes.data, bytes.len, MSG_DONTWAIT | MSG_NOSIGNAL) !=
	    (ssize_t)bytes.len)
		return refuse(REFUSAL_READER);
	return 0;
}
