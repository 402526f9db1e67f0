/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the service manager and the daemon tell each other: sockets that it has opened for the
 * daemon ($LISTEN_FDS, see sd_listen_fds(3)), and the daemon's state ($NOTIFY_SOCKET, see
 * sd_notify(3)). Without a service manager, none of this has an effect.
 * Papers: SIOX-29.
 */
#ifndef SLUICE_DAEMON_LISTENER_H
#define SLUICE_DAEMON_LISTENER_H

struct err;

/* Sends a state such as "READY=1". */
void listener_notify(const char *state);

/*
 * The listening unix stream socket that the service manager passed; -ENOENT if it passed none.
 * Removes the variables, so that no other process takes the socket for its own.
 */
int listener_inherit(struct err *err);

/*
 * Creates a listening socket that everybody may connect to. A socket of this path that nobody
 * listens to is replaced; one that is in use is not. Creates the directory (mode 0755).
 */
int listener_create(const char *path, struct err *err);

#endif
