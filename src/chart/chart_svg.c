/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Converts a chart to SVG: finds the range of the vertical axis, then draws a figure with one
 * panel, its series, levels and legend.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "chart/chart.h"
#include "chart/figure.h"

/* In pixels. */
#define HEIGHT 380.0
#define RIGHT 24.0
#define RIGHT_MAX 230.0
#define SLANTED_LETTER 4.7 /* height of a character in a slanted label */
#define SLANTED_MAX 200.0
#define SLANTED_DEGREES -50
#define LEVEL_ROOM 14.0 /* vertical distance at which names of levels do not overlap */

/* A chart while it is drawn. */
struct drawing {
	const struct chart *chart;
	struct figure figure;
	struct panel panel;
	double low, high; /* of the values */
	bool is_empty;
};

static double bar_base(const struct chart *chart)
{
	return chart->logarithmic && !(chart->base > 0) ? 1 : chart->base;
}

static bool has_place(const struct chart *chart, double value)
{
	return isfinite(value) && (!chart->logarithmic || value > 0);
}

static void extend_range(struct drawing *d, double value)
{
	if (!has_place(d->chart, value))
		return;
	d->low = d->is_empty ? value : fmin(d->low, value);
	d->high = d->is_empty ? value : fmax(d->high, value);
	d->is_empty = false;
}

/* The number of values of a series that have a category, or all of them on a numeric axis. */
static size_t count_shown(const struct chart *chart, const struct chart_row *row)
{
	size_t all = chart->has_axis ? row->count : chart->category_count;

	return row->count < all ? row->count : all;
}

/* False if the value is outside of the numeric axis. */
static bool is_shown(const struct chart *chart, const struct chart_row *row, size_t k)
{
	return !chart->has_axis ||
	       (row->spans[k].from >= chart->from && row->spans[k].to <= chart->to);
}

static void find_range(struct drawing *d)
{
	const struct chart *chart = d->chart;

	d->is_empty = true;
	for (size_t i = 0; i < chart->series_count; i++) {
		const struct chart_row *row = &chart->series[i];

		for (size_t k = 0; k < count_shown(chart, row); k++) {
			if (!is_shown(chart, row, k))
				continue;
			extend_range(d, row->boxes[k].low);
			extend_range(d, row->boxes[k].high);
			if (row->mark == CHART_BARS)
				extend_range(d, bar_base(chart));
		}
	}
	for (size_t i = 0; !d->is_empty && i < chart->level_count; i++)
		extend_range(d, chart->levels[i].value);
}

/* Adds room above and below the values. */
static void init_y(const struct drawing *d, struct scale *y)
{
	double room = 0.05 * (d->high - d->low);

	if (d->is_empty)
		scale_init(y, SCALE_NUMBER, 0, 1);
	else if (d->chart->logarithmic)
		scale_init_logarithmic(y, SCALE_NUMBER, d->low * pow(d->low / d->high, 0.05),
				       d->high * pow(d->high / d->low, 0.05));
	else
		scale_init(y, SCALE_NUMBER, d->low - (d->low == 0 ? 0 : room), d->high + room);
}

static double category_width(const struct drawing *d)
{
	size_t count = d->chart->category_count;

	return d->panel.width / (double)(count ? count : 1);
}

static double category_x(const struct drawing *d, size_t category)
{
	return d->panel.left + ((double)category + 0.5) * category_width(d);
}

static double point_x(const struct drawing *d, const struct chart_row *row, size_t k)
{
	return d->chart->has_axis ? panel_x(&d->panel, row->spans[k].from) : category_x(d, k);
}

static size_t longest_label(const struct chart *chart)
{
	size_t longest = 0;

	for (size_t i = 0; i < chart->category_count; i++)
		longest = strlen(chart->categories[i]) > longest ? strlen(chart->categories[i])
								 : longest;
	return longest;
}

