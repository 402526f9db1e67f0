/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Replays a recorded trace to asynchronous plug-ins: they report what they would have reported
 * during the run, and no call is dropped. The plug-ins run in the calling process, so a crash ends
 * it, which helps under a debugger. Reasoners, statistics and the store are not used.
 */
#ifndef SLUICE_OBSERVE_WATCH_REPLAY_H
#define SLUICE_OBSERVE_WATCH_REPLAY_H

#include "trace/format.h"

struct config;
struct err;

struct replay_options {
	const struct config *config; /* for the options of the plug-ins */
	const char *plugins;	     /* names or paths, separated by blanks or commas */
	const char *origin;	     /* where the names come from, for messages: "--plugin" */
	void *arg;
	/*
	 * Receives a line of a plug-in's report, or its warning. Texts are valid during the call.
	 */
	void (*note)(void *arg, const struct note *note);
};

/*
 * The trace must be open and at its start; its filter applies. Fails before the first activity if a
 * plug-in cannot be loaded, and names it.
 */
int replay_trace(struct trace *trace, const struct replay_options *options, struct err *err);

#endif
