/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The host's half of the spool: reading what a process has committed, alive or dead.
 *
 * A pass is in two steps, because records must be put in order over all threads and processes
 * before they are understood: spool_pending() lists what is there, the caller works on the records
 * in place, and spool_consume() gives the chunks back. Nothing in a spool is trusted: the process
 * may have written over it.
 */
#ifndef SLUICE_OBSERVE_COLLECT_DRAIN_H
#define SLUICE_OBSERVE_COLLECT_DRAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "contract/spool.h"

struct err;

struct spool {
	char *path;
	struct spool_header *header; /* mapped; the whole file is */
	uint64_t mapped_bytes;
	uint64_t segments[SPOOL_SEGMENTS_MAX / 64]; /* those whose space in the file was seen */
	uint64_t damaged_words;			    /* what was committed but made no sense */
};

/* A stretch of committed records in one chunk that no pass has consumed. */
struct pending {
	struct spool *spool;
	uint32_t chunk, thread;
	const uint64_t *records, *end;
};

/* -EAGAIN while the process is still writing the header: come back. Other failures are final. */
int spool_open(struct spool *spool, const char *path, struct err *err);
void spool_close(struct spool *spool); /* unmaps; the file stays */

/* Appends what is pending to *list (grown with xgrow). Returns how many were appended. */
size_t spool_pending(struct spool *spool, struct pending **list, size_t *count, size_t *cap);

/*
 * The record at *at, checked, and *at moved behind it; NULL at the end. A record that makes no
 * sense ends the stretch: the rest of it is counted as damaged.
 */
const uint64_t *pending_next(struct pending *p, const uint64_t **at);

/* Everything before `at` is dealt with. Frees the chunk when its owner has left it and nothing
 * remains. */
void spool_consume(struct pending *p, const uint64_t *at);

/* Frees chunks whose owner has died without leaving them. `alive` is asked about thread ids. */
void spool_reap(struct spool *spool, bool (*alive)(int pid, int tid));

#endif
