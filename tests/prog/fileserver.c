/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A small file server over TCP, and its client, to test that calls are matched across connections.
 *
 *   fileserver serve threads|events FILE PORTFILE CONNECTIONS [ADDRESS]
 *   fileserver write LOG PORTFILE CONNECTIONS WRITES [ADDRESS]
 *
 * ADDRESS is that of the server (IPv4, default 127.0.0.1). The server writes its port to PORTFILE
 * and ends when it has served that many connections. With "threads", each connection has a thread,
 * which reads the head and the data of a request by separate calls; with "events", one thread
 * serves all by poll(), and reads what there is.
 *
 * The client makes WRITES writes over all connections, one thread each, and waits for the reply
 * after each write. Every write has an offset of its own. Before it sends the request, it writes
 * one byte at that offset of LOG: so a trace says, without looking at any connection, which request
 * a call is.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define DATA_MAX 6000
#define CONNECTIONS_MAX 64

struct head {
	uint64_t offset;
	uint64_t bytes;
};

struct request {
	struct head head;
	char data[DATA_MAX];
};

static int file;
static const char *host = "127.0.0.1";

#define CHECK(condition)                                                \
	do {                                                            \
		if (!(condition)) {                                     \
			fprintf(stderr, "%s:%d: ", __FILE__, __LINE__); \
			perror(#condition);                             \
			exit(1);                                        \
		}                                                       \
	} while (0)

/* Returns 0 at the end of the stream. */
static int receive(int fd, void *into, size_t bytes)
{
	for (size_t done = 0; done < bytes;) {
		ssize_t n = recv(fd, (char *)into + done, bytes - done, 0);

		CHECK(n >= 0);
		if (n == 0)
			return 0;
		done += (size_t)n;
	}
	return 1;
}

static void serve_request(int fd, const struct request *r)
{
	CHECK(pwrite(file, r->data, r->head.bytes, (off_t)r->head.offset) ==
	      (ssize_t)r->head.bytes);
	CHECK(send(fd, &r->head.offset, sizeof(r->head.offset), 0) == sizeof(r->head.offset));
}

static void *serve_connection(void *arg)
{
	int fd = (int)(intptr_t)arg;
	struct request r;

	while (receive(fd, &r.head, sizeof(r.head))) {
		CHECK(r.head.bytes <= DATA_MAX);
		CHECK(receive(fd, r.data, r.head.bytes));
		serve_request(fd, &r);
	}
	close(fd);
	return NULL;
}

static void serve_threads(int listener, int connections)
{
	pthread_t threads[CONNECTIONS_MAX];

	for (int i = 0; i < connections; i++) {
		int fd = accept(listener, NULL, NULL);

		CHECK(fd >= 0);
		CHECK(pthread_create(&threads[i], NULL, serve_connection, (void *)(intptr_t)fd) ==
		      0);
	}
	for (int i = 0; i < connections; i++)
		pthread_join(threads[i], NULL);
}

/* Reads what there is of a request. Returns 0 at the end of the stream. */
static int serve_event(int fd, struct request *r, size_t *have)
{
	ssize_t n = recv(fd, (char *)r + *have, sizeof(*r) - *have, 0);

	CHECK(n >= 0);
	*have += (size_t)n;
	if (*have >= sizeof(r->head) && *have == sizeof(r->head) + r->head.bytes) {
		serve_request(fd, r);
		*have = 0;
	}
	return n > 0;
}

static void serve_events(int listener, int connections)
{
	static struct request requests[CONNECTIONS_MAX];
	struct pollfd polled[CONNECTIONS_MAX + 1] = { { listener, POLLIN, 0 } };
	size_t have[CONNECTIONS_MAX] = { 0 };
	int accepted = 0, ended = 0;

	while (ended < connections) {
		CHECK(poll(polled, (nfds_t)accepted + 1, -1) > 0);
		for (int i = 0; i < accepted; i++) {
			if (!polled[i + 1].revents ||
			    serve_event(polled[i + 1].fd, &requests[i], &have[i]))
				continue;
			close(polled[i + 1].fd);
			polled[i + 1].fd = -1;
			ended++;
		}
		if (polled[0].revents) {
			polled[accepted + 1] =
				(struct pollfd){ accept(listener, NULL, NULL), POLLIN, 0 };
			CHECK(polled[++accepted].fd >= 0);
		}
	}
}

static void serve(const char *how, const char *path, const char *port_path, int connections)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = inet_addr(host) };
	socklen_t length = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	char partial[4096];
	FILE *f;

	file = open(path, O_CREAT | O_RDWR, 0600);
	CHECK(file >= 0 && listener >= 0);
	CHECK(bind(listener, (struct sockaddr *)&address, sizeof(address)) == 0);
	CHECK(listen(listener, CONNECTIONS_MAX) == 0);
	CHECK(getsockname(listener, (struct sockaddr *)&address, &length) == 0);
	snprintf(partial, sizeof(partial), "%s.new", port_path);
	f = fopen(partial, "w");
	CHECK(f && fprintf(f, "%d\n", ntohs(address.sin_port)) > 0 && fclose(f) == 0);
	CHECK(rename(partial, port_path) == 0);
	if (!strcmp(how, "threads"))
		serve_threads(listener, connections);
	else
		serve_events(listener, connections);
}

/* --- the client --- */

static int port, writes_each;

static int connect_server(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_port = htons((uint16_t)port),
				       .sin_addr.s_addr = inet_addr(host) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	CHECK(fd >= 0);
	CHECK(connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0);
	return fd;
}

static void *write_connection(void *arg)
{
	uint64_t first = (uint64_t)(intptr_t)arg * (uint64_t)writes_each;
	struct request r = { 0 };
	int fd = connect_server();

	for (uint64_t i = 0; i < (uint64_t)writes_each; i++) {
		uint64_t reply;

		r.head.offset = (first + i) * DATA_MAX;
		r.head.bytes = 1 + (first + i) * 7919 % DATA_MAX;
		CHECK(pwrite(file, "", 1, (off_t)r.head.offset) == 1);
		CHECK(write(fd, &r, sizeof(r.head) + r.head.bytes) ==
		      (ssize_t)(sizeof(r.head) + r.head.bytes));
		CHECK(receive(fd, &reply, sizeof(reply)) && reply == r.head.offset);
	}
	close(fd);
	return NULL;
}

static void write_all(const char *path, const char *port_path, int connections, int writes)
{
	pthread_t threads[CONNECTIONS_MAX];
	FILE *f = fopen(port_path, "r");

	CHECK(f && fscanf(f, "%d", &port) == 1 && fclose(f) == 0);
	file = open(path, O_CREAT | O_RDWR, 0600);
	CHECK(file >= 0);
	writes_each = writes / connections;
	for (int i = 0; i < connections; i++)
		CHECK(pthread_create(&threads[i], NULL, write_connection, (void *)(intptr_t)i) ==
		      0);
	for (int i = 0; i < connections; i++)
		pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
	if (argc == 7)
		host = argv[--argc];
	if (argc == 6 && !strcmp(argv[1], "serve") && atoi(argv[5]) <= CONNECTIONS_MAX)
		serve(argv[2], argv[3], argv[4], atoi(argv[5]));
	else if (argc == 6 && !strcmp(argv[1], "write") && atoi(argv[4]) <= CONNECTIONS_MAX)
		write_all(argv[2], argv[3], atoi(argv[4]), atoi(argv[5]));
	else
		return 2;
	return 0;
}
