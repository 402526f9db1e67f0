/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Panels of a figure: axes, and the marks on them.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "chart/figure.h"

/* In pixels. */
#define LEFT 82.0
#define RIGHT 24.0
#define HEAD 34.0     /* room for the title of a panel */
#define GAP 12.0      /* above a panel without a title */
#define X_LABELS 20.0 /* below the area */
#define X_TITLE 17.0
#define X_TICK_ROOM 90.0
#define Y_TICK_ROOM 42.0

static void put_y_axis(struct panel *panel)
{
	double ticks[SCALE_TICKS_MAX];
	size_t about = (size_t)fmax(panel->height / Y_TICK_ROOM, 2);
	size_t count = scale_ticks(&panel->y, about, ticks);
	struct buf *out = &panel->figure->body;

	for (size_t i = 0; i < count; i++) {
		double y = panel_y(panel, ticks[i]);
		char label[SCALE_LABEL];

		svg_line(out, panel->left, y, panel->left + panel->width, y, "grid");
		svg_text(out, panel->left - 8, y + 4, SVG_END, "mute",
			 scale_label(&panel->y, ticks[i], label));
	}
}

/* Labels that would run into the previous one are left out. */
static void put_x_axis(struct panel *panel, bool labels)
{
	double ticks[SCALE_TICKS_MAX], bottom = panel->top + panel->height, free_x = 0;
	size_t about = (size_t)fmax(panel->width / X_TICK_ROOM, 2);
	size_t count = scale_ticks(&panel->x, about, ticks);
	struct buf *out = &panel->figure->body;

	svg_line(out, panel->left, bottom, panel->left + panel->width, bottom, "axis");
	if (panel->is_time)
		buf_printf(out, "<g class=\"ticks\" data-panel=\"%u\">\n", panel->figure->panels);
	for (size_t i = 0; i < count; i++) {
		char label[SCALE_LABEL];
		double x = panel_x(panel, ticks[i]);
		double half = svg_text_width(scale_label(&panel->x, ticks[i], label), 12) / 2;

		svg_line(out, x, bottom, x, bottom + 4, "axis");
		if (!labels || x - half < free_x || x + half > panel->figure->width)
			continue;
		svg_text(out, x, bottom + 17, SVG_MIDDLE, "mute", label);
		free_x = x + half + 6;
	}
	if (panel->is_time)
		buf_puts(out, "</g>\n");
}

/* Closes the area of the previous panel and starts that of a panel over time. */
static void start_area(struct figure *figure, const struct panel *panel)
{
	struct buf *out = &figure->area;

	if (out->len) {
		buf_add(&figure->body, out->data, out->len);
		buf_puts(&figure->body, "</svg>\n");
		buf_clear(out);
	}
	if (!panel->is_time)
		return;
	buf_printf(out,
		   "<svg class=\"area\" data-panel=\"%u\" data-low=\"%.9g\" data-high=\"%.9g\" "
		   "x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
		   "viewBox=\"%.1f %.1f %.1f %.1f\" preserveAspectRatio=\"none\" "
		   "overflow=\"visible\">\n",
		   figure->panels, panel->x.low, panel->x.high, panel->left, panel->top,
		   panel->width, panel->height, panel->left, panel->top, panel->width,
		   panel->height);
}

struct buf *panel_marks(const struct panel *panel)
{
	return panel->is_time ? &panel->figure->area : &panel->figure->body;
}

void figure_panel(struct figure *figure, struct panel *panel, const struct panel_plan *plan)
{
	double left = plan->left > 0 ? plan->left : LEFT;
	double right = plan->right > 0 ? plan->right : RIGHT;

	*panel = (struct panel){ .figure = figure,
				 .x = plan->x,
				 .y = plan->y,
				 .y_down = plan->y_down,
				 .is_time = plan->is_time,
				 .left = left,
				 .top = figure->bottom + (plan->title ? HEAD : GAP),
				 .width = figure->width - left - right,
				 .height = plan->height };
	figure->panels += plan->is_time;
	start_area(figure, panel);
	if (plan->title) {
		AUTO_FREE char *title = svg_fit(plan->title, figure->width - 32, 12.5);

		svg_text(&figure->body, 16, panel->top - 15, SVG_START, "head", title);
	}
	if (!plan->no_y)
		put_y_axis(panel);
	if (!plan->no_x)
		put_x_axis(panel, !plan->no_x_labels);
	figure->bottom = panel->top + panel->height + 6;
	if (!plan->no_x && !plan->no_x_labels)
		figure->bottom += X_LABELS;
	if (plan->x_title && !plan->no_x_labels) {
		svg_text(&figure->body, left + panel->width, figure->bottom + 8, SVG_END, "mute",
			 plan->x_title);
		figure->bottom += X_TITLE;
	}
}

static double clamp(double share)
{
	return isnan(share) ? share : fmax(fmin(share, 1), 0);
}

double panel_x(const struct panel *panel, double value)
{
	return panel->left + panel->width * clamp(scale_place(&panel->x, value));
}

double panel_y(const struct panel *panel, double value)
{
	double share = clamp(scale_place(&panel->y, value));

	return panel->top + panel->height * (panel->y_down ? share : 1 - share);
}

static void put_point(struct buf *out, char command, double x, double y)
{
	buf_putc(out, command);
	svg_number(out, x);
	buf_putc(out, ' ');
	svg_number(out, y);
}

static void end_path(struct buf *out, const char *kind, unsigned color, const char *classes)
{
	buf_printf(out, "\" class=\"%s%u%s%s\"/>\n", kind, color % STYLE_SERIES,
		   *classes ? " " : "", classes);
}

