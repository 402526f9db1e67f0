/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/chart/chart.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"

/* In pixels. */
#define WIDTH 960.0
#define HEIGHT 480.0
#define LEFT 74.0
#define RIGHT 18.0
#define TOP 62.0
#define BOTTOM 58.0
#define LETTER 6.6 /* mean width of one at 12 pixels */
#define TICKS_MAX 64
#define SLANTED_LETTER 4.7 /* how far one reaches down */
#define SLANTED_MOST 200.0

/* Apart for people who do not see all colours, and in grey (Okabe and Ito 2008). */
static const char *const colours[CHART_SERIES_MAX] = { "#0072b2", "#e69f00", "#009e73", "#56b4e9",
						       "#d55e00", "#cc79a7", "#7f7f7f", "#222222" };

/* Where values are on the paper. */
struct frame {
	const struct chart *chart;
	double low, high; /* of the vertical axis, logarithms where it is logarithmic */
	double left, top, width, height;
	bool is_empty, slanted;
};

void chart_init(struct chart *chart, const char *title, const char *x, const char *y)
{
	*chart = (struct chart){ .title = xstrdup(title), .x = xstrdup(x), .y = xstrdup(y) };
}

void chart_release(struct chart *chart)
{
	for (size_t i = 0; i < chart->category_count; i++)
		free(chart->categories[i]);
	for (size_t i = 0; i < chart->series_count; i++) {
		free(chart->series[i].name);
		free(chart->series[i].boxes);
		free(chart->series[i].spans);
	}
	for (size_t i = 0; i < chart->level_count; i++)
		free(chart->levels[i].name);
	free(chart->categories);
	free(chart->levels);
	free(chart->title);
	free(chart->x);
	free(chart->y);
	*chart = (struct chart){ 0 };
}

void chart_category(struct chart *chart, const char *format, ...)
{
	va_list ap;

	chart->categories = xgrow(chart->categories, &chart->category_cap,
				  chart->category_count + 1, sizeof(*chart->categories));
	va_start(ap, format);
	chart->categories[chart->category_count++] = xvprintf(format, ap);
	va_end(ap);
}

size_t chart_series(struct chart *chart, enum chart_mark mark, const char *name)
{
	if (chart->series_count == CHART_SERIES_MAX)
		return CHART_SERIES_MAX - 1;
	chart->series[chart->series_count] =
		(struct chart_row){ .name = xstrdup(name), .mark = mark };
	return chart->series_count++;
}

void chart_box(struct chart *chart, size_t series, const struct chart_box *box)
{
	struct chart_row *row = &chart->series[series];

	row->boxes = xgrow(row->boxes, &row->cap, row->count + 1, sizeof(*row->boxes));
	row->boxes[row->count++] = *box;
}

void chart_value(struct chart *chart, size_t series, double value)
{
	chart_box(chart, series, &(struct chart_box){ value, value, value, value, value });
}

void chart_axis(struct chart *chart, double from, double to)
{
	chart->has_axis = true;
	chart->from = from;
	chart->to = to;
}

void chart_bin(struct chart *chart, size_t series, double from, double to, double value)
{
	struct chart_row *row = &chart->series[series];

	row->spans = xgrow(row->spans, &row->span_cap, row->count + 1, sizeof(*row->spans));
	row->spans[row->count] = (struct chart_span){ from, to };
	chart_value(chart, series, value);
}

void chart_point(struct chart *chart, size_t series, double x, double value)
{
	chart_bin(chart, series, x, x, value);
}

void chart_level(struct chart *chart, double value, const char *name)
{
	chart->levels = xgrow(chart->levels, &chart->level_cap, chart->level_count + 1,
			      sizeof(*chart->levels));
	chart->levels[chart->level_count++] = (struct chart_level){ value, xstrdup(name) };
}

/* ---- the axes ---- */

static double bars_base(const struct chart *chart)
{
	return chart->logarithmic && !(chart->base > 0) ? 1 : chart->base;
}

/* NAN where it cannot be shown. */
static double axis_value(const struct chart *chart, double value)
{
	if (!isfinite(value) || (chart->logarithmic && !(value > 0)))
		return NAN;
	return chart->logarithmic ? log10(value) : value;
}

