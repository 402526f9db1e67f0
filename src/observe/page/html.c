/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/page/html.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "base/escape.h"
#include "base/mem.h"
#include "base/table.h"
#include "base/text.h"

/* The length of the text, at most max, without a part of a UTF-8 character at its end. */
static size_t clip_length(const char *text, size_t max)
{
	size_t n = strnlen(text, max + 1);

	if (n <= max)
		return n;
	for (n = max; n && (text[n] & 0xC0) == 0x80;)
		n--;
	return n;
}

static void put_clipped(struct buf *out, const char *text, size_t max)
{
	AUTO_BUF struct buf plain = { 0 };
	AUTO_FREE char *part = xstrndup(text, clip_length(text, max));

	escape_text(&plain, part, "");
	if (text[strlen(part)])
		buf_puts(&plain, " ...");
	buf_put_xml(out, buf_text(&plain));
}

void html_text(struct buf *out, const char *text)
{
	put_clipped(out, text, HTML_TEXT_MAX);
}

void html_element(struct buf *out, const char *tag, const char *class, const char *text)
{
	buf_printf(out, "<%s", tag);
	if (class)
		buf_printf(out, " class=\"%s\"", class);
	buf_putc(out, '>');
	html_text(out, text);
	buf_printf(out, "</%s>\n", tag);
}

void html_lines(struct buf *out, const char *class, const char *text, size_t max_bytes)
{
	size_t limit = out->len + max_bytes;

	if (!*text)
		return;
	buf_printf(out, "<ul class=\"%s\">\n", class);
	while (*text && out->len < limit) {
		size_t n = strcspn(text, "\n");
		AUTO_FREE char *line = xstrndup(text, n);

		html_element(out, "li", NULL, line);
		text += n + (text[n] == '\n');
	}
	if (*text)
		buf_puts(out, "<li>...</li>\n");
	buf_puts(out, "</ul>\n");
}

/* Line breaks and tabs arrange code; all other controls are escaped. */
static void put_code(struct buf *out, const char *text)
{
	AUTO_FREE char *part = xstrndup(text, clip_length(text, HTML_TEXT_MAX));
	const char *at = part;

	while (*at) {
		size_t n = strcspn(at, "\n\t");
		AUTO_FREE char *line = xstrndup(at, n);

		html_text(out, line);
		if (at[n])
			buf_puts(out, at[n] == '\t' ? "    " : "\n");
		at += n + (at[n] != '\0');
	}
	if (text[strlen(part)])
		buf_puts(out, " ...");
}

void html_copy(struct buf *out, const char *text)
{
	buf_puts(out, "<div class=\"copy\"><pre tabindex=\"0\"><code>");
	put_code(out, text);
	buf_puts(out, "</code></pre></div>\n");
}

static bool is_number_column(const struct table *table, size_t column)
{
	return table->titles[column][0] == '>';
}

static const char *column_title(const struct table *table, size_t column)
{
	return table->titles[column] + is_number_column(table, column);
}

static void move_to_front(const struct table *table, size_t *order, const char *title)
{
	size_t at = 0;

	while (at < table->columns && strcmp(column_title(table, order[at]), title) != 0)
		at++;
	if (at == table->columns)
		return;
	for (size_t column = order[at]; at; at--) {
		order[at] = order[at - 1];
		order[at - 1] = column;
	}
}

/* The columns in the order in which they are shown. */
static void order_columns(const struct html_table *spec, const struct table *table, size_t *order)
{
	for (size_t c = 0; c < table->columns; c++)
		order[c] = c;
	if (spec->next)
		move_to_front(table, order, spec->next);
	move_to_front(table, order, spec->lead);
}

