/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The runs of a directory with what lists of runs and of programs show. The head of a trace is read
 * once; a list of thousands of runs then costs little. Figures that need a pass over the trace are
 * read once as well, by a thread of the index that starts when they are first wanted, the newest
 * run first. Used by many threads.
 *
 * Memory: about 0.7 KiB per run and its command line, of which RUN_COMMAND_MAX bytes are kept;
 * while figures are read, that of one summary (observe/tally/summary.h).
 */
#ifndef SLUICE_WEB_RUN_INDEX_H
#define SLUICE_WEB_RUN_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/runs/runs.h"
#include "web/run_figures.h"

#define RUN_COMMAND_MAX 4096

struct err;
struct run_index;

enum run_figures_state { RUN_FIGURES_UNREAD, RUN_FIGURES_READ, RUN_FIGURES_FAILED };

struct run_row {
	char id[RUNS_ID_DIGITS + 1];
	char *path;
	const char *name; /* the base name, part of path */
	int64_t modified_ns;
	uint64_t bytes;
	char *error; /* why the trace cannot be read; NULL: it can */
	/* The following is empty if there is an error. */
	char *command, *program, *host, *user;
	const char *state; /* as `sluice ls` shows it; "unreadable" */
	char *applied;	   /* what Sluice did to the program; "": nothing */
	int64_t started_ns, duration_ns;
	int32_t exit_status;
	uint64_t activities, processes, ranks;
	char *uuid;
	char *tags; /* as in trace/runs/tags.h */
	/* Of the program and its surroundings (NOTE_PROGRAM of trace/format.h); "": not known. */
	char *arguments, *fingerprint, *filesystem, *platform;
	enum run_figures_state figures_state;
	struct run_figures figures;
};

enum run_order { RUN_BY_START, RUN_BY_DURATION, RUN_BY_CALLS, RUN_BY_SIZE, RUN_BY_COMMAND };
#define RUN_ORDER_WORDS "started|duration|calls|size|command"

struct run_query {
	const char *search; /* a part of the command, program, host, user, id or tags; "": all */
	const char *tag;    /* that the runs have; "": all runs */
	enum run_order order;
	bool ascending;
	size_t limit, offset;
};

struct run_index *run_index_new(const char *directory);
void run_index_free(struct run_index *index); /* accepts NULL */

/*
 * Calls visit() for the selected rows and returns how many runs match in all, or -errno. Rows are
 * valid during the call only.
 */
typedef void (*run_visit)(void *arg, const struct run_row *row);
int64_t run_index_list(struct run_index *index, const struct run_query *query, run_visit visit,
		       void *arg, struct err *err);

/*
 * Calls visit() for all runs, newest first, and reads the figures that are missing, in the
 * background. Returns 0 or -errno. Other threads wait meanwhile: visit() only copies what it needs.
 */
int run_index_visit(struct run_index *index, run_visit visit, void *arg, struct err *err);

#endif
