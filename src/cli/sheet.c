/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/sheet.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/table.h"
#include "base/term.h"

void sheet_init(struct sheet *sheet, const char *name, const char *title,
		const struct sheet_column *columns)
{
	*sheet = (struct sheet){ .name = name, .title = title, .columns = columns };
}

void sheet_release(struct sheet *sheet)
{
	for (size_t i = 0; i < sheet->count; i++)
		free(sheet->cells[i].text);
	for (size_t i = 0; i < sheet->note_count; i++)
		free(sheet->notes[i]);
	free(sheet->cells);
	free(sheet->notes);
	*sheet = (struct sheet){ 0 };
}

static struct sheet_cell *append_cell(struct sheet *sheet)
{
	sheet->cells = xgrow(sheet->cells, &sheet->cap, sheet->count + 1, sizeof(*sheet->cells));
	sheet->cells[sheet->count] = (struct sheet_cell){ 0 };
	return &sheet->cells[sheet->count++];
}

void sheet_number(struct sheet *sheet, double number)
{
	append_cell(sheet)->number = number;
}

void sheet_text(struct sheet *sheet, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	append_cell(sheet)->text = xvprintf(format, ap);
	va_end(ap);
}

void sheet_note(struct sheet *sheet, const char *format, ...)
{
	va_list ap;

	sheet->notes =
		xgrow(sheet->notes, &sheet->note_cap, sheet->note_count + 1, sizeof(*sheet->notes));
	va_start(ap, format);
	sheet->notes[sheet->note_count++] = xvprintf(format, ap);
	va_end(ap);
}

/* The column of the next cell. After the last column, the next row begins with the first. */
static const struct sheet_column *next_column(const struct sheet *sheet,
					      const struct sheet_column *column)
{
	return column[1].title ? column + 1 : sheet->columns;
}

static void print_cell(struct table *table, const struct sheet_cell *cell, int digits)
{
	if (cell->text)
		table_add(table, "%s", cell->text);
	else if (isnan(cell->number))
		table_add(table, "-");
	else
		table_add(table, "%.*f", digits, cell->number);
}

/* The title of a column for the table, which knows only the mark '>'. The caller frees it. */
static char *make_title(const struct sheet *sheet, const char *title)
{
	const char *align = title[0] == '>' ? ">" : "";

	title += strlen(align);
	if (title[0] != '~')
		return xprintf("%s%s", align, title);
	return xprintf("%s%s%s", align, sheet->is_modelled ? "modelled: " : "", title + 1);
}

void sheet_print(const struct sheet *sheet, FILE *out)
{
	char *titles[TABLE_COLUMNS_MAX + 1] = { 0 };
	const struct sheet_column *column = sheet->columns;
	struct table table;

	for (size_t i = 0; i < TABLE_COLUMNS_MAX && sheet->columns[i].title; i++)
		titles[i] = make_title(sheet, sheet->columns[i].title);
	table_init(&table, (const char *const *)titles);
	for (size_t i = 0; i < sheet->count; i++) {
		print_cell(&table, &sheet->cells[i], column->digits);
		column = next_column(sheet, column);
	}
	term_sentence(out, "%s%s\n", sheet->title, sheet->is_modelled ? " (modelled)" : "");
	table_print(&table, out, 2);
	table_release(&table);
	for (size_t i = 0; titles[i]; i++)
		free(titles[i]);
	for (size_t i = 0; i < sheet->note_count; i++)
		term_sentence(out, "%s\n", sheet->notes[i]);
}

void sheet_json(const struct sheet *sheet, struct json *json)
{
	const struct sheet_column *column = sheet->columns;

	json_open(json, NULL, '{');
	json_text(json, "name", sheet->name);
	json_text(json, "title", sheet->title);
	json_bool(json, "modelled", sheet->is_modelled);
	json_open(json, "rows", '[');
	for (size_t i = 0; i < sheet->count; i++) {
		if (column == sheet->columns)
			json_open(json, NULL, '{');
		if (sheet->cells[i].text)
			json_text(json, column->key, sheet->cells[i].text);
		else
			json_double(json, column->key, sheet->cells[i].number);
		column = next_column(sheet, column);
		if (column == sheet->columns)
			json_close(json);
	}
	json_close(json);
	json_open(json, "notes", '[');
	for (size_t i = 0; i < sheet->note_count; i++)
		json_text(json, NULL, sheet->notes[i]);
	json_close(json);
	json_close(json);
}
