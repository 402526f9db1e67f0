/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rows of tables of store/schema.h as bytes: the payload of frames to the site's database, and of
 * nothing else. docs/reference/site.md describes the encoding. All numbers are little-endian.
 *
 *   payload   "SLR1", u32 version of the schema, 32 digits of the run, blocks
 *   block     u8 length of the name of the table, its name, u32 rows, u32 bytes, rows
 *   row       one bit per column: 1, it has a value; padded to bytes, lowest bit first. Then the
 *             values: 2, 4 or 8 bytes for integers, 8 for reals, u32 length and bytes for texts
 *
 * The columns are those that the table has in that version of the schema, without the id of the
 * row and the id of the run, which only the database knows.
 *
 * Reading trusts nothing. Texts are valid UTF-8 without zero bytes, or the payload is refused.
 * Papers: SIOX-34.
 */
#ifndef SLUICE_SITE_ROWS_H
#define SLUICE_SITE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "store/schema.h"

struct err;

#define ROWS_COLUMNS_MAX 32
#define ROWS_UUID_DIGITS 32
#define ROWS_NO_RUN "00000000000000000000000000000000" /* the payload is about a node */

/* A value of a row. Which member counts depends on the type of the column. */
struct row_value {
	bool is_set; /* false: NULL */
	int64_t number;
	double real;
	const char *text; /* text_bytes of it; followed by a zero byte only before rows_add() */
	size_t text_bytes;
};

static inline struct row_value row_number(int64_t number)
{
	return (struct row_value){ .is_set = true, .number = number };
}

struct row_value row_text(const char *text); /* NULL counts as "" */
struct row_value row_real(double real);	     /* NAN is NULL */

/* Writing: a payload that grows. A zeroed one is empty. */
struct rows_writer {
	struct buf bytes;
	const struct schema_table *table; /* of the block in progress */
	size_t block;			  /* offset of its counters */
	uint32_t count;
	char uuid[ROWS_UUID_DIGITS + 1];
};

void rows_start(struct rows_writer *writer, const char *uuid);

/*
 * Adds a row; values are indexed by the columns of the table. Texts that are not UTF-8
 * are escaped (base/escape.h).
 */
void rows_add(struct rows_writer *writer, const struct schema_table *table,
	      const struct row_value *values);

/* Completes the payload: its bytes are valid until the next rows_start(). */
void rows_finish(struct rows_writer *writer);
bool rows_is_empty(const struct rows_writer *writer);
void rows_release(struct rows_writer *writer);

/* Reading. The bytes must outlive the reader. */
struct rows_reader {
	const unsigned char *at, *end, *block_end;
	int version;
	char uuid[ROWS_UUID_DIGITS + 1];
	const struct schema_table *table;
	uint32_t left; /* rows of the block */
};

/* All functions return -EBADMSG, and say why, if the payload is invalid. */
int rows_open(struct rows_reader *reader, const void *bytes, size_t n, struct err *err);
/* Goes to the next block. Returns 1 and sets reader->table; 0 at the end. */
int rows_next_block(struct rows_reader *reader, struct err *err);
/* Reads the next row of the block. Returns 1, or 0 at the end of the block. */
int rows_next(struct rows_reader *reader, struct row_value *values, struct err *err);

/* Checks a payload completely. */
int rows_check(const void *bytes, size_t n, struct err *err);

#endif
