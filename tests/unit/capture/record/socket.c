/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/record/socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/un.h>

#include "capture/record/sandbox.h"
#include "check.h"

atomic_bool sandbox_sealed;

/* Listens on any port of all addresses, by IPv6 with IPv4 inside, and returns the port. */
static int listen_any(in_port_t *port)
{
	struct sockaddr_in6 address = { .sin6_family = AF_INET6 };
	socklen_t length = sizeof(address);
	int off = 0, fd = socket(AF_INET6, SOCK_STREAM, 0);

	REQUIRE(fd >= 0);
	setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	REQUIRE(bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0);
	REQUIRE(listen(fd, 4) == 0);
	REQUIRE(getsockname(fd, (struct sockaddr *)&address, &length) == 0);
	*port = address.sin6_port;
	return fd;
}

/* Are the two texts "A-B" and "B-A"? */
static bool are_reverse(const char *a, const char *b)
{
	const char *dash = strchr(a, '-');
	char reverse[2 * SOCKET_ENDS_BYTES];

	if (!dash)
		return false;
	snprintf(reverse, sizeof(reverse), "%s-%.*s", dash + 1, (int)(dash - a), a);
	return !strcmp(reverse, b);
}

static void check_connection(int type, uint32_t to)
{
	struct socket_ends client, server;
	struct sockaddr_in address = { .sin_family = AF_INET };
	int listener = listen_any(&address.sin_port), fd = socket(AF_INET, SOCK_STREAM | type, 0);
	int r, accepted, error;

	address.sin_addr.s_addr = htonl(to);
	r = connect(fd, (struct sockaddr *)&address, sizeof(address));
	error = r < 0 ? errno : 0;
	errno = 77;
	socket_connected(&client, fd, (struct sockaddr *)&address, sizeof(address), error);
	accepted = accept(listener, NULL, NULL);
	CHECK(accepted >= 0);
	errno = 77;
	socket_accepted(&server, accepted);
	CHECK_INT(errno, 77);
	CHECK(are_reverse(client.text, server.text));
	/* The server has an IPv6 socket, but both have the same IPv4 addresses. */
	CHECK(!strncmp(client.text, "127.0.0.1:", 10));
	close(accepted);
	close(fd);
	close(listener);
}

static void both_ends_have_the_same_addresses_in_reverse(void)
{
	check_connection(0, INADDR_LOOPBACK);
}

static void a_connection_in_progress_has_its_addresses(void)
{
	check_connection(SOCK_NONBLOCK, INADDR_LOOPBACK);
}

static void the_unspecified_address_is_the_host_itself(void)
{
	struct socket_ends ends;
	struct sockaddr_in address = { .sin_family = AF_INET };
	int listener = listen_any(&address.sin_port), fd = socket(AF_INET, SOCK_STREAM, 0);

	check_connection(0, INADDR_ANY);
	/* As if it were still in progress: there is no peer to ask for, only the request. */
	connect(fd, (struct sockaddr *)&address, sizeof(address));
	socket_connected(&ends, fd, (struct sockaddr *)&address, sizeof(address), EINPROGRESS);
	CHECK(strstr(ends.text, "-127.0.0.1:"));
	close(fd);
	close(listener);
}

static void ipv6_addresses_are_written_in_full(void)
{
	struct socket_ends client, server;
	struct sockaddr_in6 address = { .sin6_family = AF_INET6,
					.sin6_addr = IN6ADDR_LOOPBACK_INIT };
	int listener = listen_any(&address.sin6_port), fd = socket(AF_INET6, SOCK_STREAM, 0),
	    accepted;

	REQUIRE(connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0);
	accepted = accept(listener, NULL, NULL);
	socket_connected(&client, fd, (struct sockaddr *)&address, sizeof(address), 0);
	socket_accepted(&server, accepted);
	CHECK(are_reverse(client.text, server.text));
	CHECK(!strncmp(client.text, "[0:0:0:0:0:0:0:1]:", 18));
	close(accepted);
	close(fd);
	close(listener);
}

static void other_sockets_have_no_name(void)
{
	struct socket_ends ends;
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_port = htons(9),
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int pair[2], udp = socket(AF_INET, SOCK_DGRAM, 0), tcp = socket(AF_INET, SOCK_STREAM, 0);

	REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
	CHECK_TEXT(socket_accepted(&ends, pair[0]), "");
	REQUIRE(connect(udp, (struct sockaddr *)&address, sizeof(address)) == 0);
	CHECK_TEXT(socket_connected(&ends, udp, (struct sockaddr *)&address, sizeof(address), 0),
		   "");
	CHECK_TEXT(socket_accepted(&ends, tcp), "");
	CHECK_TEXT(socket_accepted(&ends, -1), "");
	CHECK_TEXT(socket_connected(&ends, tcp, (struct sockaddr *)&address, sizeof(address),
				    ECONNREFUSED),
		   "");
	close(pair[0]);
	close(pair[1]);
	close(udp);
	close(tcp);
}

static void nothing_is_asked_in_a_sandbox(void)
{
	struct socket_ends ends;
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int listener = listen_any(&address.sin_port), fd = socket(AF_INET, SOCK_STREAM, 0);

	REQUIRE(connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0);
	CHECK(socket_accepted(&ends, fd)[0] != 0);
	atomic_store(&sandbox_sealed, true);
	CHECK_TEXT(socket_accepted(&ends, fd), "");
	CHECK_TEXT(socket_connected(&ends, fd, (struct sockaddr *)&address, sizeof(address), 0),
		   "");
	atomic_store(&sandbox_sealed, false);
	close(fd);
	close(listener);
}

TESTS(TEST(both_ends_have_the_same_addresses_in_reverse),
      TEST(a_connection_in_progress_has_its_addresses),
      TEST(the_unspecified_address_is_the_host_itself), TEST(ipv6_addresses_are_written_in_full),
      TEST(other_sockets_have_no_name), TEST(nothing_is_asked_in_a_sandbox))
