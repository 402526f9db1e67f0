/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table in memory: creates it, finds and selects columns, and orders rows. It does no I/O.
 */
#include "learn/table/dataset.h"

#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"

static void column_release(struct column *column)
{
	for (size_t i = 0; i < column->level_count; i++)
		free(column->levels[i]);
	free(column->levels);
	free(column->name);
}

static struct column column_copy(const struct column *column)
{
	struct column copy = { .name = xstrdup(column->name) };

	if (!column->levels)
		return copy;
	copy.level_count = column->level_count;
	copy.levels = xcalloc(column->level_count, sizeof(*copy.levels));
	for (size_t i = 0; i < column->level_count; i++)
		copy.levels[i] = xstrdup(column->levels[i]);
	return copy;
}

void dataset_release(struct dataset *dataset)
{
	for (size_t i = 0; i < dataset->width; i++)
		column_release(&dataset->columns[i]);
	free(dataset->columns);
	free(dataset->values);
	*dataset = (struct dataset){ 0 };
}

static double *values_new(size_t rows, size_t width)
{
	return xrealloc(NULL, rows, width * sizeof(double));
}

void dataset_init(struct dataset *dataset, size_t rows, size_t width, const char *const *names)
{
	*dataset = (struct dataset){ .rows = rows, .width = width };
	dataset->columns = xcalloc(width, sizeof(*dataset->columns));
	for (size_t i = 0; i < width; i++)
		dataset->columns[i].name = xstrdup(names[i]);
	dataset->values = values_new(rows, width);
	for (size_t i = 0; i < rows * width; i++)
		dataset->values[i] = NAN;
}

/* The Levenshtein distance of two names; a long name counts as far away. */
static size_t name_distance(const char *a, const char *b)
{
	size_t na = strlen(a), nb = strlen(b), line[65];

	if (na > 64 || nb > 64)
		return SIZE_MAX;
	for (size_t j = 0; j <= nb; j++)
		line[j] = j;
	for (size_t i = 1; i <= na; i++) {
		size_t corner = line[0];

		line[0] = i;
		for (size_t j = 1; j <= nb; j++) {
			size_t change = corner + (a[i - 1] != b[j - 1]), least = line[j] + 1;

			corner = line[j];
			if (line[j - 1] + 1 < least)
				least = line[j - 1] + 1;
			line[j] = change < least ? change : least;
		}
	}
	return line[nb];
}

static bool is_similar_name(const char *name, const char *wanted)
{
	size_t n = strlen(wanted);

	return strcasecmp(name, wanted) == 0 || (n >= 3 && strcasestr(name, wanted)) ||
	       name_distance(name, wanted) <= 1 + n / 5;
}

/* Lists names similar to the wanted one, or else the first names. */
static void list_similar_names(const struct dataset *dataset, const char *wanted, struct buf *out)
{
	enum { LISTED_MAX = 8 };
	size_t listed = 0;

	for (int all = 0; all <= 1 && !listed; all++) {
		for (size_t i = 0; i < dataset->width; i++) {
			const char *name = dataset->columns[i].name;

			if (!all && !is_similar_name(name, wanted))
				continue;
			if (listed++ == LISTED_MAX) {
				buf_puts(out, ", ...");
				return;
			}
			buf_printf(out, "%s%.40s", out->len ? ", " : "", name);
		}
	}
}

static int report_unknown_name(const struct dataset *dataset, const char *name, struct err *err)
{
	AUTO_BUF struct buf known = { 0 };

	list_similar_names(dataset, name, &known);
	return err_set(err, ENOENT, "no column \"%.80s\"; columns: %s", name,
		       known.len ? buf_text(&known) : "none");
}

static int find_name(const struct dataset *dataset, const char *name)
{
	for (size_t i = 0; i < dataset->width; i++) {
		if (strcmp(dataset->columns[i].name, name) == 0)
			return (int)i;
	}
	return -ENOENT;
}

int dataset_find(const struct dataset *dataset, const char *name, struct err *err)
{
	int found = find_name(dataset, name);

	return found < 0 ? report_unknown_name(dataset, name, err) : found;
}

struct choice {
	size_t *columns, count;
	bool *in; /* per column: whether it is selected */
};

static void choice_set(struct choice *choice, size_t column, bool in)
{
	size_t kept = 0;

	if (choice->in[column] == in)
		return;
	choice->in[column] = in;
	if (in) {
		choice->columns[choice->count++] = column;
		return;
	}
	for (size_t i = 0; i < choice->count; i++) {
		if (choice->columns[i] != column)
			choice->columns[kept++] = choice->columns[i];
	}
	choice->count = kept;
}

/* An exact name takes precedence over its meaning as a glob. */
static int choice_apply(struct choice *choice, const struct dataset *dataset, const char *item,
			struct err *err)
{
	int exact = find_name(dataset, item);
	bool in = exact >= 0 || *item != '-', matched = false;

