/* SPDX-License-Identifier: BSD-3-Clause */
#include "chart/svg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/escape.h"
#include "base/mem.h"

#define ELLIPSIS "…"

void svg_number(struct buf *out, double number)
{
	char text[64];
	size_t n;

	/* Viewers cannot show numbers beyond this. */
	number = isfinite(number) ? fmax(fmin(number, 1e6), -1e6) : 0;
	n = (size_t)snprintf(text, sizeof(text), "%.1f", fabs(number) < 0.05 ? 0 : number);
	if (n > 2 && text[n - 1] == '0')
		text[n - 2] = '\0';
	buf_puts(out, text);
}

static void put_attribute(struct buf *out, const char *name, double number)
{
	buf_printf(out, " %s=\"", name);
	svg_number(out, number);
	buf_putc(out, '"');
}

void svg_put_text(struct buf *out, const char *text)
{
	AUTO_BUF struct buf visible = { 0 };

	escape_text(&visible, text, "");
	buf_put_xml(out, buf_text(&visible));
}

static void open_text(struct buf *out, double x, double y)
{
	buf_puts(out, "<text");
	put_attribute(out, "x", x);
	put_attribute(out, "y", y);
}

static void close_text(struct buf *out, const char *classes, const char *text)
{
	if (*classes)
		buf_printf(out, " class=\"%s\"", classes);
	buf_putc(out, '>');
	svg_put_text(out, text);
	buf_puts(out, "</text>\n");
}

void svg_text(struct buf *out, double x, double y, enum svg_anchor anchor, const char *classes,
	      const char *text)
{
	static const char *const anchors[] = { "", " text-anchor=\"middle\"",
					       " text-anchor=\"end\"" };

	open_text(out, x, y);
	buf_puts(out, anchors[anchor]);
	close_text(out, classes, text);
}

void svg_text_rotated(struct buf *out, double x, double y, double degrees, const char *classes,
		      const char *text)
{
	open_text(out, x, y);
	buf_printf(out, " text-anchor=\"%s\" transform=\"rotate(%g",
		   degrees == -90 ? "middle" : "end", degrees);
	buf_printf(out, " %.1f %.1f)\"", x, y);
	close_text(out, classes, text);
}

void svg_line(struct buf *out, double x1, double y1, double x2, double y2, const char *classes)
{
	buf_puts(out, "<line");
	put_attribute(out, "x1", x1);
	put_attribute(out, "y1", y1);
	put_attribute(out, "x2", x2);
	put_attribute(out, "y2", y2);
	buf_printf(out, " class=\"%s\"/>\n", classes);
}

void svg_rect(struct buf *out, double x, double y, double width, double height, const char *classes,
	      const char *tip)
{
	buf_puts(out, "<rect");
	put_attribute(out, "x", x);
	put_attribute(out, "y", y);
	put_attribute(out, "width", width);
	put_attribute(out, "height", height);
	buf_printf(out, " class=\"%s\"", classes);
	if (!tip) {
		buf_puts(out, "/>\n");
		return;
	}
	buf_puts(out, "><title>");
	svg_put_text(out, tip);
	buf_puts(out, "</title></rect>\n");
}

/* Characters of East Asia and emoji take two columns. */
static bool is_wide(uint32_t code)
{
	return code >= 0x2e80 || (code >= 0x1100 && code < 0x1160);
}

/* The number of columns that a text takes. An escaped byte takes four: \xHH. */
static size_t count_columns(const char *text, size_t bytes)
{
	size_t columns = 0;

	for (size_t i = 0; i < bytes;) {
		uint32_t code;
		size_t n = escape_decode(text + i, &code);

		columns += !n ? 4 : escape_is_control(code) ? 4 * n : is_wide(code) ? 2 : 1;
		i += n ? n : 1;
	}
	return columns;
}

double svg_text_width(const char *text, double size)
{
	return SVG_LETTER / 12 * size * (double)count_columns(text, strlen(text));
}

static size_t next_character(const char *text)
{
	uint32_t code;
	size_t n = escape_decode(text, &code);

	return n ? n : 1;
}

char *svg_fit(const char *text, double width, double size)
{
	size_t room = width > 0 ? (size_t)(width / (SVG_LETTER / 12 * size)) : 0;
	size_t bytes = strlen(text), head = 0, tail = 0;

	if (count_columns(text, bytes) <= room)
		return xstrdup(text);
	if (room < 6)
		return xstrdup("");
	/* A third of the room for the start. */
	while (count_columns(text, head + next_character(text + head)) <= (room - 1) / 3)
		head += next_character(text + head);
	for (tail = head;
	     count_columns(text + tail, bytes - tail) > room - 1 - count_columns(text, head);)
		tail += next_character(text + tail);
	return xprintf("%.*s" ELLIPSIS "%s", (int)head, text, text + tail);
}
