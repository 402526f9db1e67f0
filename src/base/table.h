/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A text table: cells are collected row by row and printed with columns as wide as their widest
 * cell.
 */
#ifndef SLUICE_BASE_TABLE_H
#define SLUICE_BASE_TABLE_H

#include <stddef.h>
#include <stdio.h>

#define TABLE_COLUMNS_MAX 24

/* A title that begins with '>' makes a right-aligned column: numbers. The '>' is not printed. */
struct table {
	const char *titles[TABLE_COLUMNS_MAX];
	size_t columns;
	char **cells; /* row by row */
	size_t count, cap;
};

/* titles ends with NULL, after TABLE_COLUMNS_MAX at most; the array and its texts must outlive the table. */
void table_init(struct table *table, const char *const *titles);
void table_release(struct table *table);

/* The next cell, left to right; a full row is followed by the next one. */
void table_add(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints titles and rows, each line after `indent` blanks and without blanks at its end. */
void table_print(const struct table *table, FILE *out, int indent);

#endif
