/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The host's side of the spool: reads the records that a process has committed, whether it is alive
 * or dead.
 *
 * A pass has two steps, because records of all threads and processes must be sorted before they can
 * be interpreted: spool_pending() lists the records, the caller works on them in place, and
 * spool_consume() returns the chunks. Nothing in a spool is trusted, because the process may have
 * overwritten it.
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
	struct spool_header *header; /* the whole file is mapped */
	uint64_t mapped_bytes;
	uint64_t segments[SPOOL_SEGMENTS_MAX /
			  64];	/* segments whose space in the file was verified */
	uint64_t damaged_words; /* words that were committed but are invalid */
};

/* A sequence of committed records in one chunk that no pass has consumed. */
struct pending {
	struct spool *spool;
	uint32_t chunk, thread;
	const uint64_t *records, *end;
};

/*
 * Returns -EAGAIN while the process is still writing the header: try again later. Other failures
 * are final.
 */
int spool_open(struct spool *spool, const char *path, struct err *err);
void spool_close(struct spool *spool); /* unmaps; the file stays */

/* Appends the pending sequences to *list (grown with xgrow). Returns how many were appended. */
size_t spool_pending(struct spool *spool, struct pending **list, size_t *count, size_t *cap);

/*
 * Returns the checked record at *at and moves *at behind it; NULL at the end. An invalid record
 * ends the sequence: the rest of it is counted as damaged.
 */
const uint64_t *pending_next(struct pending *p, const uint64_t **at);

/*
 * Marks everything before `at` as consumed. Frees the chunk if its owner has left it and nothing
 * remains.
 */
void spool_consume(struct pending *p, const uint64_t *at);

/* Frees chunks whose owner has died without leaving them. `alive` is asked about thread ids. */
void spool_reap(struct spool *spool, bool (*alive)(int pid, int tid));

#endif
