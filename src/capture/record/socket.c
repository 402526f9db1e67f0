/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/record/socket.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>

#include "capture/record/kernel.h"
#include "capture/record/sandbox.h"

#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262
#endif

/* Both hold any address of the internet protocols. */
union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static bool is_tcp(int fd)
{
	int protocol = 0;
	socklen_t bytes = sizeof(protocol);

	return kernel_call(SYS_getsockopt, fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &bytes) == 0 &&
	       (protocol == IPPROTO_TCP || protocol == IPPROTO_MPTCP);
}

static bool read_address(long call, int fd, union address *address)
{
	socklen_t bytes = sizeof(*address);

	return kernel_call(call, fd, address, &bytes) == 0 &&
	       (address->any.sa_family == AF_INET || address->any.sa_family == AF_INET6);
}

static char *put_number(char *at, unsigned number, unsigned base)
{
	char digits[12];
	int n = 0;

	do
		digits[n++] = "0123456789abcdef"[number % base];
	while (number /= base);
	while (n)
		*at++ = digits[--n];
	return at;
}

static char *put_v4(char *at, const unsigned char *bytes)
{
	for (int i = 0; i < 4; i++) {
		if (i)
			*at++ = '.';
		at = put_number(at, bytes[i], 10);
	}
	return at;
}

static char *put_v6(char *at, const unsigned char *bytes)
{
	*at++ = '[';
	for (int i = 0; i < 16; i += 2) {
		if (i)
			*at++ = ':';
		at = put_number(at, (unsigned)bytes[i] << 8 | bytes[i + 1], 16);
	}
	*at++ = ']';
	return at;
}

static char *put_address(char *at, const union address *address)
{
	const unsigned char *v6 = address->v6.sin6_addr.s6_addr;

	if (address->any.sa_family == AF_INET)
		at = put_v4(at, (const unsigned char *)&address->v4.sin_addr);
	else if (IN6_IS_ADDR_V4MAPPED(&address->v6.sin6_addr))
		at = put_v4(at, v6 + 12);
	else
		at = put_v6(at, v6);
	*at++ = ':';
	/* The port is at the same place in both kinds. */
	return put_number(at, ntohs(address->v4.sin_port), 10);
}

static const char *put_ends(struct socket_ends *ends, const union address *local,
			    const union address *peer)
{
	char *at = put_address(ends->text, local);

	*at++ = '-';
	*put_address(at, peer) = 0;
	return ends->text;
}

const char *socket_accepted(struct socket_ends *ends, int fd)
{
	union address local, peer;

	ends->text[0] = 0;
	if (fd < 0 || sandbox_is_sealed() || !is_tcp(fd) ||
	    !read_address(SYS_getsockname, fd, &local) || !read_address(SYS_getpeername, fd, &peer))
		return ends->text;
	return put_ends(ends, &local, &peer);
}

/* A connection to the unspecified address leads to the host itself. */
static bool is_unspecified(const union address *address)
{
	return address->any.sa_family == AF_INET ? address->v4.sin_addr.s_addr == 0
						 : IN6_IS_ADDR_UNSPECIFIED(&address->v6.sin6_addr);
}

/* The peer while the connection is in progress: what the program has asked for. */
static bool copy_requested(union address *peer, const union address *local,
			   const struct sockaddr *address, socklen_t length)
{
	socklen_t need = local->any.sa_family == AF_INET ? sizeof(peer->v4) : sizeof(peer->v6);
	in_port_t port;

	if (length < need || address->sa_family != local->any.sa_family)
		return false;
	memcpy(peer, address, need);
	if (is_unspecified(peer)) {
		port = peer->v4.sin_port;
		*peer = *local;
		peer->v4.sin_port = port;
	}
	return true;
}

const char *socket_connected(struct socket_ends *ends, int fd, const struct sockaddr *address,
			     socklen_t length, int error)
{
	union address local, peer;

	ends->text[0] = 0;
	if (error && error != EINPROGRESS && error != EINTR)
		return ends->text;
	if (sandbox_is_sealed() || !is_tcp(fd) || !read_address(SYS_getsockname, fd, &local))
		return ends->text;
	if (!read_address(SYS_getpeername, fd, &peer) &&
	    !copy_requested(&peer, &local, address, length))
		return ends->text;
	return put_ends(ends, &local, &peer);
}