static void frame_take(struct frame *frame, double value)
{
	value = axis_value(frame->chart, value);
	if (isnan(value))
		return;
	frame->low = frame->is_empty ? value : fmin(frame->low, value);
	frame->high = frame->is_empty ? value : fmax(frame->high, value);
	frame->is_empty = false;
}

/* How many of a series have a place, and whether one has: it may lie outside the axis. */
static size_t shown_count(const struct frame *frame, const struct chart_row *row)
{
	size_t all = frame->chart->has_axis ? row->count : frame->chart->category_count;

	return row->count < all ? row->count : all;
}

static bool is_shown(const struct frame *frame, const struct chart_row *row, size_t k)
{
	return !frame->chart->has_axis ||
	       (row->spans[k].from >= frame->chart->from && row->spans[k].to <= frame->chart->to);
}

static void frame_range(struct frame *frame)
{
	const struct chart *chart = frame->chart;

	frame->is_empty = true;
	for (size_t i = 0; i < chart->series_count; i++) {
		const struct chart_row *row = &chart->series[i];

		for (size_t k = 0; k < shown_count(frame, row); k++) {
			if (!is_shown(frame, row, k))
				continue;
			frame_take(frame, row->boxes[k].low);
			frame_take(frame, row->boxes[k].high);
			if (row->mark == CHART_BARS)
				frame_take(frame, bars_base(chart));
		}
	}
	for (size_t i = 0; !frame->is_empty && i < chart->level_count; i++)
		frame_take(frame, chart->levels[i].value);
}

/* 1, 2 or 5 times a power of ten, such that some six steps cover the range. */
static double step_of(double range)
{
	double unit = pow(10, floor(log10(range / 6)));
	double steps = range / 6 / unit;

	return unit * (steps <= 1 ? 1 : steps <= 2 ? 2 : steps <= 5 ? 5 : 10);
}

/* Some room above and below, and never nothing between. */
static void frame_widen(struct frame *frame)
{
	double range;

	if (frame->is_empty) {
		frame->low = 0;
		frame->high = 1;
	}
	range = frame->high - frame->low;
	if (!(range > 1e-9 * fmax(fabs(frame->high), 1e-300)))
		range = frame->chart->logarithmic || frame->high == 0 ? 1 : fabs(frame->high);
	if (frame->chart->logarithmic || frame->low != 0)
		frame->low -= 0.05 * range;
	frame->high += 0.05 * range;
}

/* 1, 2 and 5 of each decade, with the steps between where few decades leave room. */
static size_t ticks_logarithmic(const struct frame *frame, double *ticks)
{
	static const double few[] = { 1, 1.5, 2, 3, 4, 5, 7 }, some[] = { 1, 2, 5 }, one[] = { 1 };
	double decades = frame->high - frame->low;
	const double *in = decades < 1.2 ? few : decades < 3.5 ? some : one;
	size_t many = decades < 1.2 ? 7 : decades < 3.5 ? 3 : 1, count = 0;
	double stride = decades > 12 ? ceil(decades / 12) : 1;

	for (double d = floor(frame->low); d <= frame->high && count < TICKS_MAX - many;
	     d += stride)
		for (size_t i = 0; i < many; i++) {
			double value = in[i] * pow(10, d);

			if (log10(value) >= frame->low && log10(value) <= frame->high)
				ticks[count++] = value;
		}
	return count;
}

static size_t ticks_even(double low, double high, double step, double *ticks)
{
	size_t count = 0;

	for (double k = ceil(low / step); k * step <= high && count < TICKS_MAX; k++)
		ticks[count++] = k * step;
	return count;
}

/* Within half a decade a logarithmic axis is nearly an even one. */
static size_t ticks_of(const struct frame *frame, double *ticks)
{
	if (!frame->chart->logarithmic)
		return ticks_even(frame->low, frame->high, step_of(frame->high - frame->low),
				  ticks);
	if (frame->high - frame->low < 0.5)
		return ticks_even(pow(10, frame->low), pow(10, frame->high),
				  step_of(pow(10, frame->high) - pow(10, frame->low)), ticks);
	return ticks_logarithmic(frame, ticks);
}

static double category_width(const struct frame *frame)
{
	size_t count = frame->chart->category_count;

	return frame->width / (double)(count ? count : 1);
}

static double x_of(const struct frame *frame, size_t category)
{
	return frame->left + ((double)category + 0.5) * category_width(frame);
}

