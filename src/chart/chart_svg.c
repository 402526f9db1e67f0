/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Converts a chart to SVG: finds the range of the vertical axis, then draws axes, series, levels
 * and the legend.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "chart/chart.h"

/* In pixels. */
#define WIDTH 960.0
#define HEIGHT 480.0
#define LEFT 74.0
#define RIGHT 18.0
#define TOP 62.0
#define BOTTOM 58.0
#define LETTER 6.6 /* mean width of a character at a font size of 12 */
#define TICKS_MAX 64
#define SLANTED_LETTER 4.7 /* height of a character in a slanted label */
#define SLANTED_MAX 200.0
#define SLANTED_DEGREES -50
#define STEPS 6	      /* approximate number of ticks */
#define LEVEL_ROOM 14 /* vertical distance at which names of levels do not overlap */

/* Distinguishable by color-blind people and in grayscale (Okabe and Ito 2008). */
static const char *const colors[CHART_SERIES_MAX] = { "#0072b2", "#e69f00", "#009e73", "#56b4e9",
						      "#d55e00", "#cc79a7", "#7f7f7f", "#222222" };

/* The mapping of values to pixels. */
struct frame {
	const struct chart *chart;
	double low, high; /* of the vertical axis; logarithms on a logarithmic axis */
	double left, top, width, height;
	bool is_empty, slanted;
};

static double bar_base(const struct chart *chart)
{
	return chart->logarithmic && !(chart->base > 0) ? 1 : chart->base;
}

/* The position on the vertical axis; NAN if the value cannot be shown. */
static double axis_value(const struct chart *chart, double value)
{
	if (!isfinite(value) || (chart->logarithmic && !(value > 0)))
		return NAN;
	return chart->logarithmic ? log10(value) : value;
}

static void extend_range(struct frame *frame, double value)
{
	value = axis_value(frame->chart, value);
	if (isnan(value))
		return;
	frame->low = frame->is_empty ? value : fmin(frame->low, value);
	frame->high = frame->is_empty ? value : fmax(frame->high, value);
	frame->is_empty = false;
}

/* The number of values of a series that have a category, or all of them on a numeric axis. */
static size_t count_shown(const struct frame *frame, const struct chart_row *row)
{
	size_t all = frame->chart->has_axis ? row->count : frame->chart->category_count;

	return row->count < all ? row->count : all;
}

/* False if the value is outside of the numeric axis. */
static bool is_shown(const struct frame *frame, const struct chart_row *row, size_t k)
{
	return !frame->chart->has_axis ||
	       (row->spans[k].from >= frame->chart->from && row->spans[k].to <= frame->chart->to);
}

static void find_range(struct frame *frame)
{
	const struct chart *chart = frame->chart;

	frame->is_empty = true;
	for (size_t i = 0; i < chart->series_count; i++) {
		const struct chart_row *row = &chart->series[i];

		for (size_t k = 0; k < count_shown(frame, row); k++) {
			if (!is_shown(frame, row, k))
				continue;
			extend_range(frame, row->boxes[k].low);
			extend_range(frame, row->boxes[k].high);
			if (row->mark == CHART_BARS)
				extend_range(frame, bar_base(chart));
		}
	}
	for (size_t i = 0; !frame->is_empty && i < chart->level_count; i++)
		extend_range(frame, chart->levels[i].value);
}

/* The distance of ticks: 1, 2 or 5 times a power of ten, with about STEPS steps in the range. */
static double tick_distance(double range)
{
	double unit = pow(10, floor(log10(range / STEPS)));
	double steps = range / STEPS / unit;

	return unit * (steps <= 1 ? 1 : steps <= 2 ? 2 : steps <= 5 ? 5 : 10);
}

/* Adds room above and below, and makes the range positive. */
static void widen_range(struct frame *frame)
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

/* Ticks at 1, 2 and 5 of each decade; more if there are few decades, fewer if there are many. */
static size_t make_logarithmic_ticks(const struct frame *frame, double *ticks)
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

static size_t make_linear_ticks(double low, double high, double step, double *ticks)
{
	size_t count = 0;

	for (double k = ceil(low / step); k * step <= high && count < TICKS_MAX; k++)
		ticks[count++] = k * step;
	return count;
}

/* A logarithmic axis of less than half a decade has equidistant ticks. */
static size_t make_ticks(const struct frame *frame, double *ticks)
{
	if (!frame->chart->logarithmic)
		return make_linear_ticks(frame->low, frame->high,
					 tick_distance(frame->high - frame->low), ticks);
	if (frame->high - frame->low < 0.5)
		return make_linear_ticks(pow(10, frame->low), pow(10, frame->high),
					 tick_distance(pow(10, frame->high) - pow(10, frame->low)),
					 ticks);
	return make_logarithmic_ticks(frame, ticks);
}

