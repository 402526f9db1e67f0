/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How `sluice run` records: by a collector of its own, or, as one of many that a parallel launcher
 * has started, by the one that all of the node share. In the first case the caller has to poll.
 */
#ifndef SLUICE_RUN_RECORDING_H
#define SLUICE_RUN_RECORDING_H

#include "base/config.h"
#include "observe/collect/collector.h"
#include "base/job.h"
#include "observe/collect/share.h"

struct recording_options {
	const struct config *config;
	char **argv;	     /* the command line to be recorded */
	const char *program; /* path of what will be started */
	const char *output;  /* the user's own name for the trace, or NULL */
	const struct trace_format *form;
	bool outlive; /* wait also for processes that outlive the program */
};

struct recording {
	struct recording_options options;
	struct job job;		     /* id NULL: nobody but us */
	char *path;		     /* of the trace; that of all nodes together in a job */
	char *container;	     /* what is written while the program runs */
	char *board;		     /* of the job's reasoners; NULL: there is none */
	struct collector *collector; /* our own; NULL: it is the job's */
	struct share share;
};

/* What is to be told to the user at the end. */
struct recording_result {
	struct collector_totals totals;
	char trace[SPOOL_TEXT_BYTES];
	bool ours; /* false: others of the node go on, and will tell */
};

enum capture_mode recording_mode(const struct config *config);

/* Share of the run time that recording may cost; the built-in one, and err set, if it is wrong. */
double recording_budget(const struct config *config, struct err *err);

/* The options must stay until the end. On failure nothing is left to end. */
int recording_start(struct recording *recording, const struct recording_options *options,
		    struct err *err);

/* What the user must hear already: sentences, each ended by a newline. */
const char *recording_warnings(const struct recording *recording);

/* The directory that the program has to find in SLUICE_SPOOL. */
const char *recording_directory(const struct recording *recording);

/* Our program has ended: completes the trace, or leaves that to others. Releases *recording. */
int recording_end(struct recording *recording, int code, struct recording_result *result,
		  struct err *err);

#endif