/* Long labels are slanted. If there is still not enough room, some are left out. */
static void put_categories(struct drawing *d)
{
	const struct chart *chart = d->chart;
	size_t longest = longest_label(chart);
	bool slanted = SVG_LETTER * (double)longest + 8 > category_width(d) && longest > 4;
	double need = slanted ? 14 : SVG_LETTER * (double)longest + 8;
	size_t stride = (size_t)ceil(need / category_width(d));
	double y = d->panel.top + d->panel.height, right = d->panel.left + d->panel.width;
	struct buf *out = &d->figure.body;

	svg_line(out, d->panel.left, y, right, y, "axis");
	for (size_t i = 0; i < chart->category_count; i += stride ? stride : 1) {
		svg_line(out, category_x(d, i), y, category_x(d, i), y + 4, "axis");
		if (slanted)
			svg_text_rotated(out, category_x(d, i) + 4, y + 14, SLANTED_DEGREES, "",
					 chart->categories[i]);
		else
			svg_text(out, category_x(d, i), y + 18, SVG_MIDDLE, "",
				 chart->categories[i]);
	}
	d->figure.bottom = y + (slanted ? fmin(SLANTED_LETTER * (double)longest, SLANTED_MAX) : 0);
	svg_text(out, right, d->figure.bottom + 36, SVG_END, "mute", chart->x);
	d->figure.bottom += 44;
}

/* Names that are too close move down. */
static void put_levels(struct drawing *d)
{
	const struct chart *chart = d->chart;
	double right = d->panel.left + d->panel.width;
	AUTO_FREE double *taken = xcalloc(chart->level_count + 1, sizeof(*taken));
	size_t names = 0;

	for (size_t i = 0; i < chart->level_count; i++) {
		double y = panel_y(&d->panel, chart->levels[i].value), at = y;

		if (!has_place(chart, chart->levels[i].value))
			continue;
		svg_line(&d->figure.body, d->panel.left, y, right, y, "rule");
		if (!chart->levels[i].name)
			continue;
		for (size_t k = 0; k < names; k++)
			if (fabs(taken[k] - at) < LEVEL_ROOM) {
				at = taken[k] + LEVEL_ROOM;
				k = (size_t)-1; /* start again */
			}
		taken[names++] = at;
		svg_text(&d->figure.body, right + 6, at + 4, SVG_START, "mute",
			 chart->levels[i].name);
	}
}

static void put_legend(struct drawing *d)
{
	struct figure_key keys[CHART_SERIES_MAX];
	size_t count = 0;

	for (size_t i = 0; i < d->chart->series_count; i++) {
		const struct chart_row *row = &d->chart->series[i];

		if (row->name && *row->name)
			keys[count++] = (struct figure_key){ (unsigned)i, row->name,
							     row->mark == CHART_LINES };
	}
	if (count)
		figure_legend(&d->figure, keys, count);
}

/* Computes the position of a bar or box; those of one category are side by side. */
static void locate_mark(const struct drawing *d, size_t series, size_t category, double *x,
			double *width)
{
	size_t places = 0, place = 0;
	double room = 0.8 * category_width(d);

	for (size_t i = 0; i < d->chart->series_count; i++) {
		place = i == series ? places : place;
		places += d->chart->series[i].mark != CHART_LINES;
	}
	*width = fmin(room / (double)places, 60);
	*x = category_x(d, category) + ((double)place + 0.5 - (double)places / 2) * *width;
	*width *= places > 1 ? 0.88 : 1;
}

static bool is_drawn(const struct drawing *d, const struct chart_row *row, size_t k)
{
	return has_place(d->chart, row->boxes[k].middle) && is_shown(d->chart, row, k);
}

/* A value that cannot be shown interrupts the line. */
static void put_points(struct drawing *d, size_t series)
{
	const struct chart_row *row = &d->chart->series[series];
	size_t count = count_shown(d->chart, row), run;
	bool has_dots = !d->chart->has_axis; /* curves have too many points for dots */
	struct buf *out = &d->figure.body;

	for (size_t k = 0; k < count; k += run + 1) {
		for (run = 0; k + run < count && is_drawn(d, row, k + run); run++)
			buf_printf(out, "%s%.1f,%.1f", run ? " " : "<polyline points=\"",
				   point_x(d, row, k + run),
				   panel_y(&d->panel, row->boxes[k + run].middle));
		if (run)
			buf_printf(out, "\" class=\"k%zu\"/>\n", series);
	}
	for (size_t k = 0; has_dots && k < count; k++)
		if (is_drawn(d, row, k))
			buf_printf(out,
				   "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" class=\"c%zu\"/>\n",
				   point_x(d, row, k), panel_y(&d->panel, row->boxes[k].middle),
				   series);
}

