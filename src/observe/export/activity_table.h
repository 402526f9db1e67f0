/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The activities of a trace as rows of a Parquet table. Names are written out, so that most queries
 * need no join. The columns are described in docs/reference/queries.md.
 */
#ifndef SLUICE_OBSERVE_EXPORT_ACTIVITY_TABLE_H
#define SLUICE_OBSERVE_EXPORT_ACTIVITY_TABLE_H

#include "observe/export/texts.h"
#include "trace/format.h"
#include "trace/parquet/parquet.h"

extern const struct parquet_schema activity_schema;

/* The names of a trace, by the numbers that activities have. */
struct activity_names {
	const struct trace_head *head;
	struct texts texts;
	uint32_t *files, *calls;	/* numbers in texts */
	uint32_t layers[256], *classes; /* classes by call */
	uint8_t *ways;			/* by call, see observe/tally/traffic.h */
};

/* head must outlive the names. */
void activity_names_init(struct activity_names *names, const struct trace_head *head);
void activity_names_release(struct activity_names *names);

/* A row group: the argument of activity_fill(), which is the fill() of a struct parquet_rows. */
struct activity_rows {
	const struct activity_names *names;
	const struct activity *activities;
	size_t count;
};

void activity_fill(const void *rows, size_t column, struct parquet_values *values);

#endif