/* Of a number on the axis. */
static double across(const struct frame *frame, double value)
{
	const struct chart *chart = frame->chart;

	return frame->left + frame->width * (value - chart->from) / (chart->to - chart->from);
}

static double point_x(const struct frame *frame, const struct chart_row *row, size_t k)
{
	return frame->chart->has_axis ? across(frame, row->spans[k].from) : x_of(frame, k);
}

static double y_of(const struct frame *frame, double value)
{
	double share = (axis_value(frame->chart, value) - frame->low) / (frame->high - frame->low);

	return frame->top + frame->height * (1 - share);
}

/* ---- text ---- */

/* anchor: start, middle, end; turn: degrees around the point. */
static void put_text(struct buf *out, double x, double y, const char *anchor, double turn, int size,
		     const char *text)
{
	buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" font-size=\"%d\"", x, y,
		   anchor, size);
	if (turn != 0)
		buf_printf(out, " transform=\"rotate(%g %.1f %.1f)\"", turn, x, y);
	buf_puts(out, ">");
	buf_xml(out, text ? text : "");
	buf_puts(out, "</text>\n");
}

static void put_line(struct buf *out, double x1, double y1, double x2, double y2,
		     const char *colour, double width, const char *more)
{
	buf_printf(out,
		   "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" "
		   "stroke-width=\"%g\"%s/>\n",
		   x1, y1, x2, y2, colour, width, more);
}

static size_t labels_longest(const struct chart *chart)
{
	size_t longest = 0;

	for (size_t i = 0; i < chart->category_count; i++)
		longest = strlen(chart->categories[i]) > longest ? strlen(chart->categories[i])
								 : longest;
	return longest;
}

/* Wide ones are turned; where even that is too narrow, only some are told. */
static void put_categories(const struct frame *frame, struct buf *out)
{
	const struct chart *chart = frame->chart;
	double need = frame->slanted ? 14 : LETTER * (double)labels_longest(chart) + 8;
	size_t stride = (size_t)ceil(need / category_width(frame));
	double y = frame->top + frame->height;

	for (size_t i = 0; i < chart->category_count; i += stride ? stride : 1) {
		put_line(out, x_of(frame, i), y, x_of(frame, i), y + 4, "#444", 1, "");
		if (frame->slanted)
			put_text(out, x_of(frame, i) + 4, y + 14, "end", -50, 11,
				 chart->categories[i]);
		else
			put_text(out, x_of(frame, i), y + 18, "middle", 0, 12,
				 chart->categories[i]);
	}
}

/* A sum of steps may miss zero by a hair. */
static void tick_text(char *text, size_t cap, double tick)
{
	snprintf(text, cap, "%g", fabs(tick) < 1e-12 ? 0 : tick);
}

static void put_numbers(const struct frame *frame, struct buf *out)
{
	double ticks[TICKS_MAX], y = frame->top + frame->height;
	/* The picture is wider than high: there is room for some ten. */
	double step = step_of(0.6 * (frame->chart->to - frame->chart->from));
	size_t count = ticks_even(frame->chart->from, frame->chart->to, step, ticks);

	for (size_t i = 0; i < count; i++) {
		double x = across(frame, ticks[i]);
		char text[32];

		tick_text(text, sizeof(text), ticks[i]);
		put_line(out, x, y, x, y + 4, "#444", 1, "");
		put_text(out, x, y + 18, "middle", 0, 12, text);
	}
}

static void put_axes(const struct frame *frame, struct buf *out)
{
	const struct chart *chart = frame->chart;
	double ticks[TICKS_MAX], bottom = frame->top + frame->height;
	size_t count = ticks_of(frame, ticks);

	for (size_t i = 0; i < count; i++) {
		char text[32];
		double y = y_of(frame, ticks[i]);

		tick_text(text, sizeof(text), ticks[i]);
		put_line(out, frame->left, y, frame->left + frame->width, y, "#ddd", 1, "");
		put_text(out, frame->left - 7, y + 4, "end", 0, 12, text);
	}
	if (chart->has_axis)
		put_numbers(frame, out);
	else
		put_categories(frame, out);
	put_line(out, frame->left, frame->top, frame->left, bottom, "#444", 1, "");
	put_line(out, frame->left, bottom, frame->left + frame->width, bottom, "#444", 1, "");
	put_text(out, frame->left + frame->width / 2, HEIGHT - 12, "middle", 0, 13, chart->x);
	put_text(out, 18, frame->top + frame->height / 2, "middle", -90, 13, chart->y);
	put_text(out, frame->left, 24, "start", 0, 15, chart->title);
}