	item += !in;
	if (exact < 0)
		exact = find_name(dataset, item);
	for (size_t i = 0; i < dataset->width; i++) {
		bool match = exact >= 0 ? i == (size_t)exact
					: fnmatch(item, dataset->columns[i].name, 0) == 0;

		if (match)
			choice_set(choice, i, in);
		matched |= match;
	}
	return matched ? 0 : report_unknown_name(dataset, item, err);
}

int dataset_choose(const struct dataset *dataset, const char *list, size_t **chosen, size_t *count,
		   struct err *err)
{
	AUTO_FREE char *copy = xstrdup(list);
	AUTO_FREE bool *in = xcalloc(dataset->width, sizeof(*in));
	AUTO_FREE size_t *columns = xcalloc(dataset->width, sizeof(*columns));
	struct choice choice = { .columns = columns, .in = in };
	char *rest = copy, *item;
	int r;

	for (size_t i = 0; *list == '-' && find_name(dataset, list) < 0 && i < dataset->width; i++)
		choice_set(&choice, i, true);
	while ((item = strsep(&rest, ","))) {
		item += strspn(item, " ");
		if (!*item)
			continue;
		r = choice_apply(&choice, dataset, item, err);
		if (r < 0)
			return r;
	}
	if (!choice.count)
		return err_set(err, EINVAL, "the list \"%.200s\" selects no column", list);
	*count = choice.count;
	*chosen = columns;
	columns = NULL;
	return 0;
}

void dataset_column(const struct dataset *dataset, size_t column, double *out)
{
	for (size_t i = 0; i < dataset->rows; i++)
		out[i] = dataset_row(dataset, i)[column];
}

void dataset_take(struct dataset *out, const struct dataset *dataset, const size_t *rows,
		  size_t count)
{
	struct dataset taken = { .rows = count, .width = dataset->width };

	taken.columns = xcalloc(taken.width, sizeof(*taken.columns));
	for (size_t i = 0; i < taken.width; i++)
		taken.columns[i] = column_copy(&dataset->columns[i]);
	taken.values = values_new(count, taken.width);
	for (size_t i = 0; i < count; i++)
		memcpy(dataset_row(&taken, i), dataset_row(dataset, rows[i]),
		       taken.width * sizeof(*taken.values));
	*out = taken;
}

/* The table grows in place: rows move to the right, beginning with the last. */
size_t dataset_add(struct dataset *dataset, const char *name, const double *values)
{
	size_t old = dataset->width, width = old + 1;

	dataset->values = xrealloc(dataset->values, dataset->rows, width * sizeof(double));
	for (size_t i = dataset->rows; i-- > 0;) {
		double value = values ? values[i] : NAN;

		memmove(dataset->values + i * width, dataset->values + i * old,
			old * sizeof(double));
		dataset->values[i * width + old] = value;
	}
	dataset->columns = xrealloc(dataset->columns, width, sizeof(*dataset->columns));
	dataset->columns[old] = (struct column){ .name = xstrdup(name) };
	dataset->width = width;
	return old;
}

/* The bits that are compared: both zeros are equal, and so are all missing values. */
static uint64_t comparable_bits(double value)
{
	uint64_t bits = UINT64_MAX;

	if (value == 0)
		return 0;
	if (!isnan(value))
		memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static uint64_t hash_row(const double *row, const size_t *columns, size_t count)
{
	uint64_t hash = 0x9e3779b97f4a7c15u;

	for (size_t i = 0; i < count; i++) {
		hash = (hash ^ comparable_bits(row[columns[i]])) * 0xbf58476d1ce4e5b9u;
		hash ^= hash >> 29;
	}
	return hash;
}

static bool rows_are_equal(const double *a, const double *b, const size_t *columns, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (comparable_bits(a[columns[i]]) != comparable_bits(b[columns[i]]))
			return false;
	}
	return true;
}

size_t dataset_groups(const struct dataset *dataset, const size_t *columns, size_t count,
		      double *group)
{
	size_t slots = 16, groups = 0;
	AUTO_FREE size_t *first = NULL; /* per slot: the first row of the group plus 1 */

	while (slots < dataset->rows * 2)
		slots *= 2;
	first = xcalloc(slots, sizeof(*first));
	for (size_t i = 0; i < dataset->rows; i++) {
		const double *row = dataset_row(dataset, i);
		size_t slot = hash_row(row, columns, count) & (slots - 1);

		while (first[slot] &&
		       !rows_are_equal(row, dataset_row(dataset, first[slot] - 1), columns, count))
			slot = (slot + 1) & (slots - 1);
		if (first[slot]) {
			group[i] = group[first[slot] - 1];
			continue;
		}
		first[slot] = i + 1;
		group[i] = (double)groups++;
	}
	return groups;
}
