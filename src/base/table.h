/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A text table. Cells are added row by row; each column is printed as wide as its widest cell. If
 * that exceeds the width of the terminal, texts are shortened ("/home/...ts/out.dat") and, if that
 * is not enough, rows are folded into several lines. Where there is no terminal, nothing is
 * shortened.
 */
#ifndef SLUICE_BASE_TABLE_H
#define SLUICE_BASE_TABLE_H

#include <stddef.h>
#include <stdio.h>

#define TABLE_COLUMNS_MAX 24

struct table_cell {
	char *text;
	double value; /* the number that the text shows, for sorting; NAN: the text is no number */
};

/* A title that begins with '>' right-aligns its column, for numbers. The '>' is not printed. */
struct table {
	const char *titles[TABLE_COLUMNS_MAX];
	size_t columns;
	struct table_cell *cells; /* row by row */
	size_t count, cap;
	const char *note; /* what a reader should know; table_print() ignores it. NULL: none */
};

/* titles ends with NULL and has at most TABLE_COLUMNS_MAX entries. Its texts must outlive the
 * table. */
void table_init(struct table *table, const char *const *titles);
void table_release(struct table *table);

/*
 * Adds the next cell, from left to right. A new row starts when a row is full. The text is escaped
 * (base/escape.h).
 */
void table_add(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same for a cell that shows a number. */
void table_add_number(struct table *table, double value, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Prints titles and rows. Each line starts with `indent` blanks and has no trailing blanks. */
void table_print(const struct table *table, FILE *out, int indent);

#endif