static double category_width(const struct frame *frame)
{
	size_t count = frame->chart->category_count;

	return frame->width / (double)(count ? count : 1);
}

static double category_x(const struct frame *frame, size_t category)
{
	return frame->left + ((double)category + 0.5) * category_width(frame);
}

/* Pixels of a number on the horizontal axis. */
static double number_x(const struct frame *frame, double value)
{
	const struct chart *chart = frame->chart;

	return frame->left + frame->width * (value - chart->from) / (chart->to - chart->from);
}

static double point_x(const struct frame *frame, const struct chart_row *row, size_t k)
{
	return frame->chart->has_axis ? number_x(frame, row->spans[k].from) : category_x(frame, k);
}

static double value_y(const struct frame *frame, double value)
{
	double share = (axis_value(frame->chart, value) - frame->low) / (frame->high - frame->low);

	return frame->top + frame->height * (1 - share);
}

/* anchor: start, middle or end; turn: rotation around the point in degrees. */
static void put_text(struct buf *out, double x, double y, const char *anchor, double turn, int size,
		     const char *text)
{
	buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" font-size=\"%d\"", x, y,
		   anchor, size);
	if (turn != 0)
		buf_printf(out, " transform=\"rotate(%g %.1f %.1f)\"", turn, x, y);
	buf_puts(out, ">");
	buf_put_xml(out, text ? text : "");
	buf_puts(out, "</text>\n");
}

