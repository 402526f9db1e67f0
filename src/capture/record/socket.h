/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The addresses of the two ends of a TCP connection, by which the traces of both ends are joined.
 * Guest.
 *
 * They are asked for once, when a connection is made or a descriptor without a record is first
 * used. Calls that transfer data cost nothing. The text is "LOCAL-PEER", each "ADDRESS:PORT":
 *
 *   192.0.2.1:40000-192.0.2.7:5432      [2001:db8:0:0:0:0:0:1]:40000-[2001:db8:0:0:0:0:0:7]:5432
 *
 * An IPv4 address in an IPv6 socket is written as IPv4, because the other end may see it so. The
 * text is empty if the socket is not TCP, if its peer is unknown, or in a sandbox, where the guest
 * makes no system calls.
 */
#ifndef SLUICE_CAPTURE_RECORD_SOCKET_H
#define SLUICE_CAPTURE_RECORD_SOCKET_H

#include <sys/socket.h>

#define SOCKET_ENDS_BYTES 100 /* two addresses of 39 characters with ports and punctuation */

struct socket_ends {
	char text[SOCKET_ENDS_BYTES];
};

#pragma GCC visibility push(hidden)

/* Each fills *ends, returns its text and preserves errno. */

/* After accept() has returned fd, or for any connected socket. fd < 0: empty. */
const char *socket_accepted(struct socket_ends *ends, int fd);

/*
 * After connect(fd, address, length) with this error, 0 for success. A connection in progress has
 * its local address already.
 */
const char *socket_connected(struct socket_ends *ends, int fd, const struct sockaddr *address,
			     socklen_t length, int error);

#pragma GCC visibility pop

#endif
