/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the calls on a file say about it, apart from their time and bytes: chunks and filters of
 * HDF5 datasets, buffers of streams, mappings, stripes, and waiting for locks. The rules of the
 * diagnosis need these facts in order to name a cause.
 */
#ifndef SLUICE_OBSERVE_PROFILE_FACTS_H
#define SLUICE_OBSERVE_PROFILE_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "observe/tally/layouts.h"
#include "trace/format.h"

enum { FACTS_TEXT = 48 };

/* What a log has counted of all ranks together, through the layer with the slowest rank. */
struct group_facts {
	int64_t ranks; /* 0: nothing */
	int64_t slowest_rank;
	int64_t time_ns, slowest_ns;
	uint64_t bytes, slowest_bytes;
};

struct file_facts {
	/* Of the chunked dataset with the largest chunks; see capture/libraries/hdf5_facts.h. */
	uint64_t chunk_bytes;	/* 0: no chunked dataset is known */
	uint64_t cache_bytes;	/* of its chunk cache */
	char chunk[FACTS_TEXT]; /* "32 x 256 elements of 8 bytes" */
	bool compressed;	/* a dataset has a filter that compresses */
	uint32_t causes;	/* bits of H5D_mpio_no_collective_cause_t; 0: none */
	bool has_buffer;	/* the buffer of a stream was set, by the program or by Sluice */
	uint64_t buffer_bytes;	/* the largest; 0: unbuffered */
	uint64_t mapped_bytes;	/* by mmap */
	struct layout layout;	/* of stripes: by hints, or */
	bool has_layout;	/* as the file system told it, whatever the hints say */
	uint64_t locks;		/* calls of fcntl that wait for a lock */
	int64_t lock_ns;
	struct group_facts group;
};

struct facts {
	struct map files; /* struct file_facts by file */
	uint8_t *kinds;	  /* for each call, see kind_of_call() in facts.c */
};

void facts_init(struct facts *facts, const struct trace_head *head);
void facts_release(struct facts *facts);

void facts_add(struct facts *facts, const struct trace_head *head, const struct activity *activity);

/* The facts of a file other than 0; adds them if they are missing. */
struct file_facts *facts_put(struct facts *facts, file_id file);

/* Adds the facts of another profile; files[i] is the number here of its file i. */
void facts_merge(struct facts *facts, const struct facts *other, const file_id *files);

/* Never NULL: without facts, all members are 0. */
const struct file_facts *facts_get(const struct facts *facts, file_id file);

#endif