static void put_line(struct buf *out, double x1, double y1, double x2, double y2, const char *color,
		     double width, const char *more)
{
	buf_printf(out,
		   "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" "
		   "stroke-width=\"%g\"%s/>\n",
		   x1, y1, x2, y2, color, width, more);
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
static void put_categories(const struct frame *frame, struct buf *out)
{
	const struct chart *chart = frame->chart;
	double need = frame->slanted ? 14 : LETTER * (double)longest_label(chart) + 8;
	size_t stride = (size_t)ceil(need / category_width(frame));
	double y = frame->top + frame->height;

	for (size_t i = 0; i < chart->category_count; i += stride ? stride : 1) {
		put_line(out, category_x(frame, i), y, category_x(frame, i), y + 4, "#444", 1, "");
		if (frame->slanted)
			put_text(out, category_x(frame, i) + 4, y + 14, "end", SLANTED_DEGREES, 11,
				 chart->categories[i]);
		else
			put_text(out, category_x(frame, i), y + 18, "middle", 0, 12,
				 chart->categories[i]);
	}
}

/* Rounding errors must not turn zero into a tiny number. */
static void format_tick(char *text, size_t cap, double tick)
{
	snprintf(text, cap, "%g", fabs(tick) < 1e-12 ? 0 : tick);
}

static void put_numbers(const struct frame *frame, struct buf *out)
{
	double ticks[TICKS_MAX], y = frame->top + frame->height;
	/* The chart is wider than high, so there is room for about ten ticks. */
	double step = tick_distance(0.6 * (frame->chart->to - frame->chart->from));
	size_t count = make_linear_ticks(frame->chart->from, frame->chart->to, step, ticks);

	for (size_t i = 0; i < count; i++) {
		double x = number_x(frame, ticks[i]);
		char text[32];

		format_tick(text, sizeof(text), ticks[i]);
		put_line(out, x, y, x, y + 4, "#444", 1, "");
		put_text(out, x, y + 18, "middle", 0, 12, text);
	}
}

static void put_axes(const struct frame *frame, struct buf *out)
{
	const struct chart *chart = frame->chart;
	double ticks[TICKS_MAX], bottom = frame->top + frame->height;
	size_t count = make_ticks(frame, ticks);

	for (size_t i = 0; i < count; i++) {
		char text[32];
		double y = value_y(frame, ticks[i]);

		format_tick(text, sizeof(text), ticks[i]);
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

/* True if the name must be below the line, because the name of another level is above it. */
static bool is_name_below(const struct frame *frame, size_t level)
{
	const struct chart_level *levels = frame->chart->levels;
	double y = value_y(frame, levels[level].value);

	for (size_t i = 0; i < frame->chart->level_count; i++) {
		double above = y - value_y(frame, levels[i].value);

		if (levels[i].name &&
		    ((above > 0 && above < LEVEL_ROOM) || (above == 0 && i < level)))
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
		y = value_y(frame, level->value);
		put_line(out, frame->left, y, right, y, "#222", 1, " stroke-dasharray=\"5 4\"");
		if (level->name)
			put_text(out, right - 2, is_name_below(frame, i) ? y + 12 : y - 4, "end", 0,
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
			   x, colors[i]);
		put_text(out, x + 19, 47, "start", 0, 12, row->name);
		x += 19 + LETTER * (double)strlen(row->name) + 20;
	}
}

/* Computes the position of a bar or box; those of one category are side by side. */
static void locate_mark(const struct frame *frame, size_t series, size_t category, double *x,
			double *width)
{
	size_t places = 0, place = 0;
	double room = 0.8 * category_width(frame);

	for (size_t i = 0; i < frame->chart->series_count; i++) {
		place = i == series ? places : place;
		places += frame->chart->series[i].mark != CHART_LINES;
	}
	*width = fmin(room / (double)places, 60);
	*x = category_x(frame, category) + ((double)place + 0.5 - (double)places / 2) * *width;
	*width *= places > 1 ? 0.88 : 1;
}

static bool is_drawn(const struct frame *frame, const struct chart_row *row, size_t k)
{
	return !isnan(axis_value(frame->chart, row->boxes[k].middle)) && is_shown(frame, row, k);
}

/* A value that cannot be shown interrupts the line. */
static void put_points(const struct frame *frame, size_t series, struct buf *out)
{
	const struct chart_row *row = &frame->chart->series[series];
	size_t count = count_shown(frame, row), run;
	bool has_dots = !frame->chart->has_axis; /* curves have too many points for dots */

	for (size_t k = 0; k < count; k += run + 1) {
		for (run = 0; k + run < count && is_drawn(frame, row, k + run); run++)
			buf_printf(out, "%s%.1f,%.1f", run ? " " : "<polyline points=\"",
				   point_x(frame, row, k + run),
				   value_y(frame, row->boxes[k + run].middle));
		if (run)
			buf_printf(out, "\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>\n",
				   colors[series]);
	}
	for (size_t k = 0; has_dots && k < count; k++)
		if (is_drawn(frame, row, k))
			buf_printf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n",
				   point_x(frame, row, k), value_y(frame, row->boxes[k].middle),
				   colors[series]);
}

static void put_bar(const struct frame *frame, size_t series, size_t category, struct buf *out)
{
	double value = frame->chart->series[series].boxes[category].middle, x, width, y, base;

	if (isnan(axis_value(frame->chart, value)))
		return;
	locate_mark(frame, series, category, &x, &width);
	y = value_y(frame, value);
	base = value_y(frame, bar_base(frame->chart));
	buf_printf(out,
		   "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n",
		   x - width / 2, fmin(y, base), width, fmax(fabs(y - base), 0.5), colors[series]);
}

/* Bins are transparent, because they may overlap. */
static void put_bin(const struct frame *frame, size_t series, size_t k, struct buf *out)
{
	const struct chart_row *row = &frame->chart->series[series];
	double x = number_x(frame, row->spans[k].from), y, base;

	if (isnan(axis_value(frame->chart, row->boxes[k].middle)))
		return;
	y = value_y(frame, row->boxes[k].middle);
	base = value_y(frame, bar_base(frame->chart));
	buf_printf(out,
		   "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\" "
		   "fill-opacity=\"0.6\"/>\n",
		   x, fmin(y, base), fmax(number_x(frame, row->spans[k].to) - x - 0.5, 0.5),
		   fabs(y - base), colors[series]);
}

static void put_box(const struct frame *frame, size_t series, size_t category, struct buf *out)
{
	const struct chart_box *box = &frame->chart->series[series].boxes[category];
	double x, width, low, lower, middle, upper, high;

	/* If the smallest value has a logarithm, all have. */
	if (isnan(axis_value(frame->chart, box->low)) || isnan(axis_value(frame->chart, box->high)))
		return;
	locate_mark(frame, series, category, &x, &width);
	low = value_y(frame, box->low);
	lower = value_y(frame, box->lower);
	middle = value_y(frame, box->middle);
	upper = value_y(frame, box->upper);
	high = value_y(frame, box->high);
	put_line(out, x, low, x, lower, "#222", 1, "");
	put_line(out, x, upper, x, high, "#222", 1, "");
	put_line(out, x - width / 4, low, x + width / 4, low, "#222", 1, "");
	put_line(out, x - width / 4, high, x + width / 4, high, "#222", 1, "");
	buf_printf(out,
		   "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\" "
		   "fill-opacity=\"0.6\" stroke=\"#222\"/>\n",
		   x - width / 2, upper, width, lower - upper, colors[series]);
	put_line(out, x - width / 2, middle, x + width / 2, middle, "#222", 2, "");
}

static void put_series(const struct frame *frame, size_t series, struct buf *out)
{
	const struct chart_row *row = &frame->chart->series[series];

	if (row->mark == CHART_LINES) {
		put_points(frame, series, out);
		return;
	}
	for (size_t k = 0; k < count_shown(frame, row); k++) {
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

	frame.slanted = LETTER * (double)longest_label(chart) + 8 > category_width(&frame) &&
			longest_label(chart) > 4;
	frame.height = HEIGHT - TOP - BOTTOM;
	if (frame.slanted)
		frame.height -= fmin(SLANTED_LETTER * (double)longest_label(chart), SLANTED_MAX);
	find_range(&frame);
	widen_range(&frame);
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
