/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Who sends a request: the process at the other end of a unix socket, or whoever knows a token.
 */
#ifndef SLUICE_HTTP_ACCESS_H
#define SLUICE_HTTP_ACCESS_H

#include <stdbool.h>
#include <sys/types.h>

struct err;
struct MHD_Connection;

/* The descriptor of a connection; -1: unknown. */
int http_connection_fd(struct MHD_Connection *connection);

/* The user at the other end of a unix socket; false if it is unknown, as over TCP. */
bool http_peer(struct MHD_Connection *connection, uid_t *user);

/* Is that process a member of the group? (gid_t)-1: nobody is. */
bool http_peer_is_in(struct MHD_Connection *connection, gid_t group);

/* 64 hexadecimal digits of the kernel's random numbers. The caller frees it. NULL with err set. */
char *http_token_new(struct err *err);

/*
 * Reads the token of a file, or creates the file with a new token; (gid_t)-1: only the owner can
 * read it. A file that others own, or can read, is refused. The caller frees *token.
 */
int http_token_load(const char *path, gid_t group, char **token, struct err *err);

/* Takes the same time for all tokens of one length. */
bool http_token_equal(const char *a, const char *b);

/* The value of a header that the request has exactly once, and not empty; NULL: it has not. */
const char *http_only_header(struct MHD_Connection *connection, const char *name);

/* Does the request carry "Authorization: Bearer TOKEN"? */
bool http_has_bearer(struct MHD_Connection *connection, const char *token);

#endif
