/* SPDX-License-Identifier: BSD-3-Clause
 *
 * usage: bench_ingest_messages SOCKET CLIENTS MESSAGES
 *
 * CLIENTS processes send MESSAGES messages of 1 KiB each to the daemon: frames SUMS, each of which
 * the client fills and seals on its own, and passes to the kernel together with others, BATCH at a
 * time. Prints the seconds from the start until the daemon has counted the last message, and how
 * many messages and calls it has counted and was sent.
 * Papers: SIOX-58.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jansson.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "daemon/status.h"
#include "wire/frame.h"
#include "wire/sums.h"

#define MESSAGE_BYTES 1024
#define BATCH 64
#define ROWS 37

struct message {
	struct frame_header header;
	struct sums_head head;
	struct sums_row rows[ROWS];
};

_Static_assert(sizeof(struct message) == MESSAGE_BYTES, "a message has 1 KiB");

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static int open_connection(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0)
		fail(path);
	return fd;
}

static void send_all(int fd, const void *bytes, size_t n)
{
	while (n) {
		ssize_t r = send(fd, bytes, n, MSG_NOSIGNAL);

		if (r < 0)
			fail("send");
		bytes = (const char *)bytes + r;
		n -= (size_t)r;
	}
}

/* Returns the number of calls in the message. */
static uint64_t fill_message(struct message *message, uint64_t number)
{
	uint8_t speed = (uint8_t)(number % SPEED_COUNT);
	uint64_t calls = 0;

	message->head =
		(struct sums_head){ .filesystem = "/scratch", .target = "ost7", .rows = ROWS };
	for (unsigned i = 0; i < ROWS; i++) {
		struct sums_row *row = &message->rows[i];

		*row = (struct sums_row){ .operation = (uint8_t)(i % CLASS_COUNT),
					  .speed = speed,
					  .calls = (uint32_t)((number + i) & 1023) + 1,
					  .bytes = number << 12,
					  .ns = number * 1000 + i };
		calls += row->calls;
	}
	frame_seal(&message->header, FRAME_SUMS, number, &message->head,
		   MESSAGE_BYTES - FRAME_HEADER_BYTES);
	return calls;
}

static uint64_t send_messages(const char *path, uint64_t count)
{
	static struct message batch[BATCH];
	int fd = open_connection(path);
	uint64_t calls = 0;

	for (uint64_t i = 0; i < count;) {
		size_t n = 0;

		for (; n < BATCH && i < count; n++, i++)
			calls += fill_message(&batch[n], i);
		send_all(fd, batch, n * sizeof(batch[0]));
	}
	close(fd);
	return calls;
}

/* What the daemon has counted: messages, and calls in *calls. */
static uint64_t ask_daemon(const char *path, uint64_t *calls)
{
	AUTO_BUF struct buf text = { 0 };
	struct err err = { 0 };
	json_t *object, *sums;
	uint64_t messages;

	if (status_ask(&text, path, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
	object = json_loadb(buf_text(&text), text.len, 0, NULL);
	sums = json_object_get(object, "sums");
	messages = (uint64_t)json_integer_value(json_object_get(sums, "messages"));
	*calls = (uint64_t)json_integer_value(json_object_get(sums, "calls"));
	json_decref(object);
	return messages;
}

int main(int argc, char **argv)
{
	unsigned clients = argc > 3 ? (unsigned)atoi(argv[2]) : 0;
	uint64_t count = argc > 3 ? strtoull(argv[3], NULL, 10) : 0, before, calls_before, messages;
	uint64_t calls, sent_calls = 0, *sent;
	int64_t start, end;
	int status;

	if (!clients || clients > 1024 || !count) {
		fprintf(stderr, "usage: bench_ingest_messages SOCKET CLIENTS MESSAGES\n");
		return 2;
	}
	sent = mmap(NULL, clients * sizeof(*sent), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (sent == MAP_FAILED)
		fail("mmap");
	before = ask_daemon(argv[1], &calls_before);
	start = clock_now_ns();
	for (unsigned i = 0; i < clients; i++) {
		pid_t pid = fork();

		if (pid < 0)
			fail("fork");
		if (pid == 0) {
			sent[i] = send_messages(argv[1], count);
			_exit(0);
		}
	}
	while (wait(&status) > 0)
		if (status != 0)
			return 1;
	do {
		messages = ask_daemon(argv[1], &calls) - before;
		end = clock_now_ns();
	} while (messages < clients * count && end - start < 600 * NS_PER_S);
	for (unsigned i = 0; i < clients; i++)
		sent_calls += sent[i];
	printf("%.3f %llu %llu %llu %llu\n", (double)(end - start) / NS_PER_S,
	       (unsigned long long)messages, (unsigned long long)(clients * count),
	       (unsigned long long)(calls - calls_before), (unsigned long long)sent_calls);
	return 0;
}