/* Bins are transparent, because they may overlap. */
static void put_bar(struct drawing *d, size_t series, size_t k)
{
	const struct chart_row *row = &d->chart->series[series];
	bool is_bin = d->chart->has_axis;
	double x, width, y, base;
	char classes[16];

	if (!has_place(d->chart, row->boxes[k].middle))
		return;
	if (is_bin) {
		x = panel_x(&d->panel, row->spans[k].from);
		width = fmax(panel_x(&d->panel, row->spans[k].to) - x - 0.5, 0.5);
	} else {
		locate_mark(d, series, k, &x, &width);
		x -= width / 2;
	}
	y = panel_y(&d->panel, row->boxes[k].middle);
	base = panel_y(&d->panel, bar_base(d->chart));
	snprintf(classes, sizeof(classes), "c%u%s", (unsigned)series % STYLE_SERIES,
		 is_bin ? " soft" : "");
	svg_rect(&d->figure.body, x, fmin(y, base), width, fmax(fabs(y - base), 0.5), classes,
		 NULL);
}

static void put_box(struct drawing *d, size_t series, size_t category)
{
	const struct chart_box *box = &d->chart->series[series].boxes[category];
	double x, width, low, lower, middle, upper, high;
	struct buf *out = &d->figure.body;
	char classes[24];

	/* If the smallest value has a logarithm, all have. */
	if (!has_place(d->chart, box->low) || !has_place(d->chart, box->high))
		return;
	locate_mark(d, series, category, &x, &width);
	low = panel_y(&d->panel, box->low);
	lower = panel_y(&d->panel, box->lower);
	middle = panel_y(&d->panel, box->middle);
	upper = panel_y(&d->panel, box->upper);
	high = panel_y(&d->panel, box->high);
	svg_line(out, x, low, x, lower, "box");
	svg_line(out, x, upper, x, high, "box");
	svg_line(out, x - width / 4, low, x + width / 4, low, "box");
	svg_line(out, x - width / 4, high, x + width / 4, high, "box");
	snprintf(classes, sizeof(classes), "c%u soft box", (unsigned)series % STYLE_SERIES);
	svg_rect(out, x - width / 2, upper, width, lower - upper, classes, NULL);
	svg_line(out, x - width / 2, middle, x + width / 2, middle, "box wide");
}

static void put_series(struct drawing *d, size_t series)
{
	const struct chart_row *row = &d->chart->series[series];

	if (row->mark == CHART_LINES) {
		put_points(d, series);
		return;
	}
	for (size_t k = 0; k < count_shown(d->chart, row); k++) {
		if (!is_shown(d->chart, row, k))
			continue;
		if (row->mark == CHART_BOXES && !d->chart->has_axis)
			put_box(d, series, k);
		else
			put_bar(d, series, k);
	}
}

/* Names of levels are in the right margin, where they hide no values. */
static double right_margin(const struct chart *chart)
{
	double most = 0;

	for (size_t i = 0; i < chart->level_count; i++)
		if (chart->levels[i].name)
			most = fmax(most, svg_text_width(chart->levels[i].name, 12) + 12);
	return fmax(fmin(most, RIGHT_MAX), RIGHT);
}

static void put_panel(struct drawing *d)
{
	const struct chart *chart = d->chart;
	struct panel_plan plan = { .title = chart->y,
				   .height = HEIGHT,
				   .x_title = chart->has_axis ? chart->x : NULL,
				   .no_x = !chart->has_axis,
				   .right = right_margin(chart) };

	scale_init(&plan.x, SCALE_NUMBER, chart->has_axis ? chart->from : 0,
		   chart->has_axis ? chart->to : 1);
	init_y(d, &plan.y);
	figure_panel(&d->figure, &d->panel, &plan);
	if (!chart->has_axis)
		put_categories(d);
}

void chart_svg(const struct chart *chart, struct buf *out)
{
	struct drawing d = { .chart = chart };
	AUTO_FREE char *about = xprintf("%s by %s", chart->y, chart->x);

	figure_init(&d.figure, chart->title, about);
	find_range(&d);
	put_legend(&d);
	put_panel(&d);
	for (size_t i = 0; i < chart->series_count; i++)
		put_series(&d, i);
	put_levels(&d);
	if (d.is_empty)
		panel_empty(&d.panel, "no values");
	figure_svg(&d.figure, STYLE_AUTO, out);
	figure_release(&d.figure);
}
