/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A session runs one program under capture, from its start to the complete trace: it prepares the
 * recording, starts the program with the guest library preloaded, forwards signals, collects while
 * the program runs, and closes the trace.
 *
 * The program must not notice any of this. Its exit code, its output and its signals are its own,
 * and if the recording fails, the program runs unrecorded and a warning says so.
 *
 * A session prints nothing: warnings and notices go to the callbacks of the caller. It changes the
 * signal handlers of the process and waits for a child, so a process runs one session at a time and
 * from one thread.
 */
#ifndef SLUICE_RUN_SESSION_H
#define SLUICE_RUN_SESSION_H

#include <stdbool.h>

#include "observe/collect/collector.h"

struct config;
struct err;
struct trace_format;

/* Everything that the options point to must stay valid until session_run() returns. */
struct session_options {
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
	/* The program's exit code; 128 plus the signal's number if a signal ended it; 126 or 127,
	 * as in a shell, if it could not be started. */
	int exit_code;
	/* This session completed a trace, and the fields below are set. False if nothing was
	 * recorded, or if another rank of the job completes the trace of the node. */
	bool has_trace;
	bool is_empty; /* recording was on, but no process could be recorded */
	struct collector_totals totals;
	char trace[SPOOL_TEXT_BYTES]; /* path */
};

/*
 * Runs the program and waits for it. Returns 0 if it ran, whatever its exit code is. Negative if it
 * could not be started; err says why, and *result is set all the same.
 *
 * If the launcher that started this process is already being recorded, the program replaces this
 * process, and the function returns only on failure.
 */
int session_run(const struct session_options *options, struct session_result *result,
		struct err *err);

#endif
