/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The levels of a feature are sorted, like those of a table, so that a binary search finds them.
 */
#include "learn/table/schema.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/number.h"
#include "learn/file/blob.h"
#include "learn/math/vector.h"
#include "learn/table/dataset.h"

static size_t feature_width(const struct feature *feature)
{
	return feature->levels ? feature->level_count : 1;
}

void schema_release(struct schema *schema)
{
	for (size_t i = 0; i < schema->count; i++) {
		struct feature *feature = &schema->features[i];

		for (size_t j = 0; j < feature->level_count; j++)
			free(feature->levels[j]);
		free(feature->levels);
		free(feature->name);
	}
	free(schema->features);
	*schema = (struct schema){ 0 };
}

/* The rows from which a schema is made. */
struct view {
	const struct dataset *dataset;
	const size_t *rows; /* NULL: all rows */
	size_t count;
};

static double view_value(const struct view *view, size_t row, size_t column)
{
	return dataset_row(view->dataset, view->rows ? view->rows[row] : row)[column];
}

/* The median of a column; NAN if it has no finite value. */
static double column_median(const struct view *view, size_t column)
{
	AUTO_FREE double *values = xcalloc(view->count, sizeof(*values));
	size_t count = 0;

	for (size_t i = 0; i < view->count; i++) {
		values[count] = view_value(view, i, column);
		count += isfinite(values[count]) != 0;
	}
	return count ? vector_median(values, count) : NAN;
}

/* Copies only the levels that occur in the rows. */
static void copy_levels(struct feature *feature, const struct view *view, size_t column)
{
	const struct column *from = &view->dataset->columns[column];
	AUTO_FREE bool *seen = xcalloc(from->level_count, sizeof(*seen));

	for (size_t i = 0; i < view->count; i++) {
		double level = view_value(view, i, column);

		if (!isnan(level))
			seen[(size_t)level] = true;
	}
	feature->levels = xcalloc(from->level_count, sizeof(*feature->levels));
	for (size_t i = 0; i < from->level_count; i++) {
		if (seen[i])
			feature->levels[feature->level_count++] = xstrdup(from->levels[i]);
	}
}

static int feature_init(struct feature *feature, const struct view *view, size_t column,
			struct err *err)
{
	const struct column *from = &view->dataset->columns[column];

	feature->name = xstrdup(from->name);
	if (from->levels)
		copy_levels(feature, view, column);
	else
		feature->median = column_median(view, column);
	if (from->levels ? feature->level_count > 0 : !isnan(feature->median))
		return 0;
	return err_set(err, ENODATA,
		       "column \"%.80s\" has no value in these rows; remove it from the features",
		       from->name);
}

int schema_init(struct schema *schema, const struct dataset *dataset, const size_t *columns,
		size_t count, const size_t *rows, size_t row_count, struct err *err)
{
	struct view view = { dataset, rows, rows ? row_count : dataset->rows };
	struct schema made = { .features = xcalloc(count, sizeof(*made.features)) };
	int r;

	for (size_t i = 0; i < count; i++) {
		r = feature_init(&made.features[made.count++], &view, columns[i], err);
		if (r < 0) {
			schema_release(&made);
			return r;
		}
		made.width += feature_width(&made.features[i]);
	}
	*schema = made;
	return 0;
}

char *schema_input(const struct schema *schema, size_t input)
{
	for (size_t i = 0; i < schema->count; i++) {
		const struct feature *feature = &schema->features[i];

		if (input < feature_width(feature))
			return feature->levels
				       ? xprintf("%s=%s", feature->name, feature->levels[input])
				       : xstrdup(feature->name);
		input -= feature_width(feature);
	}
	return xstrdup("");
}

/* Counts of unusual values. */
struct value_counts {
	bool fill;
	size_t unknown, missing;
};

/* The index of a level, or level_count if it is unknown. */
static size_t find_level(const struct feature *feature, const char *text)
{
	size_t low = 0, high = feature->level_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(feature->levels[middle], text);

		if (!order)
			return middle;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return feature->level_count;
}

static void read_numbers(const struct feature *feature, const struct dataset *dataset,
			 size_t column, double *out, size_t width, struct value_counts *counts)
{
	for (size_t i = 0; i < dataset->rows; i++) {
		double value = dataset_row(dataset, i)[column];

		counts->missing += !isfinite(value);
		out[i * width] = isfinite(value) ? value : counts->fill ? feature->median : NAN;
	}
}

