/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Plays a recorded trace to asynchronous plug-ins: what they would have said in the run they say
 * now, and nothing is dropped. In the calling process: a plug-in that crashes takes it along, which
 * is what its author wants under a debugger. Reasoners, statistics and the store do not take part.
 */
#ifndef SLUICE_OBSERVE_WATCH_REPLAY_H
#define SLUICE_OBSERVE_WATCH_REPLAY_H

#include "trace/format.h"

struct config;
struct err;

struct replay_options {
	const struct config *config; /* for the plug-ins' own options */
	const char *plugins;	     /* names or paths, separated by blanks or commas */
	const char *origin;	     /* where these come from, for messages: "--plugin" */
	void *arg;
	/* A line of a plug-in's report, or its warning; texts are valid during the call. */
	void (*note)(void *arg, const struct note *note);
};

/*
 * The trace must be open and at its start; its filter counts. Fails before the first activity if a
 * plug-in cannot be had, and says which.
 */
int replay_trace(struct trace *trace, const struct replay_options *options, struct err *err);

#endif
