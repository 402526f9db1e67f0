/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A table of numbers with named columns, stored row by row. A text column holds the indices of its
 * levels (0, 1, ... in the order of the sorted texts). A missing value is NAN. A zero-initialized
 * dataset is empty, and dataset_release() accepts it.
 */
#ifndef SLUICE_LEARN_TABLE_DATASET_H
#define SLUICE_LEARN_TABLE_DATASET_H

#include <stddef.h>

struct err;

struct column {
	char *name;
	char **levels; /* NULL: a numeric column */
	size_t level_count;
};

struct dataset {
	double *values; /* rows x width */
	size_t rows, width;
	struct column *columns;
};

void dataset_release(struct dataset *dataset);

/* Makes a numeric table that is all NAN; names are copied. */
void dataset_init(struct dataset *dataset, size_t rows, size_t width, const char *const *names);

static inline double *dataset_row(const struct dataset *dataset, size_t row)
{
	return dataset->values + row * dataset->width;
}

/* Returns the index of a column, or -ENOENT and sets err to a list of similar names. */
int dataset_find(const struct dataset *dataset, const char *name, struct err *err);

/*
 * Selects columns by a list of names and globs such as "a,b,fs_*,-fs_max_*". A leading '-' removes
 * columns, and a list that begins with '-' starts from all columns. The result is in the order of
 * the list; the caller frees it. An item that matches nothing and an empty result are errors.
 */
int dataset_choose(const struct dataset *dataset, const char *list, size_t **chosen, size_t *count,
		   struct err *err);

/* Copies one column. */
void dataset_column(const struct dataset *dataset, size_t column, double *out);

/* Makes a new table of the given rows in that order; columns and levels are copied. */
void dataset_take(struct dataset *out, const struct dataset *dataset, const size_t *rows,
		  size_t count);

/* Appends a numeric column on the right; values may be NULL (all NAN). Returns its index. */
size_t dataset_add(struct dataset *dataset, const char *name, const double *values);

/*
 * Numbers the distinct combinations of the given columns in order of appearance: rows that agree in
 * all of these columns get the same number. Two missing values agree. Returns the number of groups.
 */
size_t dataset_groups(const struct dataset *dataset, const size_t *columns, size_t count,
		      double *group);

#define AUTO_DATASET __attribute__((cleanup(dataset_release)))

#endif
