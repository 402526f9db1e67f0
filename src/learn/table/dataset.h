/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A table of numbers with named columns, row by row. A column of texts holds the numbers of its
 * levels (0, 1, ... in the order of the sorted texts). A missing value is NAN. Zero-initialised is
 * empty; dataset_release() accepts that.
 */
#ifndef SLUICE_LEARN_TABLE_DATASET_H
#define SLUICE_LEARN_TABLE_DATASET_H

#include <stddef.h>

struct err;

struct column {
	char *name;
	char **levels; /* NULL: numbers */
	size_t level_count;
};

struct dataset {
	double *values; /* rows x width */
	size_t rows, width;
	struct column *columns;
};

void dataset_release(struct dataset *dataset);

/* A table of numbers, all NAN; names are copied. */
void dataset_init(struct dataset *dataset, size_t rows, size_t width, const char *const *names);

static inline double *dataset_row(const struct dataset *dataset, size_t row)
{
	return dataset->values + row * dataset->width;
}

/* Index of a column, or -ENOENT with a sentence that lists names like it. */
int dataset_find(const struct dataset *dataset, const char *name, struct err *err);

/*
 * Columns by a list such as "a,b,fs_*,-fs_max_*": names and globs; a leading '-' takes away, and a
 * list that begins so begins with all columns. In the order in which they are named. The result is
 * the caller's. An item that matches nothing, or a list that leaves none, is an error.
 */
int dataset_choose(const struct dataset *dataset, const char *list, size_t **chosen, size_t *count,
		   struct err *err);

/* One column, copied out. */
void dataset_column(const struct dataset *dataset, size_t column, double *out);

/* A new table of the given rows, in that order; columns and levels are copied. */
void dataset_take(struct dataset *out, const struct dataset *dataset, const size_t *rows,
		  size_t count);

/* A further column of numbers at the right; values may be NULL (all NAN). Returns its index. */
size_t dataset_add(struct dataset *dataset, const char *name, const double *values);

/*
 * Numbers the distinct combinations of the given columns in order of appearance: rows that agree
 * in all of them get the same number. Two missing values agree. Returns how many there are.
 */
size_t dataset_groups(const struct dataset *dataset, const size_t *columns, size_t count,
		      double *group);

/* Row numbers by ascending value of a column; equal ones keep their order, NAN comes last. */
void dataset_order(const struct dataset *dataset, size_t column, size_t *rows);

#define AUTO_DATASET __attribute__((cleanup(dataset_release)))

#endif
