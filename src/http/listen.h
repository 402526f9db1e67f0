/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Listening sockets of HTTP servers: a unix socket whose mode decides who can connect, or a TCP
 * address.
 */
#ifndef SLUICE_HTTP_LISTEN_H
#define SLUICE_HTTP_LISTEN_H

#include <stdbool.h>
#include <sys/types.h>

struct err;
struct stat;

#define HTTP_BACKLOG 64

/*
 * Returns a listening, nonblocking descriptor, or -errno with a sentence.
 *
 * The path of a unix socket is absolute. A socket of that name that nobody listens to, such as one
 * of a server that was killed, is replaced; one that is in use is not, and neither is any other
 * file. Of servers that are started at the same time, one gets the path. Only the owner can connect
 * and, unless the group is (gid_t)-1, its members. *made receives the facts that http_unlink_unix()
 * needs.
 */
int http_listen_unix(const char *path, gid_t group, struct stat *made, struct err *err);

/*
 * Removes the socket unless another one has taken its path. The descriptor must still be open:
 * until then, no other file can have the number of the one that was made.
 */
void http_unlink_unix(const char *path, const struct stat *made);

/*
 * The address is "HOST:PORT" with a numeric host: "127.0.0.1:9464", "[::1]:9464". Port 0 lets the
 * kernel choose; *port (may be NULL) receives the port.
 */
int http_listen_tcp(const char *address, unsigned *port, struct err *err);

/* Is it an address of the loopback interface? False also for what is not an address. */
bool http_is_loopback(const char *address);

#endif