void panel_line(struct panel *panel, unsigned color, const char *classes, const double *x,
		const double *y, size_t count)
{
	struct buf *out = panel_marks(panel);
	bool drawing = false;

	buf_puts(out, "<path d=\"M0 0");
	for (size_t i = 0; i < count; i++) {
		double at = panel_x(panel, x[i]), height = panel_y(panel, y[i]);

		if (isnan(at) || isnan(height)) {
			drawing = false;
			continue;
		}
		put_point(out, drawing ? 'L' : 'M', at, height);
		drawing = true;
	}
	end_path(out, "k", color, classes);
}

void panel_dots(struct panel *panel, unsigned color, const char *classes, const double *x,
		const double *y, size_t count)
{
	AUTO_FREE char *all = xprintf("dots%s%s", *classes ? " " : "", classes);
	struct buf *out = panel_marks(panel);

	buf_puts(out, "<path d=\"M0 0");
	for (size_t i = 0; i < count; i++) {
		double at = panel_x(panel, x[i]), height = panel_y(panel, y[i]);

		if (isnan(at) || isnan(height))
			continue;
		put_point(out, 'M', at, height);
		buf_puts(out, "h0");
	}
	end_path(out, "k", color, all);
}

/* One side of the steps, from left to right or back; equal neighbors are one step. */
static void put_side(const struct panel *panel, const double *edges, const double *values,
		     size_t count, bool is_back)
{
	struct buf *out = panel_marks(panel);

	for (size_t i = 0; i < count; i++) {
		size_t bin = is_back ? count - 1 - i : i;
		size_t next = is_back ? bin - 1 : bin + 1;
		double y = panel_y(panel, values ? values[bin] : panel->y.low);

		if (!i)
			put_point(out, is_back ? 'L' : 'M', panel_x(panel, edges[bin + is_back]),
				  y);
		else {
			buf_putc(out, 'V');
			svg_number(out, y);
		}
		while (i + 1 < count &&
		       fabs(panel_y(panel, values ? values[next] : panel->y.low) - y) < 0.05) {
			i++;
			bin = next;
			next = is_back ? bin - 1 : bin + 1;
		}
		buf_putc(out, 'H');
		svg_number(out, panel_x(panel, edges[bin + !is_back]));
	}
}

void panel_steps(struct panel *panel, unsigned color, const double *edges, const double *base,
		 const double *top, size_t count)
{
	struct buf *out = panel_marks(panel);

	if (!count)
		return;
	buf_puts(out, "<path d=\"");
	put_side(panel, edges, top, count, false);
	put_side(panel, edges, base, count, true);
	buf_putc(out, 'Z');
	end_path(out, "c", color, "");
}

void panel_rect(struct panel *panel, const char *classes, double x1, double x2, double y1,
		double y2, const char *tip)
{
	double left = panel_x(panel, x1), right = panel_x(panel, x2);
	double a = panel_y(panel, y1), b = panel_y(panel, y2);

	if (isnan(left + right + a + b))
		return;
	svg_rect(panel_marks(panel), fmin(left, right), fmin(a, b), fabs(right - left), fabs(a - b),
		 classes, tip);
}

/* All cells of one class. Neighboring cells of a line are one rectangle. */
static void put_cells(struct buf *out, const char *const *classes, const char *class,
		      size_t columns, size_t lines, bool y_down)
{
	size_t start = out->len, empty;

	buf_puts(out, "<path d=\"");
	empty = out->len;
	for (size_t line = 0; line < lines; line++)
		for (size_t c = 0; c < columns; c++) {
			size_t run = 0;

			while (c + run < columns && classes[(c + run) * lines + line] == class)
				run++;
			if (!run)
				continue;
			buf_printf(out, "M%zu %zuh%zuv1h-%zuz", c, y_down ? line : lines - 1 - line,
				   run, run);
			c += run;
		}
	if (out->len == empty) {
		out->len = start;
		out->data[start] = '\0';
		return;
	}
	buf_printf(out, "\" class=\"%s\"/>\n", class);
}

void panel_cells(struct panel *panel, size_t columns, size_t lines, const char *const *classes)
{
	struct buf *out = panel_marks(panel);

	buf_printf(out, "<g class=\"crisp\" transform=\"translate(%.1f %.1f) scale(%.5f %.5f)\">\n",
		   panel->left, panel->top, panel->width / (double)columns,
		   panel->height / (double)lines);
	for (int i = 0; i < STYLE_RAMP; i++)
		put_cells(out, classes, style_ramp((i + 0.5) / STYLE_RAMP), columns, lines,
			  panel->y_down);
	for (unsigned i = 0; i < STYLE_SERIES; i++)
		put_cells(out, classes, style_fill(i), columns, lines, panel->y_down);
	buf_puts(out, "</g>\n");
}

void panel_level(struct panel *panel, double y, const char *name)
{
	double at = panel_y(panel, y);

	if (isnan(at))
		return;
	svg_line(panel_marks(panel), panel->left, at, panel->left + panel->width, at, "rule");
	if (name)
		panel_right_name(panel, y, name);
}

void panel_row_name(struct panel *panel, double y, const char *name)
{
	AUTO_FREE char *text = svg_fit(name, panel->left - 24, 12);

	svg_text(&panel->figure->body, panel->left - 8, panel_y(panel, y) + 4, SVG_END, "", text);
}

void panel_right_name(struct panel *panel, double y, const char *name)
{
	double left = panel->left + panel->width + 6;
	AUTO_FREE char *text = svg_fit(name, panel->figure->width - left - 4, 12);

	svg_text(&panel->figure->body, left, panel_y(panel, y) + 4, SVG_START, "mute", text);
}

void panel_empty(struct panel *panel, const char *text)
{
	svg_text(&panel->figure->body, panel->left + panel->width / 2,
		 panel->top + panel->height / 2, SVG_MIDDLE, "mute", text);
}
