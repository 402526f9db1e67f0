/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finds the daemon of the node, for a recorder that has something for it. Who gets the socket gets
 * what the recorder sends, so the policy page that names it is used only if it can be trusted.
 */
#ifndef SLUICE_RUN_DAEMON_LINK_H
#define SLUICE_RUN_DAEMON_LINK_H

struct config;
struct err;
struct policy;

/* The policy page of the site, which the caller frees; NULL: there is none, err says why. */
struct policy *daemon_link_policy(const struct config *config, struct err *err);

/*
 * Connects to a socket. Returns a descriptor that never blocks, or -errno. While the daemon has too
 * many connections to accept, tries so many times, 20 ms apart.
 */
int daemon_link_connect(const char *path, int attempts);

#endif
