/* SPDX-License-Identifier: BSD-3-Clause */
#include "chart/chart.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"

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
