/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The encodings of values in a Parquet page. Each function appends bytes to `out`.
 */
#ifndef SLUICE_TRACE_PARQUET_ENCODING_H
#define SLUICE_TRACE_PARQUET_ENCODING_H

#include <stddef.h>
#include <stdint.h>

struct buf;

/* Numbers of the encodings in metadata. */
enum encoding {
	ENCODING_PLAIN = 0,
	ENCODING_RLE = 3,
	ENCODING_DELTA = 5,	 /* DELTA_BINARY_PACKED */
	ENCODING_DICTIONARY = 8, /* RLE_DICTIONARY */
};

/* Bits of the largest value; at least 1, because some readers reject a width of 0. */
unsigned encoding_width(uint64_t largest);

/* Values of `width` bits (1 to 64), lowest bits first, padded with zeros to a whole byte. */
void encoding_pack(struct buf *out, const uint64_t *values, size_t count, unsigned width);

/*
 * RLE: runs of at least 8 equal values as a count and the value, everything else packed in groups
 * of 8. width is at most 32.
 */
void encoding_runs(struct buf *out, const uint32_t *values, size_t count, unsigned width);

/*
 * DELTA_BINARY_PACKED: the differences of consecutive values, packed in small blocks. bits is 32 or
 * 64, the size of the type; differences wrap.
 */
void encoding_delta(struct buf *out, const int64_t *values, size_t count, unsigned bits);

#endif
