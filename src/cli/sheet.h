/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A sheet of results: said once, printed as a table for people or as JSON for programs. A column
 * has a title (a leading '>' aligns numbers to the right) and a key; a cell is a text or a number,
 * which JSON gets in full.
 */
#ifndef SLUICE_CLI_SHEET_H
#define SLUICE_CLI_SHEET_H

#include <stdio.h>

struct json;

struct sheet_column {
	const char *title, *key;
	int digits; /* of numbers, behind the point */
};

struct sheet_cell {
	char *text; /* NULL: the number */
	double number;
};

struct sheet {
	const char *name, *title;
	const struct sheet_column *columns; /* one at least; ends with one without title */
	struct sheet_cell *cells;
	size_t count, cap;
	char **notes; /* sentences below the table */
	size_t note_count, note_cap;
};

void sheet_init(struct sheet *sheet, const char *name, const char *title,
		const struct sheet_column *columns);
void sheet_release(struct sheet *sheet);

/* The next cell, left to right. NAN is none. */
void sheet_number(struct sheet *sheet, double number);
void sheet_text(struct sheet *sheet, const char *format, ...) __attribute__((format(printf, 2, 3)));
void sheet_note(struct sheet *sheet, const char *format, ...) __attribute__((format(printf, 2, 3)));

void sheet_print(const struct sheet *sheet, FILE *out);
void sheet_json(const struct sheet *sheet, struct json *json); /* an object of an array */

#endif