/* Is there the name of another one where the name of this would stand? */
static bool level_is_low(const struct frame *frame, size_t level)
{
	const struct chart_level *levels = frame->chart->levels;
	double y = y_of(frame, levels[level].value);

	for (size_t i = 0; i < frame->chart->level_count; i++) {
		double above = y - y_of(frame, levels[i].value);

		if (levels[i].name && ((above > 0 && above < 14) || (above == 0 && i < level)))
			return true;
	}
	return false;
}

static void put_levels(const struct frame *frame, struct buf *out)
{
	for (size_t i = 0; i < frame->chart->level_count; i++) {
		const struct chart_level *level = &frame->chart->levels[i];
		double right = frame->left + frame->width, y;

		if (isnan(axis_value(frame->chart, level->value)))
			continue;
		y = y_of(frame, level->value);
		put_line(out, frame->left, y, right, y, "#222", 1, " stroke-dasharray=\"5 4\"");
		if (level->name)
			put_text(out, right - 2, level_is_low(frame, i) ? y + 12 : y - 4, "end", 0,
				 11, level->name);
	}
}

static void put_legend(const struct frame *frame, struct buf *out)
{
	double x = frame->left;

	for (size_t i = 0; i < frame->chart->series_count; i++) {
		const struct chart_row *row = &frame->chart->series[i];

		if (!row->name || !*row->name)
			continue;
		buf_printf(out,
			   "<rect x=\"%.1f\" y=\"38\" width=\"14\" height=\"10\" fill=\"%s\"/>\n",
			   x, colours[i]);
		put_text(out, x + 19, 47, "start", 0, 12, row->name);
		x += 19 + LETTER * (double)strlen(row->name) + 20;
	}
}

/* ---- marks ---- */

/* Bars and boxes of one category stand side by side. */
static void place_of(const struct frame *frame, size_t series, size_t category, double *x,
		     double *width)
{
	size_t places = 0, place = 0;
	double room = 0.8 * category_width(frame);

	for (size_t i = 0; i < frame->chart->series_count; i++) {
		place = i == series ? places : place;
		places += frame->chart->series[i].mark != CHART_LINES;
	}
	*width = fmin(room / (double)places, 60);
	*x = x_of(frame, category) + ((double)place + 0.5 - (double)places / 2) * *width;
	*width *= places > 1 ? 0.88 : 1;
}

static bool is_drawn(const struct frame *frame, const struct chart_row *row, size_t k)
{
	return !isnan(axis_value(frame->chart, row->boxes[k].middle)) && is_shown(frame, row, k);
}

/* A gap ends the line. */
static void put_points(const struct frame *frame, size_t series, struct buf *out)
{
	const struct chart_row *row = &frame->chart->series[series];
	size_t count = shown_count(frame, row), run;
	bool has_dots = !frame->chart->has_axis; /* curves have too many */

	for (size_t k = 0; k < count; k += run + 1) {
		for (run = 0; k + run < count && is_drawn(frame, row, k + run); run++)
			buf_printf(out, "%s%.1f,%.1f", run ? " " : "<polyline points=\"",
				   point_x(frame, row, k + run),
				   y_of(frame, row->boxes[k + run].middle));
		if (run)
			buf_printf(out, "\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>\n",
				   colours[series]);
	}
	for (size_t k = 0; has_dots && k < count; k++)
		if (is_drawn(frame, row, k))
			buf_printf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n",
				   point_x(frame, row, k), y_of(frame, row->boxes[k].middle),
				   colours[series]);
}

static void put_bar(const struct frame *frame, size_t series, size_t category, struct buf *out)
{
	double value = frame->chart->series[series].boxes[category].middle, x, width, y, base;

	if (isnan(axis_value(frame->chart, value)))
		return;
	place_of(frame, series, category, &x, &width);
	y = y_of(frame, value);
	base = y_of(frame, bars_base(frame->chart));
	buf_printf(out,
		   "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n",
		   x - width / 2, fmin(y, base), width, fmax(fabs(y - base), 0.5), colours[series]);
}

