/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The watcher's process: it receives what the collector sends, passes it to the plug-ins, polls the
 * node's statistics, runs the reasoners, and sends back the results. It sleeps while there is
 * nothing to do.
 */
#ifndef SLUICE_OBSERVE_WATCH_WATCHER_PROCESS_H
#define SLUICE_OBSERVE_WATCH_WATCHER_PROCESS_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

#include "observe/watch/library.h"

#define WATCHER_NAMES 32

/* Memory shared by collector and watcher. */
struct watcher_shared {
	_Atomic uint64_t delivered; /* activities that all plug-ins have received */
	_Atomic uint64_t anomalies; /* number of signals */
	_Atomic uint32_t bell;	    /* futex: changes when the watcher shall wake up */
	_Atomic uint32_t asleep;
	_Atomic uint32_t finished; /* all results were sent */
	_Atomic int32_t turn;	   /* index of the running plug-in; -1: none */
	char names[WATCHER_NAMES][LIBRARY_NAME_BYTES];
};

struct plugin_choices;
struct queue;
struct watcher_options;

struct watcher_process {
	const struct watcher_options *options;
	const struct plugin_choices *choices;
	struct queue *in, *back;
	struct watcher_shared *shared;
	pid_t parent;
};

/* Wakes the watcher if it sleeps. */
void watcher_wake(struct watcher_shared *shared);

/* Runs in the child. Returns when the queue is finished and all results were sent. */
void watcher_process_run(const struct watcher_process *process);

#endif
