/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The parts of a trace whose job runs on several nodes. Each node's collector writes one into the
 * directory <trace>.parts, which all of them know from the job; when its part is complete, its name
 * says how many ranks it holds:
 *
 *	JOB-HOST-PID.sluice            being written, or its collector died
 *	JOB-HOST-PID.N-ranks.sluice    complete
 *	JOB-merging                    made by the one who found that nothing is missing
 *	JOB-parameters...              see agreement.h
 *
 * JOB keeps parts apart that an earlier job has left where the user gave the same name again.
 * Nodes agree by what is atomic on shared file systems: renaming, and making a file exclusively.
 */
#ifndef SLUICE_OBSERVE_COLLECT_PARTS_H
#define SLUICE_OBSERVE_COLLECT_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct trace_format;

#define PARTS_SUFFIX ".parts"

/* The parts of one directory, sorted by name. */
struct parts {
	char **paths;
	size_t count;
	uint64_t ranks; /* of the complete ones together */
};

/* What they are to become. */
struct parts_whole {
	const char *trace;
	const struct trace_format *form;
	bool replace;  /* an older trace of that name */
	uint32_t size; /* ranks of all nodes together */
};

/*
 * Where this node's part of the trace is to be written; the directory is made. `job` is a number
 * that all nodes know. NULL: see err.
 */
char *parts_begin(const char *trace, uint64_t job, const char *host, struct err *err);

/*
 * This node's part is complete and holds so many of `size` ranks. If it was the last one, all are
 * merged into the trace and removed. *result gets the path of what there is now, the trace or the
 * part; the caller frees. A trace of that name is replaced, or another name is taken.
 */
int parts_end(const char *part, const struct parts_whole *whole, uint32_t ranks, char **result,
	      struct err *err);

/* "DIRECTORY/JOB-NAME": a file that belongs to the job of a part. The caller frees. */
char *parts_sibling(const char *part, const char *name);

/* All parts in the directory, or those whose names begin with the prefix. */
int parts_list(const char *directory, const char *prefix, struct parts *parts, struct err *err);
void parts_release(struct parts *parts);

/* The trace that a directory of parts belongs to; NULL if it is not named like one. */
char *parts_trace(const char *directory);

/* Removes merged parts and their directory. */
void parts_remove(const char *directory, const struct parts *parts);

#endif
