/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Runs the asynchronous plug-ins of a run and implements struct sluice_host for them. The watcher
 * uses it while the program runs, and replay_trace() afterwards. It runs in one thread and knows
 * nothing of processes and queues.
 */
#ifndef SLUICE_OBSERVE_WATCH_PLUGIN_HOST_H
#define SLUICE_OBSERVE_WATCH_PLUGIN_HOST_H

#include <stdbool.h>

#include <sluice/plugin.h>

#include "trace/format.h"

struct plugin_host;
struct config;
struct control;
struct err;

/* Limit of the notes of one plug-in. Further notes are dropped and counted. */
#define PLUGIN_HOST_NOTES_MAX 65536

struct plugin_host_options {
	const struct config *config;
	const struct run_info *run;
	const struct call_info *calls; /* table that activity.call is an index of */
	size_t call_count;
	void *arg;
	void (*note)(void *arg, const struct note *note);
	bool replayed; /* a trace is replayed: plug-ins must not use the store, which knows the run
			  already */
	/*
	 * Optional. Receives the index of the running plug-in, or -1, so that a crash can be
	 * attributed.
	 */
	void (*running)(void *arg, int plugin);
	/* Optional. Receives the suggestions of plug-ins that have a part in the guest. */
	struct control *control;
};

/* The pointers in options must stay valid. */
struct plugin_host *plugin_host_new(const struct plugin_host_options *options);
void plugin_host_free(struct plugin_host *plugins); /* calls stop() */

/* Starts a checked plug-in; name is its section in the settings. On failure it is not added. */
int plugin_host_add(struct plugin_host *plugins, const struct sluice_plugin *plugin,
		    const char *name, uint32_t layers, struct err *err);
size_t plugin_host_count(const struct plugin_host *plugins);

/*
 * To be called before the first activity that refers to the file or process; a process may be
 * updated.
 */
void plugin_host_file(struct plugin_host *plugins, file_id id, const char *path);
void plugin_host_process(struct plugin_host *plugins, const struct process_info *process);
/* Passes each plug-in the activities of its layers. Times are in ns. */
void plugin_host_activities(struct plugin_host *plugins, const struct activity *batch, size_t n);
/* Sets the time that now_ns() returns; it never decreases. */
void plugin_host_time(struct plugin_host *plugins, int64_t now_ns);
void plugin_host_tick(struct plugin_host *plugins);
bool plugin_host_is_detector(const struct plugin_host *plugins, size_t plugin);
bool plugin_host_health(struct plugin_host *plugins, size_t plugin, uint32_t process,
			struct sluice_health *health);
void plugin_host_report(struct plugin_host *plugins);

#endif