/* A text column whose texts all look like numbers was read as numbers; match their digits. */
static size_t find_numeric_level(const struct feature *feature, const size_t *known, double value)
{
	char text[NUMBER_TEXT_MAX];

	if (known)
		return known[(size_t)value];
	number_format(value, text);
	return find_level(feature, text);
}

static void read_levels(const struct feature *feature, const struct dataset *dataset, size_t column,
			double *out, size_t width, struct value_counts *counts)
{
	const struct column *from = &dataset->columns[column];
	AUTO_FREE size_t *known = NULL;

	if (from->levels)
		known = xcalloc(from->level_count, sizeof(*known));
	for (size_t i = 0; known && i < from->level_count; i++)
		known[i] = find_level(feature, from->levels[i]);
	for (size_t i = 0; i < dataset->rows; i++) {
		double value = dataset_row(dataset, i)[column], *inputs = out + i * width;
		size_t level = isnan(value) ? SIZE_MAX : find_numeric_level(feature, known, value);

		for (size_t j = 0; j < feature->level_count; j++)
			inputs[j] = j == level;
		counts->missing += level == SIZE_MAX;
		counts->unknown += level == feature->level_count;
	}
}

static int read_feature(const struct feature *feature, const struct dataset *dataset, double *out,
			size_t width, struct value_counts *counts, struct err *err)
{
	int column = dataset_find(dataset, feature->name, err);

	if (column < 0)
		return column;
	if (feature->levels) {
		read_levels(feature, dataset, (size_t)column, out, width, counts);
		return 0;
	}
	if (dataset->columns[column].levels)
		return err_set(err, EINVAL,
			       "column \"%.80s\" holds text such as \"%.40s\" where numbers are "
			       "wanted",
			       feature->name, dataset->columns[column].levels[0]);
	read_numbers(feature, dataset, (size_t)column, out, width, counts);
	return 0;
}

int schema_inputs(const struct schema *schema, const struct dataset *dataset, bool fill,
		  double *out, size_t *unknown, size_t *missing, struct err *err)
{
	struct value_counts counts = { .fill = fill };
	size_t at = 0;

	for (size_t i = 0; i < schema->count; i++) {
		const struct feature *feature = &schema->features[i];
		int r = read_feature(feature, dataset, out + at, schema->width, &counts, err);

		if (r < 0)
			return r;
		at += feature_width(feature);
	}
	if (unknown)
		*unknown = counts.unknown;
	if (missing)
		*missing = counts.missing;
	return 0;
}

void schema_save(const struct schema *schema, struct buf *buf)
{
	blob_put_u64(buf, schema->count);
	for (size_t i = 0; i < schema->count; i++) {
		const struct feature *feature = &schema->features[i];

		blob_put_text(buf, feature->name);
		blob_put_real(buf, feature->median);
		blob_put_u64(buf, feature->level_count);
		for (size_t j = 0; j < feature->level_count; j++)
			blob_put_text(buf, feature->levels[j]);
	}
}

static void feature_load(struct feature *feature, struct blob *blob)
{
	size_t count;

	feature->name = blob_take_text(blob);
	feature->median = blob_take_real(blob);
	blob_expect(blob, isfinite(feature->median));
	count = blob_take_count(blob, sizeof(uint64_t));
	if (!count)
		return;
	feature->levels = xcalloc(count, sizeof(*feature->levels));
	for (size_t i = 0; i < count && blob_ok(blob); i++) {
		feature->levels[feature->level_count++] = blob_take_text(blob);
		/* The levels must be sorted for the binary search. */
		blob_expect(blob, !i || strcmp(feature->levels[i - 1], feature->levels[i]) < 0);
	}
}

int schema_load(struct schema *schema, struct blob *blob, struct err *err)
{
	size_t count = blob_take_count(blob, 3 * sizeof(uint64_t));
	struct schema made = { .features = xcalloc(count, sizeof(*made.features)) };

	while (made.count < count && blob_ok(blob)) {
		struct feature *feature = &made.features[made.count++];

		feature_load(feature, blob);
		made.width += feature_width(feature);
	}
	if (!blob_ok(blob)) {
		schema_release(&made);
		return err_set(err, EBADMSG, "its features are damaged");
	}
	*schema = made;
	return 0;
}
