/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One column of one row group: an optional dictionary page and one data page, compressed with zstd.
 * Integers are encoded as differences. Texts refer to a dictionary, because most of them repeat.
 */
#ifndef SLUICE_TRACE_PARQUET_CHUNK_H
#define SLUICE_TRACE_PARQUET_CHUNK_H

#include <zstd.h>

#include "base/buf.h"
#include "trace/parquet/encoding.h"
#include "trace/parquet/parquet.h"

/* Written to the file as it is; offsets are relative to its start. */
struct chunk {
	struct buf bytes;
	enum encoding encoding;
	size_t dictionary_bytes; /* the data page follows the dictionary page; 0: there is none */
	size_t raw_bytes;	 /* size without compression */
	size_t nulls;
	bool has_range;	     /* min and max are known */
	struct buf min, max; /* as Parquet stores them in statistics */
};

void chunk_release(struct chunk *chunk);

/* Working memory of one thread. A zeroed one is empty. */
struct chunk_scratch {
	struct parquet_values values; /* for the caller to fill, see chunk_prepare() */
	size_t cap;		      /* rows for which there is room */
	struct buf page;
	uint32_t *levels;
	/* The text with number t has the position `places[t]` in the dictionary if its stamp is
	 * that of the current chunk. */
	uint32_t *stamps, *places;
	size_t text_cap;
	uint32_t stamp;
	int64_t *used; /* texts of the dictionary by position */
	size_t used_cap;
	ZSTD_CCtx *zstd;
};

void chunk_scratch_release(struct chunk_scratch *scratch);

/* Makes room for that many values, all of them present. */
struct parquet_values *chunk_prepare(struct chunk_scratch *scratch, size_t rows);

/*
 * Replaces the content of the chunk by the encoded values of the scratch, which are consumed. Fails
 * with -EFBIG if they exceed the size of a page.
 */
int chunk_encode(struct chunk *chunk, struct chunk_scratch *scratch,
		 const struct parquet_field *field, size_t rows);

#endif
