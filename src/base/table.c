/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/table.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/escape.h"
#include "base/mem.h"
#include "base/term.h"

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
		free(table->cells[i].text);
	free(table->cells);
	*table = (struct table){ 0 };
}

static void add_cell(struct table *table, double value, const char *format, va_list ap)
{
	AUTO_BUF struct buf cell = { 0 };
	AUTO_FREE char *text = xvprintf(format, ap);

	table->cells = xgrow(table->cells, &table->cap, table->count + 1, sizeof(*table->cells));
	escape_text(&cell, text, "");
	table->cells[table->count++] =
		(struct table_cell){ .text = buf_take(&cell), .value = value };
}

void table_add(struct table *table, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	add_cell(table, NAN, format, ap);
	va_end(ap);
}

void table_add_number(struct table *table, double value, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	add_cell(table, value, format, ap);
	va_end(ap);
}

static bool is_right_aligned(const struct table *table, size_t column)
{
	return table->titles[column][0] == '>';
}

static const char *title_of(const struct table *table, size_t column)
{
	return table->titles[column] + is_right_aligned(table, column);
}

#define GAP 2	    /* blanks between columns */
#define FOLD 4	    /* further indentation of the lines after the first one of a folded row */
#define SHORTEST 16 /* a text is not shortened to less, unless its title is shorter */

/* How a table fits a width. */
struct layout {
	int indent;
	int widths[TABLE_COLUMNS_MAX];
	bool starts_line[TABLE_COLUMNS_MAX]; /* the column begins a further line of its row */
};

static void measure_columns(const struct table *table, struct layout *layout)
{
	for (size_t c = 0; c < table->columns; c++)
		layout->widths[c] = term_columns(title_of(table, c));
	for (size_t i = 0; i < table->count; i++) {
		int width = term_columns(table->cells[i].text);

		if (width > layout->widths[i % table->columns])
			layout->widths[i % table->columns] = width;
	}
}

static int total_width(const struct table *table, const struct layout *layout)
{
	int total = layout->indent - GAP;

	for (size_t c = 0; c < table->columns; c++)
		total += GAP + layout->widths[c];
	return total;
}

/* The widest column of texts that can be shortened; table->columns if there is none. */
static size_t widest_text(const struct table *table, const struct layout *layout)
{
	size_t widest = table->columns;

	for (size_t c = 0; c < table->columns; c++) {
		int least = term_columns(title_of(table, c));

		if (!is_right_aligned(table, c) &&
		    layout->widths[c] > (least > SHORTEST ? least : SHORTEST) &&
		    (widest == table->columns || layout->widths[c] > layout->widths[widest]))
			widest = c;
	}
	return widest;
}

/* Shortens texts, the longest first. Returns true if the table fits then. */
static bool shorten_columns(const struct table *table, struct layout *layout, int width)
{
	while (total_width(table, layout) > width) {
		size_t c = widest_text(table, layout);

		if (c == table->columns)
			return false;
		layout->widths[c]--;
	}
	return true;
}

/* Breaks rows into lines. Only a column that has a line of its own is shortened. */
static void fold_columns(const struct table *table, struct layout *layout, int width)
{
	int at = layout->indent;

	measure_columns(table, layout);
	for (size_t c = 0; c < table->columns; c++) {
		int most = width - layout->indent - (c ? FOLD : 0);

		if (layout->widths[c] > most)
			layout->widths[c] = most;
		layout->starts_line[c] = c && at + layout->widths[c] > width;
		if (layout->starts_line[c])
			at = layout->indent + FOLD;
		at += layout->widths[c] + GAP;
	}
}

/*
 * Prints a cell after `blanks` blanks. Blanks are delayed until a text follows them; the function
 * returns the number of blanks before the next cell.
 */
static int print_cell(const struct table *table, const struct layout *layout, size_t c,
		      const char *text, int blanks, FILE *out)
{
	bool right = is_right_aligned(table, c);
	AUTO_BUF struct buf shown = { 0 };
	int pad;

	if (layout->starts_line[c]) {
		putc('\n', out);
		blanks = layout->indent + FOLD;
	}
	term_shorten(&shown, text, layout->widths[c]);
	pad = layout->widths[c] - term_columns(buf_text(&shown));
	if (*text)
		fprintf(out, "%*s%s", blanks + (right ? pad : 0), "", buf_text(&shown));
	if (c + 1 == table->columns)
		putc('\n', out);
	return GAP + (!*text ? blanks + pad : right ? 0 : pad);
}

void table_print(const struct table *table, FILE *out, int indent)
{
	struct layout layout = { .indent = indent };
	int width = term_width(out), blanks = indent;

	if (!table->columns)
		return;
	measure_columns(table, &layout);
	if (width && !shorten_columns(table, &layout, width))
		fold_columns(table, &layout, width);
	for (size_t c = 0; c < table->columns; c++)
		blanks = print_cell(table, &layout, c, title_of(table, c), blanks, out);
	for (size_t i = 0; i < table->count; i++) {
		if (i % table->columns == 0)
			blanks = indent;
		blanks = print_cell(table, &layout, i % table->columns, table->cells[i].text,
				    blanks, out);
	}
}
