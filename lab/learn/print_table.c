/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Summarizes the columns of a table.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/table.h"
#include "base/term.h"
#include "lab/learn/print.h"
#include "learn/judge/metrics.h"
#include "learn/math/vector.h"
#include "learn/table/dataset.h"

#define TOP_LEVELS 4

struct column_summary {
	size_t missing, distinct;
	double least, median, greatest;
};

static struct column_summary summarize_column(const struct dataset *dataset, size_t column)
{
	AUTO_FREE double *values = xmalloc((dataset->rows + 1) * sizeof(*values));
	struct column_summary summary = { .least = NAN, .median = NAN, .greatest = NAN };
	size_t n = 0;

	for (size_t i = 0; i < dataset->rows; i++) {
		double value = dataset_row(dataset, i)[column];

		if (!isnan(value))
			values[n++] = value;
	}
	summary.missing = dataset->rows - n;
	if (!n)
		return summary;
	qsort(values, n, sizeof(*values), vector_compare);
	for (size_t i = 0; i < n; i++)
		summary.distinct += !i || values[i] != values[i - 1];
	summary.least = values[0];
	summary.median = metrics_quantile(values, n, 0.5);
	summary.greatest = values[n - 1];
	return summary;
}

static void append_levels(const struct column *column, struct buf *out)
{
	for (size_t i = 0; i < column->level_count && i < TOP_LEVELS; i++)
		buf_printf(out, "%s%s", i ? ", " : "", column->levels[i]);
	if (column->level_count > TOP_LEVELS)
		buf_puts(out, ", ...");
}

static void add_number(struct table *table, double value)
{
	if (isnan(value))
		table_add(table, "-");
	else
		table_add(table, "%.6g", value);
}

static void print_table_text(const char *path, const struct dataset *dataset)
{
	static const char *const titles[] = { "column",	   "type",     ">missing",
					      ">distinct", ">minimum", ">median",
					      ">maximum",  "values",   NULL };
	struct table table;

	term_sentence(stdout, "%s: %zu rows, %zu columns\n\n", path, dataset->rows, dataset->width);
	table_init(&table, titles);
	for (size_t c = 0; c < dataset->width; c++) {
		const struct column *column = &dataset->columns[c];
		struct column_summary summary = summarize_column(dataset, c);
		AUTO_BUF struct buf levels = { 0 };

		append_levels(column, &levels);
		table_add(&table, "%s", column->name);
		table_add(&table, "%s", column->levels ? "text" : "number");
		table_add(&table, "%zu", summary.missing);
		table_add(&table, "%zu", summary.distinct);
		add_number(&table, column->levels ? NAN : summary.least);
		add_number(&table, column->levels ? NAN : summary.median);
		add_number(&table, column->levels ? NAN : summary.greatest);
		table_add(&table, "%s", buf_text(&levels));
	}
	table_print(&table, stdout, 0);
	table_release(&table);
}

static void print_table_json(const char *path, const struct dataset *dataset)
{
	struct json json;

	json_start(&json, stdout, LEARN_SCHEMA);
	json_text(&json, "path", path);
	json_count(&json, "rows", dataset->rows);
	json_open(&json, "columns", '[');
	for (size_t c = 0; c < dataset->width; c++) {
		const struct column *column = &dataset->columns[c];
		struct column_summary summary = summarize_column(dataset, c);

		json_open(&json, NULL, '{');
		json_text(&json, "name", column->name);
		json_text(&json, "type", column->levels ? "text" : "number");
		json_count(&json, "missing", summary.missing);
		json_count(&json, "distinct", summary.distinct);
		if (!column->levels) {
			json_double(&json, "least", summary.least);
			json_double(&json, "median", summary.median);
			json_double(&json, "greatest", summary.greatest);
		} else {
			json_open(&json, "levels", '[');
			for (size_t i = 0; i < column->level_count; i++)
				json_text(&json, NULL, column->levels[i]);
			json_close(&json);
		}
		json_close(&json);
	}
	json_end(&json);
}

void learn_print_table(const char *path, const struct dataset *dataset, bool json)
{
	if (json)
		print_table_json(path, dataset);
	else
		print_table_text(path, dataset);
}
