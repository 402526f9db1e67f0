/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From columns of a table to the inputs of a learner: texts become one 0/1 input per level, missing
 * (or infinite) numbers the median that was seen when the schema was made. It is kept with a model,
 * so that another table is read by names, in whatever order its columns come.
 */
#ifndef SLUICE_LEARN_TABLE_SCHEMA_H
#define SLUICE_LEARN_TABLE_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>

struct blob;
struct buf;
struct dataset;
struct err;

struct feature {
	char *name;
	char **levels; /* sorted; NULL: a number */
	size_t level_count;
	double median; /* of a number */
};

struct schema {
	struct feature *features;
	size_t count; /* of features */
	size_t width; /* of inputs: a text feature has one per level */
};

/* Made of the given rows only (NULL: all). A feature without any value is an error. */
int schema_init(struct schema *schema, const struct dataset *dataset, const size_t *columns,
		size_t count, const size_t *rows, size_t row_count, struct err *err);
void schema_release(struct schema *schema);

/* Name of an input: the feature's, or "feature=level". The caller's to free. */
char *schema_input(const struct schema *schema, size_t input);

/*
 * Inputs of all rows of a table, found by name: rows x width into out. A level that was not seen
 * gives zeros and counts in *strange, a missing value in *missing (either may be NULL; a missing
 * text gives zeros, too). Numbers where texts were are taken by their digits. An absent column, or
 * texts where numbers were, is an error, which leaves *strange and *missing untouched. fill: a
 * missing number becomes the median; else it stays NAN, for those who must not look ahead.
 */
int schema_inputs(const struct schema *schema, const struct dataset *dataset, bool fill,
		  double *out, size_t *strange, size_t *missing, struct err *err);

void schema_save(const struct schema *schema, struct buf *buf);
int schema_load(struct schema *schema, struct blob *blob, struct err *err);

#endif
