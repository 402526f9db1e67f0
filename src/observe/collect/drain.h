/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The host's side of the spool: reads the records that a process has committed, whether it is alive
 * or dead.
 *
 * A pass has three steps, because records of all threads and processes must be sorted before they
 * can be interpreted: spool_pending() lists the records, pending_load() copies them into private
 * memory, and spool_consume() returns the chunks.
 *
 * Nothing in a spool is trusted, because the process may overwrite or truncate it at any time.
 * Everything is copied once, and only the copy is checked and used. Records are read with pread(),
 * so that neither address space nor resident memory grow with the spools, and a truncated file
 * gives a short read. Only the header is mapped, because the free map needs atomic operations.
 */
#ifndef SLUICE_OBSERVE_COLLECT_DRAIN_H
#define SLUICE_OBSERVE_COLLECT_DRAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "contract/spool.h"
#include "observe/collect/mapping.h"

struct err;

/* The fields of the header that never change, copied when the spool is opened. */
struct spool_identity {
	int32_t pid, ppid, parent_number;
	uint32_t first_thread, forked_thread;
	uint64_t forked_seq, pid_namespace, process_start, attached;
};

/* What is known of a chunk. */
struct chunk_view {
	uint16_t drained; /* words that were read, or a CHUNK_ value of drain.c */
	uint16_t end;	  /* number of words, once the owner has left the chunk; 0: unknown */
	uint32_t thread;  /* valid with end */
};

struct spool {
	char *path; /* NULL: the process has handed over a descriptor */
	int fd;	    /* -1: descriptors are scarce, and the file is opened for each access */
	struct mapping header;
	struct spool_identity identity;
	uint64_t file_bytes; /* size of the file, as last seen */
	/* Segments whose space in the file was verified. */
	uint64_t segments[SPOOL_SEGMENTS_MAX / 64];
	struct chunk_view *views; /* per chunk */
	uint32_t view_count;
	uint64_t damaged_words; /* words that were committed but are invalid or gone */
};

/* A sequence of committed records in one chunk that no pass has consumed. */
struct pending {
	struct spool *spool;
	uint32_t chunk, thread;
	int32_t tid;	       /* the kernel's id of the thread; 0: not looked at again */
	uint32_t first, words; /* where it begins in the chunk, and its length */
	bool full;	       /* the owner has left the chunk */
	bool cut;	       /* the copy ends before the sequence */
	uint32_t dropped;      /* damaged words after the copy, which are consumed with it */
	uint64_t time;	       /* when its first call ended; set by pending_peek() */
	const uint64_t *records, *end; /* the copy; set by pending_load() */
	const uint64_t *taken;	       /* for the caller: where a pass stopped */
};

/*
 * Returns -EAGAIN while the process is still writing the header: try again later. Other failures
 * are final, unless resources were missing. *spool must not be moved while it is open.
 */
int spool_open(struct spool *spool, const char *path, struct err *err);
void spool_close(struct spool *spool); /* the file stays; a zeroed spool is fine */

/* The same for a descriptor that a process has handed over; on success it belongs to the spool. */
int spool_adopt(struct spool *spool, int fd, struct err *err);

/*
 * Copies the header; its identity is the one that was found by spool_open(). Without `texts`, only
 * the part before the texts is copied.
 */
void spool_copy_header(const struct spool *spool, struct spool_header *copy, bool texts);

/* Number of chunks that the process has allocated. */
uint32_t spool_chunks(const struct spool *spool);

/* Appends the pending sequences to *list (grown with xgrow). Returns how many were appended. */
size_t spool_pending(struct spool *spool, struct pending **list, size_t *count, size_t *cap);

/* Reads the time of the first record. */
void pending_peek(struct pending *p);

/*
 * Copies up to `words` words of the sequence to `to` and sets records and end. At least
 * RECORD_WORDS_MAX words are needed to get a record.
 */
void pending_load(struct pending *p, uint64_t *to, uint32_t words);

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
