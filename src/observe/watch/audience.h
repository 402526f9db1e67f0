/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The asynchronous plug-ins of a run at work, and what they may ask: struct sluice_host. Used by
 * the watcher while the program runs, and by whoever plays a trace to them afterwards. One thread;
 * no process or queue is its business.
 */
#ifndef SLUICE_OBSERVE_WATCH_AUDIENCE_H
#define SLUICE_OBSERVE_WATCH_AUDIENCE_H

#include <stdbool.h>

#include <sluice/plugin.h>

#include "trace/format.h"

struct audience;
struct config;
struct err;

/* Notes that one plug-in may leave before the rest is left out and counted. */
#define AUDIENCE_NOTES_MAX 65536

struct audience_options {
	const struct config *config;
	const struct run_info *run;
	const struct call_info *calls; /* what activity.call is an index of */
	size_t call_count;
	void *arg;
	void (*note)(void *arg, const struct note *note);
	bool replayed; /* a trace is played: the store is not theirs, it knows the run already */
	/* Optional. Which one is at work: index, or -1 for none; to know whom to blame. */
	void (*turn)(void *arg, int plugin);
};

/* The options' pointers must stay. */
struct audience *audience_new(const struct audience_options *options);
void audience_free(struct audience *audience); /* calls stop() */

/* Starts a plug-in that was checked; name is its section. On failure it is not added. */
int audience_add(struct audience *audience, const struct sluice_plugin *plugin, const char *name,
		 uint32_t layers, struct err *err);
size_t audience_count(const struct audience *audience);
const char *audience_name(const struct audience *audience, size_t plugin);

/* Each before the first activity that names it; a process may be told again. */
void audience_file(struct audience *audience, file_id id, const char *path);
void audience_process(struct audience *audience, const struct process_info *process);
/* Times in ns. Each plug-in gets what is of its layers. */
void audience_activities(struct audience *audience, const struct activity *batch, size_t n);
/* What now_ns() tells; it never goes back. */
void audience_time(struct audience *audience, int64_t now_ns);
void audience_tick(struct audience *audience);
bool audience_is_detector(const struct audience *audience, size_t plugin);
bool audience_health(struct audience *audience, size_t plugin, uint32_t process,
		     struct sluice_health *health);
void audience_report(struct audience *audience);

#endif
