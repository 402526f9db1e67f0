/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The parts of a trace whose job runs on several nodes. Each node's collector writes one part into
 * the directory <trace>.parts, which all nodes know from the job. When a part is complete, its name
 * tells how many ranks it holds:
 *
 *   JOB-HOST-PID.sluice            being written, or its collector died
 *   JOB-HOST-PID.N-ranks.sluice    complete
 *   JOB-merging                    created by the node that found all parts complete
 *   JOB-parameters...              see agreement.h
 *
 * JOB distinguishes the parts from those that an earlier job with the same trace name left behind.
 * Nodes coordinate by operations that are atomic on shared file systems: renaming, and creating a
 * file exclusively. parts.c and agreement.c manage this directory together. It is private to the
 * user (base/trusted.h), although its name can be guessed.
 */
#ifndef SLUICE_OBSERVE_JOB_PARTS_H
#define SLUICE_OBSERVE_JOB_PARTS_H

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
	uint64_t ranks; /* ranks in the complete parts together */
};

/* The trace that the parts are merged into. */
struct parts_whole {
	const char *trace;
	const struct trace_format *form;
	bool replace;  /* replace an older trace of that name */
	uint32_t size; /* ranks of all nodes together */
};

/*
 * Returns the path of this node's part, and creates the directory. `job` is a number that all nodes
 * know. If another user has occupied the name of the directory, another name is used, and *warning
 * receives a sentence, which the caller frees; it is NULL otherwise. Returns NULL and sets err on
 * failure. The caller frees the path.
 */
char *parts_begin(const char *trace, uint64_t job, const char *host, char **warning,
		  struct err *err);

/*
 * Completes this node's part, which holds `ranks` of `size` ranks. If it is the last one, all parts
 * are merged into the trace and removed. *result receives the path of the trace, or of the part;
 * the caller frees it. If a trace of that name exists, it is replaced, or another name is chosen.
 */
int parts_end(const char *part, const struct parts_whole *whole, uint32_t ranks, char **result,
	      struct err *err);

/* Returns "DIRECTORY/JOB-NAME", a file that belongs to the job of a part. The caller frees it. */
char *parts_sibling(const char *part, const char *name);

/* Lists all parts in the directory, or those whose names begin with the prefix. */
int parts_list(const char *directory, const char *prefix, struct parts *parts, struct err *err);
void parts_release(struct parts *parts);

/*
 * Returns the trace that a directory of parts belongs to; NULL if its name is not that of such a
 * directory.
 */
char *parts_trace(const char *directory);

/* Returns the trace that a file is a part of, by the name of its directory; NULL: it is no part. */
char *parts_trace_of(const char *path);

/* Removes merged parts and their directory. */
void parts_remove(const char *directory, const struct parts *parts);

#endif
