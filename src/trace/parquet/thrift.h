/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Writes structures in Thrift's compact protocol, in which Parquet stores its metadata. The fields
 * of a structure are written in ascending order of their numbers:
 *
 *	struct thrift t = { .out = &bytes };
 *
 *	thrift_i32(&t, 1, 7);                // field 1 of the outermost structure
 *	thrift_list(&t, 2, THRIFT_STRUCT, 1);
 *	thrift_open(&t, 0);                  // elements of a list have no number
 *	thrift_text(&t, 4, "name");
 *	thrift_close(&t);
 *	thrift_close(&t);                    // of the outermost structure
 */
#ifndef SLUICE_TRACE_PARQUET_THRIFT_H
#define SLUICE_TRACE_PARQUET_THRIFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

#define THRIFT_DEPTH_MAX 8

enum thrift_type {
	THRIFT_TRUE = 1,
	THRIFT_FALSE = 2,
	THRIFT_I32 = 5,
	THRIFT_I64 = 6,
	THRIFT_BINARY = 8,
	THRIFT_LIST = 9,
	THRIFT_STRUCT = 12,
};

struct thrift {
	struct buf *out;
	int depth;
	int last[THRIFT_DEPTH_MAX + 1]; /* number of the field written last, at each depth */
};

/* A field number of 0 writes the value alone, as an element of a list. */
void thrift_bool(struct thrift *thrift, int field, bool truth); /* field is not 0 */
void thrift_i32(struct thrift *thrift, int field, int32_t value);
void thrift_i64(struct thrift *thrift, int field, int64_t value);
void thrift_binary(struct thrift *thrift, int field, const void *bytes, size_t n);
void thrift_text(struct thrift *thrift, int field, const char *text);

/* Announces a list; its elements follow. */
void thrift_list(struct thrift *thrift, int field, enum thrift_type type, size_t count);

void thrift_open(struct thrift *thrift, int field);
void thrift_close(struct thrift *thrift);

#endif
