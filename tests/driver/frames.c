/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A client of the daemon that sends what it should and what it must not: see kinds[]. Prints the
 * daemon's refusal, or "closed", "silent" (the connection is still open) or "accepted".
 *
 * usage: frames SOCKET KIND [NUMBER [MOST]]
 */
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "wire/frame.h"
#include "wire/sums.h"

#define PATIENCE_MS 600000 /* only to end a client of a daemon that hangs */

static const char *path;
static unsigned long most = -1ul; /* of the connections that the daemon should keep */

static int open_connection(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0) {
		perror(path);
		exit(1);
	}
	return fd;
}

/* Returns false if the daemon has closed the connection. */
static bool send_bytes(int fd, const void *bytes, size_t n)
{
	return send(fd, bytes, n, MSG_NOSIGNAL) == (ssize_t)n;
}

static bool send_buf(int fd, const struct buf *bytes)
{
	return send_bytes(fd, bytes->data, bytes->len);
}

/* Waits for an answer and prints it. */
static void print_answer(int fd)
{
	AUTO_BUF struct buf bytes = { 0 };
	struct pollfd wait = { fd, POLLIN, 0 };
	struct frame frame;
	ssize_t n = 1;

	while (poll(&wait, 1, PATIENCE_MS) > 0 && n > 0) {
		buf_reserve(&bytes, 65536);
		n = recv(fd, bytes.data + bytes.len, 65536, 0);
		bytes.len += n > 0 ? (size_t)n : 0;
	}
	if (frame_decode(&frame, buf_text(&bytes), bytes.len, FRAME_PAYLOAD_MAX, NULL) > 0)
		printf("%s: %.*s\n", frame_type_name(frame.type), (int)frame.length,
		       (const char *)frame.payload);
	else
		puts(n > 0 ? "silent" : "closed");
}

static void add_sums(struct buf *out, uint64_t sequence, uint32_t rows)
{
	AUTO_BUF struct buf payload = { 0 };
	struct sums_head head = { .filesystem = "/scratch", .target = "ost0", .rows = rows };
	struct sums_row row = { .operation = CLASS_WRITE, .calls = 3, .bytes = 4096, .ns = 1000 };

	buf_add(&payload, &head, sizeof(head));
	for (uint32_t i = 0; i < rows; i++)
		buf_add(&payload, &row, sizeof(row));
	frame_add(out, FRAME_SUMS, sequence, payload.data, payload.len);
}

/* Good messages; their number is checked by the daemon's status. */
static void send_sums(unsigned long number)
{
	int fd = open_connection();

	for (unsigned long i = 0; i < number; i++) {
		AUTO_BUF struct buf bytes = { 0 };

		add_sums(&bytes, i, 5);
		if (!send_buf(fd, &bytes)) {
			puts("closed");
			return;
		}
	}
	shutdown(fd, SHUT_WR);
	print_answer(fd);
}

/* One frame with a changed header, whose checksum is correct. */
static void send_changed(size_t offset, uint32_t value, size_t bytes)
{
	AUTO_BUF struct buf frame = { 0 }, again = { 0 };
	struct frame_header header;
	int fd = open_connection();

	add_sums(&frame, 1, 5);
	memcpy(frame.data + offset, &value, bytes);
	/* The checksum of a payload that equals the header's first 28 bytes. */
	frame_add(&again, FRAME_STATUS, 0, frame.data, offsetof(struct frame_header, head_check));
	memcpy(&header, again.data, sizeof(header));
	memcpy(frame.data + offsetof(struct frame_header, head_check), &header.check, 4);
	send_buf(fd, &frame);
	print_answer(fd);
}

static void send_version(unsigned long number)
{
	send_changed(offsetof(struct frame_header, version), number ? (uint32_t)number : 2, 2);
}

static void send_type(unsigned long number)
{
	send_changed(offsetof(struct frame_header, type), number ? (uint32_t)number : 99, 2);
}

static void send_huge(unsigned long number)
{
	send_changed(offsetof(struct frame_header, length), number ? (uint32_t)number : UINT32_MAX,
		     4);
}

static void send_garbage(unsigned long number)
{
	char bytes[4096];
	int fd = open_connection();

	srand((unsigned)number);
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)rand();
	for (int i = 0; i < 1000 && send_bytes(fd, bytes, sizeof(bytes)); i++)
		;
	print_answer(fd);
}

static void send_damaged(unsigned long number)
{
	AUTO_BUF struct buf bytes = { 0 };
	int fd = open_connection();

	(void)number;
	add_sums(&bytes, 1, 5);
	bytes.data[bytes.len - 1] ^= 1;
	send_buf(fd, &bytes);
	print_answer(fd);
}

/* Rows that do not fit their number, and an operation that does not exist. */
static void send_content(unsigned long number)
{
	AUTO_BUF struct buf bytes = { 0 };
	struct sums_head head = { .filesystem = "/", .rows = UINT32_MAX };
	struct {
		struct sums_head head;
		struct sums_row row;
	} payload = { { .filesystem = "/", .rows = 1 }, { .operation = 255 } };
	int fd = open_connection();

	if (number)
		frame_add(&bytes, FRAME_SUMS, 1, &payload, sizeof(payload));
	else
		frame_add(&bytes, FRAME_SUMS, 1, &head, sizeof(head));
	send_buf(fd, &bytes);
	print_answer(fd);
}

