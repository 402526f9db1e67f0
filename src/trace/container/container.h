/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The container's parts, shared by its writer and its reader; docs/trace-format.md describes the
 * bytes.
 *
 *   file header, block, block, ..., INDEX block, trailer
 *
 * A block stands by itself: its header says what it holds and carries checksums of itself and of
 * the payload, so that whatever was written before the writer was cut off can be read.
 */
#ifndef SLUICE_TRACE_CONTAINER_CONTAINER_H
#define SLUICE_TRACE_CONTAINER_CONTAINER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "trace/facts.h"

struct err;

#define CONTAINER_MAGIC "\211SLUICE\n" /* 8 bytes; the first keeps it from being taken for text */
#define CONTAINER_MAGIC_BYTES 8
#define CONTAINER_VERSION 1
#define CONTAINER_HEADER_BYTES 16
#define CONTAINER_END_MAGIC "SLUICEND"
#define CONTAINER_TRAILER_BYTES 32

#define BLOCK_MAGIC UINT32_C(0x4b424c53) /* "SLBK" */
#define BLOCK_HEADER_BYTES 224
#define BLOCK_ROWS_MAX 65536 /* activities in a block */
#define BLOCK_RAW_MAX \
	(24u << 20) /* bytes of a payload before compression; an index may be larger */
#define BLOCK_FACTS_BYTES \
	(1u << 20)	      /* a block of facts is closed when it has this many bytes ... */
#define BLOCK_FACTS_ROWS 4096 /* ... or rows */
#define BLOCK_FACTS_RATIO 64  /* facts are never compressed by more: bounds what a reader keeps */

enum block_type {
	BLOCK_NAMES = 1,
	BLOCK_CALLS,
	BLOCK_RUN,
	BLOCK_CLOCK, /* a later one replaces an earlier one */
	BLOCK_PROCESSES,
	BLOCK_FILES,
	BLOCK_ACTIVITIES,
	BLOCK_AGGREGATES,
	BLOCK_LOSSES,
	BLOCK_END,
	BLOCK_INDEX,
	BLOCK_HOSTS,
	BLOCK_STATISTICS,
	BLOCK_SAMPLES,
	BLOCK_NOTES,
	BLOCK_TYPES, /* one more than the last */
};

/* The fact a block of this type holds rows of; NULL for others. */
const struct fact *block_fact(unsigned type);

/* Version in which a payload of this type is written; 0 for a type that we do not know. Every one
 * from 1 up to it is read. */
unsigned block_version(unsigned type);

#define BLOCK_PROCESS_WORDS 4 /* sets of 256 */
#define BLOCK_FILE_WORDS 16   /* and 1024 bits: bit (number modulo size) */

/* What a header says. The sets may hold too much, never too little. */
struct block {
	uint64_t offset; /* of the header in the file; not part of the header */
	uint16_t type, version;
	uint32_t raw_bytes, packed_bytes, count;
	uint64_t checksum; /* XXH64 of the packed payload */
	/* First and last start, in ticks; of facts the first and last new number: a process added
	 * again is not a new one, and where all are such, the last is one less than the first. */
	int64_t tmin, tmax;
	uint64_t layers; /* bit per layer, in the trace's numbers */
	uint64_t processes[BLOCK_PROCESS_WORDS];
	uint64_t files[BLOCK_FILE_WORDS];
};

static inline void block_set_add(uint64_t *set, unsigned words, uint64_t number)
{
	set[number / 64 % words] |= UINT64_C(1) << number % 64;
}

static inline uint64_t block_end(const struct block *block)
{
	return block->offset + BLOCK_HEADER_BYTES + block->packed_bytes;
}

void block_put(uint8_t bytes[BLOCK_HEADER_BYTES], const struct block *block);
/* False when the bytes are no header: magic, checksum, or limits. Leaves block->offset alone. */
bool block_get(struct block *block, const uint8_t bytes[BLOCK_HEADER_BYTES]);

/*
 * Compresses raw into packed and fills the block's sizes and checksum. ratio bounds the
 * compression, 0 for no bound. The context is a ZSTD_CCtx.
 */
int block_pack(struct block *block, void *context, const struct buf *raw, unsigned ratio,
	       struct buf *packed);
/* The payload of a block, checked and decompressed. -EBADMSG where it is damaged. */
int block_unpack(const struct block *block, int fd, struct buf *packed, struct buf *raw);

/* The rows of a facts block. */
void facts_put(struct buf *out, const struct fact *fact, const void *row);
struct wire;
int facts_get(struct wire *in, const struct fact *fact, union fact_row *row);

/*
 * Samples are written as differences, since those of one poll share their time and values change
 * little: time and period to those of the row before in the block, the value to that of the last
 * row of the same statistic. The chain is zeroed at the start of a block.
 */
#define SAMPLE_CHAIN 1024 /* a statistic's place is its number modulo this */

struct sample_chain {
	int64_t time_ns, period_ns;
	int64_t values[SAMPLE_CHAIN];
};

struct stat_sample sample_to_difference(struct sample_chain *chain, const struct stat_sample *row);
struct stat_sample sample_of_difference(struct sample_chain *chain, const struct stat_sample *row);

/* The blocks of a file. */
struct block_list {
	struct block *blocks;
	size_t count, cap;
	uint64_t damaged; /* stretches of bytes that are no block */
	bool sealed;	  /* the trailer is there: the writer came to its end */
};

/* Reads the index, or, where there is none, finds the blocks by scanning. 0 or -errno. */
int block_list_load(struct block_list *list, int fd, uint64_t file_bytes, struct err *err);
void block_list_add(struct block_list *list, const struct block *block);
void block_list_release(struct block_list *list);

/* Reads n bytes at offset: the bytes read, less at the end of the file, or -errno. */
ssize_t read_at(int fd, void *to, size_t n, uint64_t offset);

/* The writer. */
int container_create(void **writer, const char *path, const struct run_info *run,
		     const struct run_clock *clock, const struct call_info *calls, size_t count,
		     struct err *err);
int container_add_process(void *writer, const struct process_info *process, struct err *err);
int container_add_file(void *writer, file_id id, const char *path, struct err *err);
int container_add_activities(void *writer, const struct activity *batch, size_t n, struct err *err);
int container_add_aggregate(void *writer, const struct aggregate *row, struct err *err);
int container_add_loss(void *writer, const struct loss_info *row, struct err *err);
int container_add_host(void *writer, const struct host_info *row, struct err *err);
int container_add_fact(void *writer, const struct fact *fact, const void *row, struct err *err);
int container_flush(void *writer, struct err *err);
int container_finish(void *writer, const struct run_end *end, const struct run_clock *clock,
		     struct err *err);

/* The reader. */
int container_open(void **reader, const char *path, const struct trace_filter *filter,
		   struct trace_head *head, struct err *err);
ssize_t container_next(void *reader, struct activity *batch, size_t cap, struct err *err);
void container_close(void *reader);

#endif
