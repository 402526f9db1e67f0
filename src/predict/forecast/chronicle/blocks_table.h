/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table of a block: a header that names sizes, and a row of cells for each target.
 */
#ifndef SLUICE_PREDICT_FORECAST_CHRONICLE_BLOCKS_TABLE_H
#define SLUICE_PREDICT_FORECAST_CHRONICLE_BLOCKS_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "predict/forecast/chronicle/chronicle.h"

struct err;
struct lines;

struct blocks_row {
	char target[CHRONICLE_NAME];
	double seconds[CHRONICLE_SIZES];
	/* The encoding of struct chronicle_series; -1: nothing was written. */
	int outcome[CHRONICLE_SIZES];
};

struct blocks_table {
	/* The columns; they remain valid until a different header is read. */
	struct buf header;
	uint64_t sizes[CHRONICLE_SIZES];
	size_t size_count;
	/* The rows of the current block; the caller sets row_count to 0 at the next block. */
	struct blocks_row *rows;
	size_t row_count, row_cap;
};

void blocks_table_release(struct blocks_table *table);

/* Both parse the current line. On failure err gives the file, the line and what is wrong. */
int blocks_table_header(struct blocks_table *table, const struct lines *lines, struct err *err);
/* `method` applies to cells without a method. Splits the line into words in place. */
int blocks_table_row(struct blocks_table *table, struct lines *lines, enum sample_method method,
		     struct err *err);

#endif
