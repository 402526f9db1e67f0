/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/table.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/escape.h"
#include "base/mem.h"

void table_init(struct table *table, const char *const *titles)
{
	*table = (struct table){ 0 };
	while (titles[table->columns] && table->columns < TABLE_COLUMNS_MAX) {
		table->titles[table->columns] = titles[table->columns];
		table->columns++;
	}
	if (titles[table->columns]) /* too many columns: a bug of the caller */
		abort();
}

void table_release(struct table *table)
{
	for (size_t i = 0; i < table->count; i++)
		free(table->cells[i]);
	free(table->cells);
	*table = (struct table){ 0 };
}

void table_add(struct table *table, const char *format, ...)
{
	AUTO_BUF struct buf cell = { 0 };
	AUTO_FREE char *text = NULL;
	va_list ap;

	table->cells = xgrow(table->cells, &table->cap, table->count + 1, sizeof(*table->cells));
	va_start(ap, format);
	text = xvprintf(format, ap);
	va_end(ap);
	escape_text(&cell, text, "");
	table->cells[table->count++] = buf_take(&cell);
}

/* Width on a terminal, approximated as one column per UTF-8 character. */
static int text_width(const char *text)
{
	int width = 0;

	for (; *text; text++)
		width += (*text & 0xC0) != 0x80;
	return width;
}

static bool is_right_aligned(const struct table *table, size_t column)
{
	return table->titles[column][0] == '>';
}

static void measure_columns(const struct table *table, int *widths)
{
	for (size_t c = 0; c < table->columns; c++)
		widths[c] = text_width(table->titles[c] + is_right_aligned(table, c));
	for (size_t i = 0; i < table->count; i++) {
		int width = text_width(table->cells[i]);

		if (width > widths[i % table->columns])
			widths[i % table->columns] = width;
	}
}

/*
 * Prints a cell after `blanks` blanks. Blanks are delayed until a text follows them; the function
 * returns the number of blanks before the next cell.
 */
static int print_cell(const struct table *table, const int *widths, size_t c, const char *text,
		      int blanks, FILE *out)
{
	int pad = widths[c] - text_width(text);
	bool right = is_right_aligned(table, c);

	if (*text)
		fprintf(out, "%*s%s", blanks + (right ? pad : 0), "", text);
	if (c + 1 == table->columns)
		putc('\n', out);
	return 2 + (!*text ? blanks + pad : right ? 0 : pad);
}

void table_print(const struct table *table, FILE *out, int indent)
{
	int widths[TABLE_COLUMNS_MAX], blanks = indent;

	if (!table->columns)
		return;
	measure_columns(table, widths);
	for (size_t c = 0; c < table->columns; c++)
		blanks = print_cell(table, widths, c, table->titles[c] + is_right_aligned(table, c),
				    blanks, out);
	for (size_t i = 0; i < table->count; i++) {
		if (i % table->columns == 0)
			blanks = indent;
		blanks =
			print_cell(table, widths, i % table->columns, table->cells[i], blanks, out);
	}
}
