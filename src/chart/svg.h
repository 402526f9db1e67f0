/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Elements of SVG. Coordinates are in pixels and are written with one decimal. Texts come from
 * outside: markup is escaped, and controls become visible (base/escape.h).
 */
#ifndef SLUICE_CHART_SVG_H
#define SLUICE_CHART_SVG_H

#include <stddef.h>

struct buf;

enum svg_anchor { SVG_START, SVG_MIDDLE, SVG_END };

/* Mean width of a character at a font size of 12 pixels. */
#define SVG_LETTER 6.5

/* A number with one decimal, without a trailing ".0". One that is not finite becomes 0. */
void svg_number(struct buf *out, double number);

/* The text as content of an element. */
void svg_put_text(struct buf *out, const char *text);

/* `classes` are those of chart/style.h. */
void svg_text(struct buf *out, double x, double y, enum svg_anchor anchor, const char *classes,
	      const char *text);
/* The text rotated around its point by degrees. */
void svg_text_rotated(struct buf *out, double x, double y, double degrees, const char *classes,
		      const char *text);
void svg_line(struct buf *out, double x1, double y1, double x2, double y2, const char *classes);

/* `tip` is shown when the pointer rests on the rectangle; NULL: none. */
void svg_rect(struct buf *out, double x, double y, double width, double height, const char *classes,
	      const char *tip);

/* Approximate width of a text in pixels at the given font size. */
double svg_text_width(const char *text, double size);

/*
 * Shortens a text to the width: its middle becomes an ellipsis, because the end of a path says
 * most. Returns a text that the caller frees; "" if there is no room for six characters.
 */
char *svg_fit(const char *text, double width, double size);

#endif
