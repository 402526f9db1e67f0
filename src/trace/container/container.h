/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The binary container: declarations that its writer and reader share.
 * docs/reference/trace-format.md describes the bytes.
 *
 *   file header, block, block, ..., INDEX block, trailer
 *
 * A block is independent of the others: its header describes its content and has checksums of
 * itself and of the payload. If the writer was killed, all complete blocks can be read.
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

#define CONTAINER_MAGIC                                                                        \
	"\211SLUICE\n" /* 8 bytes; the first one is not ASCII, so the file is not mistaken for \
			  text */
#define CONTAINER_MAGIC_BYTES 8
#define CONTAINER_VERSION 1
#define CONTAINER_HEADER_BYTES 16
#define CONTAINER_END_MAGIC "SLUICEND"
#define CONTAINER_TRAILER_BYTES 32

#define BLOCK_MAGIC UINT32_C(0x4b424c53) /* "SLBK" */
#define BLOCK_HEADER_BYTES 224
#define BLOCK_ROWS_MAX 65536	  /* activities in a block */
#define BLOCK_RAW_MAX (24u << 20) /* bytes of a payload before compression, except an index */
/* A block of facts is closed when it has this many bytes or rows. */
#define BLOCK_FACTS_BYTES (1u << 20)
#define BLOCK_FACTS_ROWS 4096
/* Maximum compression ratio of facts: it bounds the memory that a small file can demand. */
#define BLOCK_FACTS_RATIO 64

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
	BLOCK_USAGES,
	BLOCK_FLOWS,
	BLOCK_PROFILE, /* bytes of a saved profile, in the order of the blocks */
	BLOCK_TYPES,   /* one more than the last type */
};

/* The kind of fact in blocks of this type; NULL if they hold no facts. */
const struct fact *block_fact(unsigned type);

/* The version in which payloads of this type are written; 0: unknown type. Readers accept versions
 * from 1 to this one. */
unsigned block_version(unsigned type);

/* Sets of numbers in a header: number n is bit n modulo the size of the set. */
#define BLOCK_PROCESS_WORDS 4 /* 256 bits */
#define BLOCK_FILE_WORDS 16   /* 1024 bits */

/* A block header. Its sets may contain extra members but never lack one. */
struct block {
	uint64_t offset; /* of the header in the file; not part of the header */
	uint16_t type, version;
	uint32_t raw_bytes, packed_bytes, count;
	uint64_t checksum; /* XXH64 of the packed payload */
	/* Activities: the first and last start, in ticks. Facts: the first and last new number. A
	 * process that was added again has no new number; if a block has no new number, tmax is
	 * tmin - 1. */
	int64_t tmin, tmax;
	uint64_t layers; /* one bit per layer, by the numbers of the trace */
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

void block_encode_header(uint8_t bytes[BLOCK_HEADER_BYTES], const struct block *block);
/* False if the bytes are not a valid header. Does not change block->offset. */
bool block_decode_header(struct block *block, const uint8_t bytes[BLOCK_HEADER_BYTES]);

/*
 * Compresses raw into packed and sets the block's sizes and checksum. ratio is the maximum
 * compression ratio; 0: unlimited. The context is a ZSTD_CCtx.
 */
int block_pack(struct block *block, void *context, const struct buf *raw, unsigned ratio,
	       struct buf *packed);
/* Reads, checks and decompresses the payload of a block. Returns -EBADMSG if it is damaged. */
int block_unpack(const struct block *block, int fd, struct buf *packed, struct buf *raw);

/* Encode and decode one row of a facts block. */
void fact_row_encode(struct buf *out, const struct fact *fact, const void *row);
struct wire;
int fact_row_decode(struct wire *in, const struct fact *fact, union fact_row *row);

/*
 * Samples are stored as differences, because samples of one poll share their time and values change
 * little. Time and period are relative to the previous row of the block, the value to the previous
 * row of the same statistic. The chain is zeroed at the start of a block.
 */
#define SAMPLE_CHAIN 1024 /* the slot of a statistic is its number modulo this */

struct sample_chain {
	int64_t time_ns, period_ns;
	int64_t values[SAMPLE_CHAIN];
};

struct stat_sample sample_to_difference(struct sample_chain *chain, const struct stat_sample *row);
struct stat_sample sample_from_difference(struct sample_chain *chain,
					  const struct stat_sample *row);

/* The blocks of a file. */
struct block_list {
	struct block *blocks;
	size_t count, cap;
	uint64_t damaged; /* ranges of bytes that contain no valid block */
	bool sealed;	  /* the file has a trailer: the writer finished it */
};

/* Lists the blocks from the index or, if there is no valid index, by scanning the file. */
int block_list_load(struct block_list *list, int fd, uint64_t file_bytes, struct err *err);
void block_list_append(struct block_list *list, const struct block *block);
void block_list_release(struct block_list *list);

/* Reads n bytes at offset. Returns the bytes read, which are fewer at the end of the file, or
 * -errno. */
ssize_t read_at(int fd, void *to, size_t n, uint64_t offset);

/* The functions of the writer, for the table in container.c. */
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
void container_rest(void *writer);
int container_add_profile(void *writer, const void *bytes, size_t n, struct err *err);
int container_finish(void *writer, const struct run_end *end, const struct run_clock *clock,
		     struct err *err);

/* The functions of the reader, for the table in container.c. */
int container_open(void **reader, const char *path, const struct trace_filter *filter,
		   struct trace_head *head, struct err *err);
int container_reopen(void **reader, const void *first, const struct trace_filter *filter,
		     struct trace_head *head, struct err *err);
ssize_t container_next(void *reader, struct activity *batch, size_t cap, struct err *err);
int container_read_profile(void *reader, struct buf *out, struct err *err);
void container_close(void *reader);

#endif
