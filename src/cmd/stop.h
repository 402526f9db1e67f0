/* SPDX-License-Identifier: BSD-3-Clause
 *
 * For commands that run long and have something to put away: the first SIGINT, SIGTERM or SIGHUP
 * sets a flag, one that comes more than half a second later ends the process. What comes within
 * that time is the same wish, told twice. Signals that were ignored stay so.
 */
#ifndef SLUICE_CMD_STOP_H
#define SLUICE_CMD_STOP_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#define STOP_SIGNALS 3

struct stop {
	struct sigaction old[STOP_SIGNALS];
};

void stop_catch(struct stop *stop);
/* Nothing is done where a signal has come: the process is about to end. */
void stop_restore(const struct stop *stop);

/* The signal that came, or 0; may be looked at from anywhere. */
const volatile sig_atomic_t *stop_flag(void);

/* For work that tells how far it is: shows it on a struct progress; true: a signal came. */
bool stop_tell(void *progress, size_t done, size_t total);

#endif
