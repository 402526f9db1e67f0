/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The activities of one block, column by column: collected and encoded for the writer, decoded for
 * the reader.
 *
 * Rows are sorted by time. Calls of the same kind by the same thread form a group; within a group
 * the columns hardly change, so all columns but the times are stored group after group. What the
 * members of a group have in common, which fields are absent among it, is stored once per group.
 */
#ifndef SLUICE_TRACE_CONTAINER_ROWS_H
#define SLUICE_TRACE_CONTAINER_ROWS_H

#include "trace/container/column.h"
#include "trace/container/container.h"

struct head_maker;
struct ticks;

/* The columns stored group after group, in this order; the guess names an earlier column. */
#define ROW_LIST(X)              \
	X(SEQ, NONE, SEQ)        \
	X(DURATION, NONE, SEQ)   \
	X(PARENT, SAME, SEQ)     \
	X(LINK, NONE, SEQ)       \
	X(LINK2, NONE, SEQ)      \
	X(HANDLE, NONE, SEQ)     \
	X(SIZE, NONE, SEQ)       \
	X(RESULT, SAME, SIZE)    \
	X(OFFSET, NEXT, RESULT)  \
	X(FLAGS, NONE, SEQ)      \
	X(MODE, NONE, SEQ)       \
	X(ERROR, NONE, SEQ)      \
	X(FILE, NONE, SEQ)       \
	X(FILE2, NONE, SEQ)      \
	X(SPAN, SAME, SIZE)      \
	X(VARIABLE, NONE, SEQ)   \
	X(COLLECTIVE, NONE, SEQ) \
	X(NAME, NONE, SEQ)       \
	X(HINTS, NONE, SEQ)

#define ROW_ENUM(name, guess, other) ROW_##name,
enum row_column { ROW_LIST(ROW_ENUM) ROW_COUNT };
#undef ROW_ENUM

/* Columns of payloads of versions 1 and 2: those before this one. */
#define ROW_COUNT_1 ROW_SPAN
#define ROW_COUNT_2 ROW_HINTS

struct row_layout {
	enum column_guess guess;
	enum row_column other;
};

extern const struct row_layout row_layout[ROW_COUNT];

/*
 * A parent as it is stored: without the bits of the thread, which is nearly always the call's own.
 * Its own inverse; 0, no parent, stays 0.
 */
static inline uint64_t row_parent(uint64_t parent, uint64_t thread)
{
	return parent && parent != thread ? parent ^ thread : parent;
}

/* A block being filled. */
struct rows_in {
	size_t count;
	uint64_t *columns[ROW_COUNT];
	uint64_t *start, *key, *process;
	uint64_t differ[ROW_COUNT]; /* bits in which a column's values differ from its first */
	uint64_t key_differ, process_differ;
	uint32_t used; /* bit per column: the others are 0 throughout and not even filled */
	bool unsorted;
	struct rows_scratch *scratch;
};

void rows_in_init(struct rows_in *rows);
void rows_in_release(struct rows_in *rows);

/* Copies as many as fit and returns how many. */
size_t rows_in_add(struct rows_in *rows, const struct activity *batch, size_t n);

/* Sorts and encodes what was added, describes it in the block, and starts anew. */
void rows_in_encode(struct rows_in *rows, struct buf *raw, struct block *block);

struct row_group {
	uint32_t process;
	uint64_t thread; /* the bits above the sequence number, in place */
	uint16_t call, present;
	uint8_t layer;
};

/* A block being read. */
struct rows_out {
	size_t count, at; /* rows in all, and the next one to be given */
	size_t group_count;
	struct row_group *groups;
	int64_t *start_ns;
	uint16_t *group_of; /* of each row; NULL when there is one group */
	uint32_t *place;    /* of each row within the columns; NULL when that is its own number */
	struct column columns[ROW_COUNT];
	bool libraries;	 /* any column that only calls of libraries fill is not 0 */
	uint64_t number; /* of the block, to keep equal activities in the order of the file */
};

/*
 * Decodes a block, converting times. The maker has the trace's own numbering, and the tables that
 * indices must lie within. Returns NULL where the payload makes no sense.
 */
struct rows_out *rows_out_new(const struct block *block, const struct buf *raw,
			      const struct head_maker *maker, const struct ticks *ticks);
void rows_out_free(struct rows_out *rows);

/* Gives the next n rows; there are as many. */
void rows_out_take(struct rows_out *rows, struct activity *to, size_t n);

/* The order of activity_compare() between row a of one block and row b of another. */
bool rows_before(const struct rows_out *x, size_t a, const struct rows_out *y, size_t b);

#endif