/* The directory of a path is less prominent than its last part. */
static void put_name(struct buf *out, const char *text)
{
	const char *slash = strrchr(text, '/');
	AUTO_FREE char *directory = NULL;

	if (text[0] != '/' || !slash[1]) {
		put_clipped(out, text, HTML_CELL_MAX);
		return;
	}
	directory = xstrndup(text, (size_t)(slash + 1 - text));
	buf_puts(out, "<span class=\"d\">");
	put_clipped(out, directory, HTML_CELL_MAX);
	buf_puts(out, "</span>");
	put_clipped(out, slash + 1, HTML_CELL_MAX);
}

/* A number whose text shows all of its digits needs no value of its own. */
static void put_value(struct buf *out, const struct table_cell *cell)
{
	if (isnan(cell->value) || cell->text[strspn(cell->text, "0123456789")] == '\0')
		buf_puts(out, " data-v");
	else
		buf_printf(out, " data-v=\"%.6g\"", cell->value);
}

static void put_bar(struct buf *out, double share)
{
	buf_printf(out, "<svg class=\"bar\" aria-hidden=\"true\"><rect width=\"%.1f%%\"/></svg>",
		   100 * fmin(fmax(share, 0), 1));
}

static void put_cell(struct buf *out, const struct table *table, size_t column,
		     const struct table_cell *cell)
{
	buf_puts(out, "<td");
	if (is_number_column(table, column))
		put_value(out, cell);
	buf_putc(out, '>');
	if (!isnan(cell->value) && text_ends_with(cell->text, "%"))
		put_bar(out, cell->value);
	put_clipped(out, cell->text, HTML_CELL_MAX);
	buf_puts(out, "</td>");
}

static void put_titles(struct buf *out, const struct table *table, const size_t *order)
{
	buf_puts(out, "<thead><tr>");
	for (size_t i = 0; i < table->columns; i++) {
		buf_printf(out, "<th scope=\"col\"%s>",
			   is_number_column(table, order[i]) ? " class=\"n\"" : "");
		html_text(out, column_title(table, order[i]));
		buf_puts(out, "</th>");
	}
	buf_puts(out, "</tr></thead>\n");
}

static void put_row(struct buf *out, const struct table *table, const struct table_cell *row,
		    const size_t *order)
{
	buf_puts(out, "<tr><th scope=\"row\"");
	if (is_number_column(table, order[0]))
		put_value(out, &row[order[0]]);
	buf_putc(out, '>');
	put_name(out, row[order[0]].text);
	buf_puts(out, "</th>");
	for (size_t i = 1; i < table->columns; i++)
		put_cell(out, table, order[i], &row[order[i]]);
	buf_puts(out, "</tr>\n");
}

/* Returns the number of rows that fit into max_bytes. */
static size_t put_rows(struct buf *out, const struct table *table, const size_t *order,
		       size_t max_bytes)
{
	size_t limit = out->len + max_bytes, rows = table->count / table->columns, i;

	for (i = 0; i < rows && out->len < limit; i++)
		put_row(out, table, &table->cells[i * table->columns], order);
	return i;
}

void html_table(struct buf *out, const struct html_table *spec, const struct table *table,
		size_t count)
{
	size_t order[TABLE_COLUMNS_MAX], shown;

	buf_printf(out, "<section id=\"%s\">\n<h2 id=\"%s-title\">", spec->id, spec->id);
	html_text(out, spec->title);
	buf_puts(out, "</h2>\n");
	if (spec->about)
		html_element(out, "p", "about", spec->about);
	buf_printf(out,
		   "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
		   "aria-labelledby=\"%s-title\"><table aria-labelledby=\"%s-title\">\n",
		   spec->id, spec->id);
	order_columns(spec, table, order);
	put_titles(out, table, order);
	buf_puts(out, "<tbody>\n");
	shown = put_rows(out, table, order, spec->max_bytes);
	buf_puts(out, "</tbody></table></div>\n");
	if (shown < count)
		buf_printf(out,
			   "<p class=\"more\">%zu more %s are not on this page; "
			   "<code>sluice report --top %zu</code> prints all.</p>\n",
			   count - shown, spec->rows, count);
	if (table->note)
		html_element(out, "p", "more", table->note);
	buf_puts(out, "</section>\n");
}
