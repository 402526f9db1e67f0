/* SPDX-License-Identifier: BSD-3-Clause */
#include "chart/figure.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

/* In pixels. */
#define WIDTH 960.0
#define MARGIN 16.0
#define TITLE_HEIGHT 36.0
#define LINE_HEIGHT 17.0
#define LEGEND_HEIGHT 22.0
#define SWATCH 12.0
#define RAMP_WIDTH 26.0
#define RAMP_NAME_GAP 10.0

void figure_init(struct figure *figure, const char *title, const char *about)
{
	*figure = (struct figure){ .width = WIDTH,
				   .bottom = TITLE_HEIGHT,
				   .title = xstrdup(title),
				   .about = xstrdup(about) };
}

void figure_embed(struct figure *figure)
{
	figure->is_embedded = true;
	figure->bottom = 0;
}

void figure_release(struct figure *figure)
{
	free(figure->title);
	free(figure->about);
	buf_release(&figure->body);
	buf_release(&figure->area);
	*figure = (struct figure){ 0 };
}

void figure_text(struct figure *figure, const char *format, ...)
{
	AUTO_FREE char *text = NULL, *fitted = NULL;
	va_list ap;

	va_start(ap, format);
	text = xvprintf(format, ap);
	va_end(ap);
	fitted = svg_fit(text, figure->width - 2 * MARGIN, 12);
	svg_text(&figure->body, MARGIN, figure->bottom + 12, SVG_START, "mute", fitted);
	figure->bottom += LINE_HEIGHT;
}

static void put_key(struct figure *figure, const struct figure_key *key, double x, double y)
{
	char classes[16];

	snprintf(classes, sizeof(classes), key->is_line ? "k%u" : "c%u", key->color % STYLE_SERIES);
	if (key->is_line)
		svg_line(&figure->body, x - 4, y + SWATCH / 2, x + SWATCH, y + SWATCH / 2, classes);
	else
		svg_rect(&figure->body, x, y, SWATCH, SWATCH, classes, NULL);
}

void figure_legend(struct figure *figure, const struct figure_key *keys, size_t count)
{
	double x = MARGIN, room = figure->width - MARGIN;

	for (size_t i = 0; i < count; i++) {
		AUTO_FREE char *name = svg_fit(keys[i].name, room - MARGIN - 2 * SWATCH, 12);
		double width = SWATCH + 6 + svg_text_width(name, 12) + 18;

		if (x > MARGIN && x + width > room) {
			x = MARGIN;
			figure->bottom += LEGEND_HEIGHT;
		}
		put_key(figure, &keys[i], x, figure->bottom + 5);
		svg_text(&figure->body, x + SWATCH + 6, figure->bottom + 15, SVG_START, "", name);
		x += width;
	}
	figure->bottom += LEGEND_HEIGHT + 2;
}

void figure_ramp(struct figure *figure, const char *name, const struct scale *scale)
{
	double x = MARGIN + svg_text_width(name, 12) + RAMP_NAME_GAP, y = figure->bottom + 4;
	char label[SCALE_LABEL];

	svg_text(&figure->body, MARGIN, y + 10, SVG_START, "", name);
	scale_label(scale, scale->low, label);
	svg_text(&figure->body, x, y + 10, SVG_START, "mute", label);
	x += svg_text_width(label, 12) + 6;
	for (int i = 0; i < STYLE_RAMP; i++)
		svg_rect(&figure->body, x + RAMP_WIDTH * i, y, RAMP_WIDTH, SWATCH,
			 style_ramp((i + 0.5) / STYLE_RAMP), NULL);
	svg_text(&figure->body, x + RAMP_WIDTH * STYLE_RAMP + 6, y + 10, SVG_START, "mute",
		 scale_label(scale, scale->high, label));
	figure->bottom += LEGEND_HEIGHT + 2;
}

void figure_svg(const struct figure *figure, enum style_theme theme, struct buf *out)
{
	double height = ceil(figure->bottom + MARGIN / 2);
	AUTO_FREE char *title = svg_fit(figure->title, figure->width - 2 * MARGIN, 17);

	buf_printf(out,
		   "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"sluice-plot\" role=\"img\" "
		   "width=\"%g\" height=\"%g\" viewBox=\"0 0 %g %g\">\n<title>",
		   figure->width, height, figure->width, height);
	svg_put_text(out, figure->title);
	buf_puts(out, "</title>\n<desc>");
	svg_put_text(out, figure->about);
	buf_puts(out, "</desc>\n");
	if (!figure->is_embedded) {
		buf_puts(out, "<style>");
		style_rules(theme, out);
		buf_puts(out, "</style>\n");
		svg_rect(out, 0, 0, figure->width, height, "bg", NULL);
		svg_text(out, MARGIN, 26, SVG_START, "title", title);
	}
	buf_add(out, buf_text(&figure->body), figure->body.len);
	if (figure->area.len) {
		buf_add(out, figure->area.data, figure->area.len);
		buf_puts(out, "</svg>\n");
	}
	buf_puts(out, "</svg>\n");
}
