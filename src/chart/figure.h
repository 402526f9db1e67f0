/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A picture: a title, lines of text, legends, and panels one below the other. A panel has two
 * scales and marks. Texts are never drawn over marks: legends and names are above the panels, and
 * names of lines are in the right margin.
 *
 *	figure_init(&figure, "Bandwidth", "bytes per second over time, per layer");
 *	figure_text(&figure, "mpirun -n 4 ./simulation");
 *	scale_init(&plan.x, SCALE_SECONDS, 0, 12.5);
 *	scale_init(&plan.y, SCALE_RATE, 0, 1e9);
 *	figure_panel(&figure, &panel, &plan);
 *	panel_line(&panel, 0, "", x, y, count);
 *	figure_svg(&figure, STYLE_AUTO, &out);
 *	figure_release(&figure);
 *
 * The SVG is plain text with a style sheet, without scripts and external references.
 */
#ifndef SLUICE_CHART_FIGURE_H
#define SLUICE_CHART_FIGURE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "chart/scale.h"
#include "chart/style.h"
#include "chart/svg.h"

struct figure {
	double width;  /* pixels; 960 unless it is changed before anything is drawn */
	double bottom; /* where the next part starts */
	char *title, *about;
	bool is_embedded; /* in a page, which has the title and the style sheet */
	struct buf body;
	struct buf area; /* the marks of a panel over time, as an element that is not closed yet */
	unsigned panels; /* over time */
};

struct figure_key {
	unsigned color; /* of a series */
	const char *name;
	bool is_line; /* shown as a line, not as a square */
};

/* Copies its texts. `about` describes the picture for people who cannot see it. */
void figure_init(struct figure *figure, const char *title, const char *about);
void figure_release(struct figure *figure);

/* Leaves out what a page has that the figure is embedded in. Call it before anything is drawn. */
void figure_embed(struct figure *figure);

/* Adds a line of secondary text, shortened to the width. */
void figure_text(struct figure *figure, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

void figure_legend(struct figure *figure, const struct figure_key *keys, size_t count);

/* A legend of the color ramp from the scale's low to its high end. */
void figure_ramp(struct figure *figure, const char *name, const struct scale *scale);

/* The picture so far; it may be called again. */
void figure_svg(const struct figure *figure, enum style_theme theme, struct buf *out);

/* A zeroed plan has a height of 0; all else has defaults. */
struct panel_plan {
	const char *title; /* above the panel; NULL: none */
	double height;	   /* of the area of marks */
	struct scale x, y;
	const char *x_title; /* NULL: none */
	bool no_x_labels;    /* a panel with the same axis follows below */
	bool no_x, no_y;     /* no ticks and labels at all */
	bool y_down;	     /* low is at the top */
	/*
	 * x is the time since the start of the run, linear. The marks are an element of their own,
	 * <svg class="area" data-panel="1" data-low="0" data-high="12.5">, so that a page can zoom
	 * into all such panels; the ticks of the axis are in <g class="ticks" data-panel="1">.
	 */
	bool is_time;
	double left, right; /* margins; 0: 82 and 24 */
};

struct panel {
	struct figure *figure;
	struct scale x, y;
	bool y_down, is_time;
	double left, top, width, height; /* of the area of marks */
};

/* Draws the axes of a new panel. Copies what it needs of the plan. */
void figure_panel(struct figure *figure, struct panel *panel, const struct panel_plan *plan);

/* Where marks are written; texts and axes are written to the body of the figure. */
struct buf *panel_marks(const struct panel *panel);

/* Pixels of a value; a value outside is moved to the edge. NAN: it cannot be shown. */
double panel_x(const struct panel *panel, double value);
double panel_y(const struct panel *panel, double value);

/* A line through the points; a point that cannot be shown interrupts it. classes: "", "dots". */
void panel_line(struct panel *panel, unsigned color, const char *classes, const double *x,
		const double *y, size_t count);

/* A round mark at each point. */
void panel_dots(struct panel *panel, unsigned color, const char *classes, const double *x,
		const double *y, size_t count);

/* Steps over `count` bins with count + 1 edges, filled from `base` and outlined. base may be NULL,
 * which means the axis. */
void panel_steps(struct panel *panel, unsigned color, const double *edges, const double *base,
		 const double *top, size_t count);

/* A rectangle between values, with a class for its fill; tip may be NULL. */
void panel_rect(struct panel *panel, const char *classes, double x1, double x2, double y1,
		double y2, const char *tip);

/*
 * A heat map: classes[column * lines + line], evenly over the whole panel, line 0 at y's low end.
 * The classes are those of style_ramp() and style_fill(); NULL: nothing is drawn.
 */
void panel_cells(struct panel *panel, size_t columns, size_t lines, const char *const *classes);

/* A dashed line across the panel, and its name (NULL: none) in the margin on the right. */
void panel_level(struct panel *panel, double y, const char *name);

/* A name at the left of a row, or in the right margin, shortened to the margin. */
void panel_row_name(struct panel *panel, double y, const char *name);
void panel_right_name(struct panel *panel, double y, const char *name);

/* "no data" in the middle. */
void panel_empty(struct panel *panel, const char *text);

#endif