/* As wide as it says; others are seen through it. */
static void put_bin(const struct frame *frame, size_t series, size_t k, struct buf *out)
{
	const struct chart_row *row = &frame->chart->series[series];
	double x = across(frame, row->spans[k].from), y, base;

	if (isnan(axis_value(frame->chart, row->boxes[k].middle)))
		return;
	y = y_of(frame, row->boxes[k].middle);
	base = y_of(frame, bars_base(frame->chart));
	buf_printf(out,
		   "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\" "
		   "fill-opacity=\"0.6\"/>\n",
		   x, fmin(y, base), fmax(across(frame, row->spans[k].to) - x - 0.5, 0.5),
		   fabs(y - base), colours[series]);
}

static void put_box(const struct frame *frame, size_t series, size_t category, struct buf *out)
{
	const struct chart_box *box = &frame->chart->series[series].boxes[category];
	double x, width, low, lower, middle, upper, high;

	/* The least decides whether there is a logarithm of all. */
	if (isnan(axis_value(frame->chart, box->low)) || isnan(axis_value(frame->chart, box->high)))
		return;
	place_of(frame, series, category, &x, &width);
	low = y_of(frame, box->low);
	lower = y_of(frame, box->lower);
	middle = y_of(frame, box->middle);
	upper = y_of(frame, box->upper);
	high = y_of(frame, box->high);
	put_line(out, x, low, x, lower, "#222", 1, "");
	put_line(out, x, upper, x, high, "#222", 1, "");
	put_line(out, x - width / 4, low, x + width / 4, low, "#222", 1, "");
	put_line(out, x - width / 4, high, x + width / 4, high, "#222", 1, "");
	buf_printf(out,
		   "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\" "
		   "fill-opacity=\"0.6\" stroke=\"#222\"/>\n",
		   x - width / 2, upper, width, lower - upper, colours[series]);
	put_line(out, x - width / 2, middle, x + width / 2, middle, "#222", 2, "");
}

static void put_series(const struct frame *frame, size_t series, struct buf *out)
{
	const struct chart_row *row = &frame->chart->series[series];

	if (row->mark == CHART_LINES) {
		put_points(frame, series, out);
		return;
	}
	for (size_t k = 0; k < shown_count(frame, row); k++) {
		if (frame->chart->has_axis && !is_shown(frame, row, k))
			continue;
		if (frame->chart->has_axis)
			put_bin(frame, series, k, out);
		else if (row->mark == CHART_BARS)
			put_bar(frame, series, k, out);
		else
			put_box(frame, series, k, out);
	}
}

void chart_svg(const struct chart *chart, struct buf *out)
{
	struct frame frame = {
		.chart = chart, .left = LEFT, .top = TOP, .width = WIDTH - LEFT - RIGHT
	};

	frame.slanted = LETTER * (double)labels_longest(chart) + 8 > category_width(&frame) &&
			labels_longest(chart) > 4;
	frame.height = HEIGHT - TOP - BOTTOM;
	if (frame.slanted)
		frame.height -= fmin(SLANTED_LETTER * (double)labels_longest(chart), SLANTED_MOST);
	frame_range(&frame);
	frame_widen(&frame);
	buf_printf(out,
		   "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%g\" "
		   "viewBox=\"0 0 %g %g\" font-family=\"sans-serif\" fill=\"#222\">\n"
		   "<rect width=\"%g\" height=\"%g\" fill=\"#fff\"/>\n",
		   WIDTH, HEIGHT, WIDTH, HEIGHT, WIDTH, HEIGHT);
	put_axes(&frame, out);
	for (size_t i = 0; i < chart->series_count; i++)
		put_series(&frame, i, out);
	put_levels(&frame, out);
	put_legend(&frame, out);
	if (frame.is_empty)
		put_text(out, frame.left + frame.width / 2, frame.top + frame.height / 2, "middle",
			 0, 14, "no values");
	buf_puts(out, "</svg>\n");
}

int chart_write(const struct chart *chart, const char *path, struct err *err)
{
	AUTO_BUF struct buf text = { 0 };
	FILE *file = fopen(path, "we");
	bool good;

	if (!file)
		return err_set(err, errno, "%s: %s", path, strerror(errno));
	chart_svg(chart, &text);
	good = fwrite(text.data, 1, text.len, file) == text.len;
	if (fclose(file) != 0 || !good)
		return err_set(err, errno ? errno : EIO, "%s: %s", path,
			       strerror(errno ? errno : EIO));
	return 0;
}
