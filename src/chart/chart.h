/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Draws a chart as SVG: lines, bars or boxes over categories, or lines and bins over a numeric axis
 * (chart_axis()), with axes, a legend and horizontal lines. The file is plain text without scripts,
 * style sheets or fonts. It is readable on white and in print, where series differ in brightness.
 *
 *	struct chart chart;
 *
 *	chart_init(&chart, "Figure 8", "instance", "speedup");
 *	s = chart_series(&chart, CHART_BARS, "hybrid");
 *	chart_category(&chart, "%d", 128);
 *	chart_value(&chart, s, 1.5);
 *	r = chart_write(&chart, "figure8.svg", err);
 *	chart_release(&chart);
 */
#ifndef SLUICE_CHART_CHART_H
#define SLUICE_CHART_CHART_H

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct err;

enum chart_mark { CHART_LINES, CHART_BARS, CHART_BOXES };

#define CHART_SERIES_MAX 8

/* The ends of the whiskers, the ends of the box and its middle line. */
struct chart_box {
	double low, lower, middle, upper, high;
};

/* On a numeric axis: a point (from == to) or a bin. */
struct chart_span {
	double from, to;
};

struct chart_row {
	char *name;
	enum chart_mark mark;
	struct chart_box *boxes; /* lines and bars use only the middle */
	size_t count, cap;
	struct chart_span *spans; /* on a numeric axis: one per box */
	size_t span_cap;
};

struct chart_level {
	double value;
	char *name;
};

struct chart {
	char *title, *x, *y;
	bool logarithmic; /* vertical axis; values that are not positive are not drawn */
	double base;	  /* where bars start; default 0, or 1 on a logarithmic axis */
	bool has_axis; /* numeric axis instead of categories; values outside of it are not drawn */
	double from, to; /* ends of the numeric axis */
	char **categories;
	size_t category_count, category_cap;
	struct chart_row series[CHART_SERIES_MAX];
	size_t series_count;
	struct chart_level *levels;
	size_t level_count, level_cap;
};

/* All functions copy their texts. */
void chart_init(struct chart *chart, const char *title, const char *x, const char *y);
void chart_release(struct chart *chart);

/* Adds a category on the right. */
void chart_category(struct chart *chart, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Adds a series and returns its number; after CHART_SERIES_MAX series, the number of the last one.
 * A series with an empty name is not in the legend.
 */
size_t chart_series(struct chart *chart, enum chart_mark mark, const char *name);

/* Add a value for the next category of the series. NAN: nothing is drawn there. */
void chart_value(struct chart *chart, size_t series, double value);
void chart_box(struct chart *chart, size_t series, const struct chart_box *box);

/*
 * Makes the horizontal axis numeric; from < to. The chart then has no categories. Series receive
 * points of lines, from left to right, or bins, which may overlap the bins of other series.
 */
void chart_axis(struct chart *chart, double from, double to);
void chart_point(struct chart *chart, size_t series, double x, double value);
void chart_bin(struct chart *chart, size_t series, double from, double to, double value);

/* Adds a dashed horizontal line; name may be NULL. */
void chart_level(struct chart *chart, double value, const char *name);

/* A chart without values has axes and the text "no values". */
void chart_svg(const struct chart *chart, struct buf *out);
int chart_write(const struct chart *chart, const char *path, struct err *err);

#endif
