/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Writes Parquet files with flat rows. It implements as much of the format as tables of a trace
 * need. A file is written row group by row group; between two groups it is closed, so that any
 * number of files can be in progress.
 */
#ifndef SLUICE_TRACE_PARQUET_PARQUET_H
#define SLUICE_TRACE_PARQUET_PARQUET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct err;

enum parquet_type {
	PARQUET_BOOL,
	PARQUET_INT32,
	PARQUET_INT64,
	PARQUET_TIME, /* microseconds since 1970, in UTC */
	PARQUET_TEXT,
};

struct parquet_field {
	const char *name;
	enum parquet_type type;
	bool nullable;
};

struct parquet_schema {
	const struct parquet_field *fields;
	size_t count;
	int sorted; /* number of the field, from 1, by which the rows ascend; 0: none */
};

/* The values of one column. A text is the number of an element of texts, which is valid UTF-8. */
struct parquet_values {
	int64_t *numbers;
	uint8_t *present; /* 0: null */
	const char *const *texts;
	size_t text_count;
};

/* The rows of a group. fill() stores a column; several threads call it at the same time. */
struct parquet_rows {
	size_t count;
	void (*fill)(const void *arg, size_t column, struct parquet_values *values);
	const void *arg;
};

/* Threads and their memory for encoding; one thread at a time may use it. */
struct parquet_encoder;

struct parquet_encoder *parquet_encoder_new(unsigned threads);
void parquet_encoder_free(struct parquet_encoder *encoder);

/* A file in progress. The schema must outlive it. */
struct parquet {
	char *path;
	const struct parquet_schema *schema;
	uint64_t bytes, rows;
	struct buf groups; /* their metadata, encoded */
	size_t group_count;
};

struct parquet_pair {
	const char *key, *value;
};

/* The file is created by the first parquet_add() or by parquet_finish(); it must not exist. */
void parquet_init(struct parquet *file, const char *path, const struct parquet_schema *schema);

/* Appends a row group. */
int parquet_add(struct parquet *file, struct parquet_encoder *encoder,
		const struct parquet_rows *rows, struct err *err);

/*
 * Completes the file and syncs it to disk. pairs are metadata for readers; a pair without key ends
 * them. file->bytes is the final size.
 */
int parquet_finish(struct parquet *file, const struct parquet_pair *pairs, struct err *err);

/* Frees the memory; does not remove the file. Accepts a zeroed object. */
void parquet_release(struct parquet *file);

#endif
