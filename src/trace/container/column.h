/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Encodes one column of numbers as bytes, compactly for patterns that are typical of I/O:
 * constants, constant steps, small differences. It is lossless for all 64-bit values.
 * docs/reference/trace-format.md describes the bytes.
 *
 * Decoding does not trust its input: it never reads beyond the end and fails if the bytes are
 * invalid.
 */
#ifndef SLUICE_TRACE_CONTAINER_COLUMN_H
#define SLUICE_TRACE_CONTAINER_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/container/wire.h"

struct buf;

#define COLUMN_PAGE 256 /* values per page; a page has one encoding */

/* How the values of a column can be predicted from another column. */
enum column_guess {
	GUESS_NONE,
	GUESS_SAME, /* the other column in the same row: a result mostly equals the size */
	GUESS_NEXT, /* the sum of both columns in the previous row: an offset after a read */
};

/* The input of the encoder: row i is values[order[i]], or values[i] if order is NULL. */
struct column_source {
	const uint64_t *values;
	const uint64_t *other; /* for the guess */
	const uint32_t *order;
	size_t count;
	enum column_guess guess;
};

void column_put_constant(struct buf *out, uint64_t value);
void column_put(struct buf *out, const struct column_source *source);

/* A decoded column: row i is values[i & mask]. The mask of a constant column is 0. */
struct column {
	uint64_t *values;
	size_t mask;
	uint64_t constant;
	uint64_t *room; /* memory for `cap` values, which stays when the column is decoded again */
	size_t cap;
};

static inline uint64_t column_at(const struct column *column, size_t row)
{
	return column->values[row & column->mask];
}

/* A constant column points into itself, so it must not be moved. */
void column_set_constant(struct column *column, uint64_t value);

/* Makes room for different values, which are not set. */
void column_reserve(struct column *column, size_t count);

/*
 * Decodes count values into a column that is zeroed or was decoded before. other is the decoded
 * column that the guess is based on, or NULL. Returns 0 or -EBADMSG; the caller calls
 * column_release() in both cases.
 */
int column_get(struct wire *in, struct column *column, size_t count, const struct column *other,
	       enum column_guess guess);

void column_release(struct column *column);

#endif
