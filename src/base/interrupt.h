/* SPDX-License-Identifier: BSD-3-Clause
 *
 * For commands that run long and have something to put away: the first SIGINT, SIGTERM or SIGHUP
 * sets a flag, one that comes more than half a second later ends the process. What comes within
 * that time is the same wish, told twice. Signals that were ignored stay so.
 */
#ifndef SLUICE_BASE_INTERRUPT_H
#define SLUICE_BASE_INTERRUPT_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#define INTERRUPT_SIGNALS 3

struct interrupt {
	struct sigaction old[INTERRUPT_SIGNALS];
};

void interrupt_catch(struct interrupt *stop);
/* Nothing is done where a signal has come: the process is about to end. */
void interrupt_restore(const struct interrupt *stop);

/* The signal that came, or 0; may be looked at from anywhere. */
const volatile sig_atomic_t *interrupt_flag(void);

/* For work that tells how far it is: shows it on a struct progress; true: a signal came. */
bool interrupt_show_progress(void *progress, size_t done, size_t total);

#endif
