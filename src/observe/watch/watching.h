/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The watcher's own process: takes what the collector hands over, shows it to the plug-ins, looks
 * at the node, lets the reasoners judge, and says what came of it. It sleeps when nothing comes.
 */
#ifndef SLUICE_OBSERVE_WATCH_WATCHING_H
#define SLUICE_OBSERVE_WATCH_WATCHING_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

#include "observe/watch/library.h"

#define WATCHING_NAMES 32

/* Shared memory of the two. */
struct watching_shared {
	_Atomic uint64_t delivered; /* activities that all plug-ins have been shown */
	_Atomic uint64_t anomalies; /* signalled */
	_Atomic uint32_t bell;	    /* futex: changes when the watcher shall wake up */
	_Atomic uint32_t asleep;
	_Atomic uint32_t finished; /* everything was said */
	_Atomic int32_t turn;	   /* which plug-in is at work, -1: none */
	char names[WATCHING_NAMES][LIBRARY_NAME_BYTES];
};

struct plugin_choices;
struct queue;
struct watcher_options;

struct watching {
	const struct watcher_options *options;
	const struct plugin_choices *choices;
	struct queue *in, *back;
	struct watching_shared *shared;
	pid_t parent;
};

/* Wakes the watcher up if it sleeps. */
void watching_wake(struct watching_shared *shared);

/* In the child: returns when the queue is over, and everything is said. */
void watching_run(const struct watching *watching);

#endif
