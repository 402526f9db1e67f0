/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rows of elemental benchmarks as CSV, and statistics over repetitions.
 *
 * The first line names the columns of rows.c, in any order; platform, operation, nodes, cores,
 * bytes and seconds are required. Texts with a comma or quote are quoted as in RFC 4180. Empty
 * lines are ignored.
 */
#ifndef SLUICE_PREDICT_MODEL_COSTS_ROWS_H
#define SLUICE_PREDICT_MODEL_COSTS_ROWS_H

#include <stddef.h>

struct buf;
struct elements;
struct err;

void rows_write(const struct elements *rows, struct buf *out);

/* Appends to out, which is untouched on failure. Errors name file, line and column. */
int rows_parse(struct elements *out, const char *name, const char *text, size_t bytes,
	       struct err *err);

/* "-" is standard input or output. rows_save() writes a temporary file and renames it. */
int rows_read(struct elements *out, const char *path, struct err *err);
int rows_save(const struct elements *rows, const char *path, struct err *err);

/*
 * Rows that differ only in round, repetition, seconds and time belong to one cell: they are
 * repetitions of the same operation.
 */
struct rows_cell {
	size_t first; /* index of its first row */
	size_t count;
	double mean, deviation; /* of seconds; sample standard deviation, 0 for one row */
};

/* Finds the cells, ordered by first row, and returns their number. The caller frees *cells. */
size_t rows_cells(const struct elements *rows, struct rows_cell **cells);

/* Appends one row per cell to out: its first row with the mean of all seconds. */
void rows_means(const struct elements *rows, struct elements *out);

/*
 * Assigns ascending repetition numbers to rows that differ only in seconds and time, because the
 * store would keep only one of them. Other rows keep their numbers, so the function is idempotent.
 */
void rows_number(struct elements *rows);

/*
 * The relative noise of an operation: the median over its cells of deviation over mean. NAN: no
 * cell was repeated.
 */
double rows_spread(const struct elements *rows, const char *operation);

#endif
