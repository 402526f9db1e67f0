/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A session is the work of the recorder (run/launch.h): it prepares the recording of one program,
 * lets the program start with the guest library preloaded, collects while it runs, and closes the
 * trace.
 *
 * The program must not notice any of this. If the recording fails, the program runs unrecorded and
 * a warning says so.
 *
 * A session prints nothing: warnings and notices go to the callbacks of the caller. A process runs
 * one session.
 */
#ifndef SLUICE_RUN_SESSION_H
#define SLUICE_RUN_SESSION_H

#include <stdbool.h>

#include "observe/collect/collector.h"

struct config;
struct err;
struct launch_link;
struct trace_format;

/* Everything that the options point to must stay valid until the session returns. */
struct session_options {
	struct launch_link *link;
	const struct config *config;
	char **argv;	    /* program and arguments, ends with NULL */
	const char *output; /* path of the trace; NULL: a new file in trace.dir */
	const struct trace_format *form;
	bool wait_for_descendants; /* also wait for processes that outlive the program */
	bool is_linked;		   /* the wrappers are linked into the program: preload nothing */
	/* One sentence without a newline: something that the user should fix. */
	void (*warn)(void *arg, const char *sentence);
	/* One sentence without a newline: something that the user may want to know. */
	void (*notify)(void *arg, const char *sentence);
	void *arg; /* passed to both callbacks */
};

struct session_result {
	/* This session completed a trace, and the fields below are set. False if nothing was
	 * recorded, or if another rank of the job completes the trace of the node. */
	bool has_trace;
	bool is_empty; /* recording was on, but no process could be recorded */
	struct collector_totals totals;
	char trace[SPOOL_TEXT_BYTES]; /* path */
};

/*
 * Lets the program start, and records it until it ends. The program starts in any case. It runs
 * unrecorded if SLUICE_DISABLE is set, if it cannot be executed, or if the launcher of its ranks is
 * already being recorded.
 */
void session_record(const struct session_options *options, struct session_result *result);

/* The recorder of this launch was killed while the program ran: completes its trace. */
int session_recover(const struct session_options *options, struct session_result *result,
		    struct err *err);

#endif
