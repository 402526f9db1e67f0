/* SPDX-License-Identifier: BSD-3-Clause */
#include "predict/forecast/chronicle/samples_table.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "learn/table/csv.h"
#include "learn/table/dataset.h"
#include "predict/forecast/chronicle/chronicle.h"

enum { COLUMN_TIME, COLUMN_TARGET, COLUMN_BYTES, COLUMN_SECONDS, COLUMN_TIMEOUT, COLUMNS };
static const char *const words[COLUMNS] = { "time", "target", "bytes", "seconds", "timeout" };

/* Where a value comes from: a column, or the same number in all rows. */
struct source {
	int column; /* -1: none */
	double number;
};

static int find_word(const char *item, size_t length)
{
	for (int i = 0; i < COLUMNS; i++)
		if (strlen(words[i]) == length && strncmp(words[i], item, length) == 0)
			return i;
	return -1;
}

static int source_set(struct source *source, const struct dataset *table, const char *name,
		      struct err *err)
{
	char *end;
	int found = dataset_find(table, name, err);

	source->column = found;
	if (found >= 0)
		return 0;
	source->number = strtod(name, &end);
	return end != name && !*end ? 0 : found;
}

/* Reads NAME=COLUMN,... into the names of the columns, which belong to *copy. */
static int parse_columns(const char *columns, char **copy, const char *names[COLUMNS],
			 struct err *err)
{
	char *rest = *copy = xstrdup(columns), *item;

	while ((item = strsep(&rest, ","))) {
		char *equals = strchr(item, '=');
		int word = equals ? find_word(item, (size_t)(equals - item)) : -1;

		if (word < 0)
			return err_set(err, EINVAL,
				       "columns: expected time, target, bytes, seconds or timeout, "
				       "and =COLUMN, in \"%.60s\"",
				       item);
		names[word] = equals + 1;
	}
	return 0;
}

static int find_sources(struct source sources[COLUMNS], const struct dataset *table,
			const char *columns, struct err *err)
{
	AUTO_FREE char *copy = NULL;
	const char *names[COLUMNS] = { NULL };
	int r = parse_columns(columns, &copy, names, err);

	for (int i = 0; r >= 0 && i < COLUMNS; i++) {
		sources[i] = (struct source){ .column = -1 };
		r = source_set(&sources[i], table, names[i] ? names[i] : words[i], err);
		if (r < 0 && i == COLUMN_TIMEOUT && !names[i])
			r = 0;
	}
	if (r >= 0 && sources[COLUMN_TARGET].column < 0)
		r = err_set(err, EINVAL, "columns: the target must be a column");
	return r;
}

static double read_value(const struct dataset *table, size_t row, const struct source *source)
{
	return source->column < 0 ? source->number
				  : dataset_row(table, row)[(size_t)source->column];
}

/* Returns the length, as snprintf(). */
static int print_target(const struct dataset *table, const struct source *source, double value,
			char name[CHRONICLE_NAME])
{
	const struct column *column = &table->columns[source->column];

	return column->levels ? snprintf(name, CHRONICLE_NAME, "%s", column->levels[(size_t)value])
			      : snprintf(name, CHRONICLE_NAME, "%.15g", value);
}

static int add_row(struct chronicle *chronicle, const struct dataset *table, size_t row,
		   const struct source sources[COLUMNS], struct samples_table_facts *facts,
		   struct err *err)
{
	double values[COLUMNS];
	char name[CHRONICLE_NAME];
	bool is_timeout;
	int size;

	for (int i = 0; i < COLUMNS; i++)
		values[i] = read_value(table, row, &sources[i]);
	if (!isfinite(values[COLUMN_TIME]) || isnan(values[COLUMN_TARGET]) ||
	    !(values[COLUMN_BYTES] >= 1 && values[COLUMN_BYTES] < 0x1p62) ||
	    !(values[COLUMN_SECONDS] > 0 && isfinite(values[COLUMN_SECONDS]))) {
		facts->skipped++;
		return 0;
	}
	if (print_target(table, &sources[COLUMN_TARGET], values[COLUMN_TARGET], name) >=
	    CHRONICLE_NAME)
		return err_set(err, EINVAL, "the name of a target has more than %d characters: %s",
			       CHRONICLE_NAME - 1, name);
	size = chronicle_add_size(chronicle, (uint64_t)values[COLUMN_BYTES]);
	if (size < 0)
		return err_set(err, -size, "more than %d different sizes of writes",
			       CHRONICLE_SIZES);
	is_timeout = values[COLUMN_TIMEOUT] > 0;
	chronicle_add(chronicle, chronicle_add_target(chronicle, name), (size_t)size,
		      values[COLUMN_TIME], values[COLUMN_SECONDS],
		      is_timeout ? SAMPLE_TIMEOUT : SAMPLE_DONE, SAMPLE_UNKNOWN);
	facts->samples++;
	return 0;
}

int samples_table_read(struct chronicle *chronicle, const char *path, const char *columns,
		       struct samples_table_facts *facts, struct err *err)
{
	AUTO_DATASET struct dataset table = { 0 };
	struct samples_table_facts counted = { 0 };
	struct source sources[COLUMNS];
	struct chronicle made = { 0 };
	int r = csv_read(&table, path, err);

	if (r >= 0)
		r = find_sources(sources, &table, columns, err);
	for (size_t i = 0; r >= 0 && i < table.rows; i++)
		r = add_row(&made, &table, i, sources, &counted, err);
	if (r < 0) {
		chronicle_release(&made);
		return r;
	}
	*chronicle = made;
	*facts = counted;
	return 0;
}
