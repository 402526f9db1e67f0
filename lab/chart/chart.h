/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A chart as an SVG picture: lines, bars or boxes over categories, or lines and bins over an axis
 * of numbers (chart_axis()), with axes, a legend and horizontal marks. Plain text without scripts,
 *style sheets or fonts of its own; it reads on white, and in print, where series differ in
 *darkness, too. Knows nothing of what it shows.
 *
 *	struct chart chart;
 *
 *	chart_init(&chart, "Figure 8", "instance", "speed-up");
 *	s = chart_series(&chart, CHART_BARS, "hybrid");
 *	chart_category(&chart, "%d", 128);
 *	chart_value(&chart, s, 1.5);
 *	r = chart_write(&chart, "figure8.svg", err);
 *	chart_release(&chart);
 */
#ifndef SLUICE_LAB_CHART_CHART_H
#define SLUICE_LAB_CHART_CHART_H

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct err;

enum chart_mark { CHART_LINES, CHART_BARS, CHART_BOXES };

#define CHART_SERIES_MAX 8

/* From the end of one whisker to that of the other. */
struct chart_box {
	double low, lower, middle, upper, high;
};

/* On an axis of numbers: a point, or a bin from one number to another. */
struct chart_span {
	double from, to;
};

struct chart_row {
	char *name;
	enum chart_mark mark;
	struct chart_box *boxes; /* lines and bars have their value in the middle */
	size_t count, cap;
	struct chart_span *spans; /* as many, on an axis of numbers */
	size_t span_cap;
};

struct chart_level {
	double value;
	char *name;
};

struct chart {
	char *title, *x, *y;
	bool logarithmic; /* the vertical axis; values that are not positive are left out */
	double base;	  /* where bars begin on it; 0 by default, 1 where it is logarithmic */
	bool has_axis;	  /* of numbers, instead of categories; what lies outside is left out */
	double from, to;  /* its ends */
	char **categories;
	size_t category_count, category_cap;
	struct chart_row series[CHART_SERIES_MAX];
	size_t series_count;
	struct chart_level *levels;
	size_t level_count, level_cap;
};

/* Texts are copied, here and below. */
void chart_init(struct chart *chart, const char *title, const char *x, const char *y);
void chart_release(struct chart *chart);

/* The next category, left to right. */
void chart_category(struct chart *chart, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Its number, for the two below; beyond CHART_SERIES_MAX the last one. An empty name: no legend. */
size_t chart_series(struct chart *chart, enum chart_mark mark, const char *name);

/* Of the next category that this series has nothing for. NAN: nothing is drawn there. */
void chart_value(struct chart *chart, size_t series, double value);
void chart_box(struct chart *chart, size_t series, const struct chart_box *box);

/*
 * The horizontal axis is one of numbers, from < to: there are no categories, and series take
 * points of lines, from left to right, or bins of bars, which may overlap those of other series.
 */
void chart_axis(struct chart *chart, double from, double to);
void chart_point(struct chart *chart, size_t series, double x, double value);
void chart_bin(struct chart *chart, size_t series, double from, double to, double value);

/* A dashed line across; name may be NULL. */
void chart_level(struct chart *chart, double value, const char *name);

/* A chart without values has axes and says that there are none. */
void chart_svg(const struct chart *chart, struct buf *out);
int chart_write(const struct chart *chart, const char *path, struct err *err);

#endif
