/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The recording of one `sluice run`. A single run has its own collector, which the caller must
 * poll. If a parallel launcher started several `sluice run` on a node, they share the collector of
 * the node, which is a process of its own; the caller then has nothing to poll.
 */
#ifndef SLUICE_RUN_RECORDING_H
#define SLUICE_RUN_RECORDING_H

#include "base/config.h"
#include "base/job.h"
#include "observe/collect/collector.h"
#include "observe/job/share.h"
#include "run/placing.h"

struct launch_link;
struct sharing;

struct recording_options {
	const struct config *config;
	char **argv;	     /* the command line to record */
	const char *program; /* path of the program */
	const char *output;  /* path of the trace; NULL: a new file in trace.dir */
	const struct trace_format *form;
	bool outlive; /* also wait for processes that outlive the program */
	struct launch_link *link;
};

struct recording {
	struct recording_options options;
	struct job job;	 /* id NULL: not part of a parallel job */
	char *path;	 /* of the trace; in a job, of the trace of all nodes */
	char *container; /* path of the container that is written during the run */
	struct placing_adaptive adaptive;
	char *board;		     /* directory of the job's health files; NULL: there is none */
	struct collector *collector; /* its own; NULL: the job's collector is shared */
	struct sharing *sharing;     /* of the backlog; NULL: there is none */
	struct share share;
};

/* What to show to the user at the end. */
struct recording_result {
	struct collector_totals totals;
	char trace[SPOOL_TEXT_BYTES]; /* path */
	bool ours; /* this process completed the trace; false: another rank of the node will */
};

enum capture_mode recording_mode(const struct config *config);

/* Overhead budget: the share of the run time that recording may take. If the setting is wrong, err
 * says so, and the default is returned. */
double recording_budget(const struct config *config, struct err *err);

/* The options must stay valid until recording_end(). After a failure there is nothing to end. */
int recording_start(struct recording *recording, const struct recording_options *options,
		    struct err *err);

/* Sentences for the user, each ended by a newline, that are known before the program starts. */
const char *recording_warnings(const struct recording *recording);

/* The directory that SLUICE_SPOOL must name in the environment of the program. */
const char *recording_directory(const struct recording *recording);

/* Does what there is to do while the program runs. Only with a collector of its own. Returns the
 * number of records that were found, as collector_poll() does. */
size_t recording_poll(struct recording *recording);

/* The program has exited with this code: completes the trace, or leaves that to the last rank of
 * the node. Releases *recording also on failure. */
int recording_end(struct recording *recording, int code, struct recording_result *result,
		  struct err *err);

/*
 * Completes the trace of a recording whose process was killed, from the spools in `directory`, in
 * the format that was requested. Leaves the directory as it is on failure.
 */
int recording_recover(const struct config *config, const char *directory,
		      const struct trace_format *form, struct recording_result *result,
		      struct err *err);

#endif
