/* SPDX-License-Identifier: BSD-3-Clause
 *
 * For long-running commands that have to clean up: the first SIGINT, SIGTERM or SIGHUP sets a flag,
 * and another one more than half a second later terminates the process. Signals within that time
 * are treated as one, because timeout(1) and launchers signal both the process and its group.
 * Signals that were ignored stay ignored.
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
/* Does nothing after a signal has arrived: the process is about to exit. */
void interrupt_restore(const struct interrupt *stop);

/* The signal that arrived, or 0. Any thread may read it. */
const volatile sig_atomic_t *interrupt_flag(void);

/*
 * A progress callback: draws a struct progress and returns true if a signal has arrived, so that
 * the work stops.
 */
bool interrupt_show_progress(void *progress, size_t done, size_t total);

#endif
