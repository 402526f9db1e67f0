/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rows of elemental benchmarks (HYB-38) as CSV, and what repetitions amount to.
 *
 * The first line names columns, in any order; those of rows.c are known, and platform, operation,
 * nodes, cores, bytes and seconds must be there. Texts with a comma or quote are quoted as by RFC
 * 4180. Empty lines do not count.
 */
#ifndef SLUICE_PREDICT_MODEL_COSTS_ROWS_H
#define SLUICE_PREDICT_MODEL_COSTS_ROWS_H

#include <stddef.h>

struct buf;
struct elements;
struct err;

void rows_write(const struct elements *rows, struct buf *out);

/* Adds to out, which is untouched on failure; err names file, line and column. */
int rows_parse(struct elements *out, const char *name, const char *text, size_t bytes,
	       struct err *err);

/* A whole file; "-" is standard input or output. A file appears when it is complete. */
int rows_read(struct elements *out, const char *path, struct err *err);
int rows_save(const struct elements *rows, const char *path, struct err *err);

/*
 * Rows that differ in round, repetition, seconds and time alone are of one cell: the same operation
 * done again.
 */
struct rows_cell {
	size_t first; /* index of its first row */
	size_t count;
	double mean, deviation; /* of seconds; deviation of a sample, 0 of one row */
};

/* In the order of their first rows; the caller frees *cells. Returns how many. */
size_t rows_cells(const struct elements *rows, struct rows_cell **cells);

/* A row per cell, its first with the mean of all: what HYB-37 learns from. Adds to out. */
void rows_means(const struct elements *rows, struct elements *out);

/*
 * Gives rows that agree in all but seconds and time repetitions of their own, rising: a store keeps
 * one of them otherwise. Others keep theirs, so doing it twice is as good as once.
 */
void rows_number(struct elements *rows);

/*
 * How steady the operation is (HYB-AC-17): the median over its cells of deviation over mean. NAN
 * where no cell was repeated.
 */
double rows_spread(const struct elements *rows, const char *operation);

#endif