/* One byte at a time, `number` per second, up to a minute. */
static void send_slowly(unsigned long number)
{
	AUTO_BUF struct buf bytes = { 0 };
	int fd = open_connection();

	add_sums(&bytes, 1, 5);
	for (size_t i = 0; i < bytes.len - 1 && send_bytes(fd, bytes.data + i, 1); i++)
		clock_sleep_ns(NS_PER_S / (int64_t)(number ? number : 10));
	print_answer(fd);
}

/* Counts the connections that the daemon has not closed. It may close them at any time. */
static unsigned long count_kept(const int *fds, unsigned long number)
{
	unsigned long kept = 0;

	for (unsigned long i = 0; i < number; i++) {
		char byte;

		kept += recv(fds[i], &byte, 1, MSG_DONTWAIT | MSG_PEEK) < 0 && errno == EAGAIN;
	}
	return kept;
}

/* Prints how many connections the daemon keeps, as soon as it has refused those beyond MOST. */
static void print_kept(const int *fds, unsigned long number)
{
	unsigned long kept = count_kept(fds, number);

	for (int ms = 0; kept > most && ms < PATIENCE_MS; ms += 50) {
		clock_sleep_ns(50 * NS_PER_MS);
		kept = count_kept(fds, number);
	}
	printf("kept %lu\n", kept);
	fflush(stdout);
}

/* Connections that say nothing, until standard input ends. */
static void hold_connections(unsigned long number)
{
	struct rlimit limit = { number + 64, number + 64 };
	int *fds = calloc(number, sizeof(*fds));
	char byte;

	if (setrlimit(RLIMIT_NOFILE, &limit) != 0 || !fds) {
		perror("limit of open files");
		exit(1);
	}
	for (unsigned long i = 0; i < number; i++)
		fds[i] = open_connection();
	print_kept(fds, number);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	free(fds);
}

/* Connections that each send all of a long frame but its end. */
static void hold_memory(unsigned long number)
{
	AUTO_BUF struct buf payload = { 0 }, bytes = { 0 };
	struct rlimit limit = { number + 64, number + 64 };
	int *fds = calloc(number, sizeof(*fds));

	setrlimit(RLIMIT_NOFILE, &limit);
	buf_reserve(&payload, FRAME_CLIENT_MAX);
	memset(payload.data, 'x', FRAME_CLIENT_MAX);
	frame_add(&bytes, FRAME_ROWS_FIRST, 1, payload.data, FRAME_CLIENT_MAX);
	for (unsigned long i = 0; fds && i < number; i++) {
		fds[i] = open_connection();
		send_bytes(fds[i], bytes.data, bytes.len - 1);
	}
	if (fds)
		print_kept(fds, number);
	free(fds);
}

/* Descriptors that do not belong to a spool, with a message that takes none. */
static void send_descriptors(unsigned long number)
{
	AUTO_BUF struct buf bytes = { 0 };
	int fd = open_connection();
	union {
		char bytes[CMSG_SPACE(64 * sizeof(int))];
		struct cmsghdr align;
	} control = { { 0 } };
	struct msghdr message = { .msg_iovlen = 1, .msg_control = control.bytes };
	struct iovec part;

	number = number ? number : 1;
	add_sums(&bytes, 1, 5);
	part = (struct iovec){ bytes.data, bytes.len };
	message.msg_iov = &part;
	message.msg_controllen = CMSG_SPACE(number * sizeof(int));
	control.align.cmsg_level = SOL_SOCKET;
	control.align.cmsg_type = SCM_RIGHTS;
	control.align.cmsg_len = CMSG_LEN(number * sizeof(int));
	for (unsigned long i = 0; i < number; i++)
		memcpy(CMSG_DATA(&control.align) + i * sizeof(int), &(int){ 0 }, sizeof(int));
	if (sendmsg(fd, &message, MSG_NOSIGNAL) < 0)
		perror("sendmsg");
	shutdown(fd, SHUT_WR);
	print_answer(fd);
}

/* Asks for the status again and again, and never reads it. */
static void never_read(unsigned long number)
{
	AUTO_BUF struct buf bytes = { 0 };
	int fd = open_connection();

	frame_add(&bytes, FRAME_STATUS_REQUEST, 0, "", 0);
	for (unsigned long i = 0; i < (number ? number : 100000); i++) {
		if (!send_buf(fd, &bytes)) {
			puts("closed");
			return;
		}
	}
	puts("silent");
}

static const struct {
	const char *name;
	void (*run)(unsigned long number);
} kinds[] = {
	{ "sums", send_sums },
	{ "version", send_version },
	{ "type", send_type },
	{ "huge", send_huge },
	{ "garbage", send_garbage },
	{ "damaged", send_damaged },
	{ "content", send_content },
	{ "slow", send_slowly },
	{ "connections", hold_connections },
	{ "memory", hold_memory },
	{ "descriptors", send_descriptors },
	{ "deaf", never_read },
};

int main(int argc, char **argv)
{
	path = argc > 2 ? argv[1] : "";
	for (size_t i = 0; argc > 2 && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kinds[i].name, argv[2]) == 0) {
			most = argc > 4 ? strtoul(argv[4], NULL, 10) : most;
			kinds[i].run(argc > 3 ? strtoul(argv[3], NULL, 10) : 0);
			return 0;
		}
	}
	fprintf(stderr, "usage: frames SOCKET KIND [NUMBER [MOST]]\n");
	return 2;
}
