/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The activities of one block, column by column. encode.c collects and encodes them for the writer;
 * decode.c decodes them for the reader.
 *
 * Rows are sorted by time. Calls of the same kind by the same thread form a group. Columns hardly
 * change within a group, so all columns except the start are stored group after group. Properties
 * that the rows of a group share, such as the present bits, are stored once per group.
 */
#ifndef SLUICE_TRACE_CONTAINER_ROWS_H
#define SLUICE_TRACE_CONTAINER_ROWS_H

#include "trace/container/column.h"
#include "trace/container/container.h"

struct head_builder;
struct ticks;

/* The columns in the order of storage, with the kind of guess and the column it is based on. */
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

/* Number of columns in payloads of versions 1 and 2. */
#define ROW_COUNT_1 ROW_SPAN
#define ROW_COUNT_2 ROW_HINTS

struct row_layout {
	enum column_guess guess;
	enum row_column other;
};

extern const struct row_layout row_layout[ROW_COUNT];

/*
 * Removes the thread bits from a parent before it is stored: its thread is nearly always that of
 * the call. The function is its own inverse; 0 (no parent) stays 0.
 */
static inline uint64_t row_parent(uint64_t parent, uint64_t thread)
{
	return parent && parent != thread ? parent ^ thread : parent;
}

/* A block that the writer is filling. */
struct rows_in {
	size_t count;
	uint64_t *columns[ROW_COUNT];
	uint64_t *start, *key, *process;
	uint64_t differ[ROW_COUNT]; /* per column: bits in which values differ from the first one */
	uint64_t key_differ, process_differ;
	uint32_t
		used; /* one bit per column; a column that is not used is all 0 and not filled in */
	bool unsorted;
	struct rows_scratch *scratch;
};

/* The memory, about 16 MiB if all columns are used, is allocated when the first rows are added.
 * After rows_in_release(), rows can be added again. */
void rows_in_init(struct rows_in *rows);
void rows_in_release(struct rows_in *rows);

/* Copies as many activities as fit and returns their number. */
size_t rows_in_add(struct rows_in *rows, const struct activity *batch, size_t n);

/* Sorts and encodes the rows, fills in the block header, and empties *rows. */
void rows_in_encode(struct rows_in *rows, struct buf *raw, struct block *block);

struct row_group {
	uint32_t process;
	uint64_t thread; /* the thread bits of the ids; the sequence number is 0 */
	uint16_t call, present;
	uint8_t layer;
};

/* A block that the reader has decoded. */
struct rows_out {
	size_t count, at; /* number of rows, and the next row to return */
	size_t group_count;
	struct row_group *groups;
	int64_t *start_ns;  /* the values of `starts` */
	uint16_t *group_of; /* group of each row; NULL if there is only one group */
	uint32_t *place;    /* index of each row in the columns; NULL: its own number */
	struct column starts, order, columns[ROW_COUNT];
	uint16_t *group_room; /* memory for group_of and place, for `room` rows */
	uint32_t *place_room;
	size_t room;
	bool libraries;	 /* a column that only calls of I/O libraries fill is not 0 */
	uint64_t number; /* of the block; keeps equal activities in the order of the file */
};

/*
 * Decodes a block and converts its times. The builder has the numbering of the trace and the tables
 * that indices refer to. Returns NULL if the payload is invalid. `spare`, rows that are no longer
 * needed or NULL, is taken over: its memory is used again, because blocks have several MiB.
 */
struct rows_out *rows_out_new(const struct block *block, const struct buf *raw,
			      const struct head_builder *builder, const struct ticks *ticks,
			      struct rows_out *spare);
void rows_out_free(struct rows_out *rows);

/* Copies the next n rows; the caller ensures that there are as many. */
void rows_out_read(struct rows_out *rows, struct activity *to, size_t n);

/* Whether row a of block x precedes row b of block y in the order of activity_compare(). */
bool rows_before(const struct rows_out *x, size_t a, const struct rows_out *y, size_t b);

#endif
