/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A sheet of results. It is filled once and can be printed as a table for people and as JSON for
 * programs. A column has a title, whose leading '>' aligns it to the right, and a JSON key. A cell
 * is a text or a number; the table rounds numbers, JSON does not.
 *
 * Results of a machine that is only described or generated are modelled, not measured. Such a sheet
 * says so in its title and in JSON, and in the titles of the columns that are marked by '~': each
 * of them is the first of a group of results. The order of the marks is ">~".
 */
#ifndef SLUICE_CLI_SHEET_H
#define SLUICE_CLI_SHEET_H

#include <stdbool.h>
#include <stdio.h>

struct json;

struct sheet_column {
	const char *title, *key;
	int digits; /* of numbers, after the decimal point */
};

struct sheet_cell {
	char *text; /* NULL: the cell is a number */
	double number;
};

struct sheet {
	const char *name, *title;
	bool is_modelled;
	const struct sheet_column *columns; /* at least one; ends with a column without title */
	struct sheet_cell *cells;
	size_t count, cap;
	char **notes; /* sentences below the table */
	size_t note_count, note_cap;
};

void sheet_init(struct sheet *sheet, const char *name, const char *title,
		const struct sheet_column *columns);
void sheet_release(struct sheet *sheet);

/* Add the next cell, from left to right. NAN is an empty cell. */
void sheet_number(struct sheet *sheet, double number);
void sheet_text(struct sheet *sheet, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Adds a sentence below the table. */
void sheet_note(struct sheet *sheet, const char *format, ...) __attribute__((format(printf, 2, 3)));

void sheet_print(const struct sheet *sheet, FILE *out);
/* Adds the sheet as an object to the open array. */
void sheet_json(const struct sheet *sheet, struct json *json);

#endif
