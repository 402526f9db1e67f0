/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One column of numbers as bytes, made small for what I/O looks like: constants, constant steps,
 * small differences. Every 64-bit value is exact. Described byte by byte in docs/trace-format.md.
 *
 * Decoding trusts nothing: it stays within its input and fails where the bytes make no sense.
 */
#ifndef SLUICE_TRACE_CONTAINER_COLUMN_H
#define SLUICE_TRACE_CONTAINER_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/container/wire.h"

struct buf;

#define COLUMN_PAGE 256 /* values that are coded alike */

/* What a column's values can be told from. */
enum column_guess {
	GUESS_NONE,
	GUESS_SAME, /* the other column in the same row: a result is mostly the size */
	GUESS_NEXT, /* the sum of both columns in the row before: a position after a read */
};

/* Where the encoder finds the values: row i is values[order[i]], without order values[i]. */
struct column_source {
	const uint64_t *values;
	const uint64_t *other; /* for the guess */
	const uint32_t *order;
	size_t count;
	enum column_guess guess;
};

void column_put_constant(struct buf *out, uint64_t value);
void column_put(struct buf *out, const struct column_source *source);

/* A decoded column: row i is values[i & mask]; of a constant one the mask is 0. */
struct column {
	uint64_t *values;
	size_t mask;
	uint64_t constant;
};

static inline uint64_t column_at(const struct column *column, size_t row)
{
	return column->values[row & column->mask];
}

/* A column points into itself when it is constant: it must not be moved. */
void column_set_constant(struct column *column, uint64_t value);

/*
 * Decodes count values. other is the column of the guess, already decoded, NULL where the column
 * has none. Returns 0 or -EBADMSG; either way column_release() is due.
 */
int column_get(struct wire *in, struct column *column, size_t count, const struct column *other,
	       enum column_guess guess);

void column_release(struct column *column);

#endif
