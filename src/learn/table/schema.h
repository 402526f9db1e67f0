/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Maps the columns of a table to the inputs of a learner. A text column becomes one 0/1 input per
 * level; a missing (or infinite) number becomes the median at the time the schema was made. The
 * schema is stored with a model, so that it finds the columns of another table by name, in any
 * order.
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
	char **levels; /* sorted; NULL: a numeric feature */
	size_t level_count;
	double median; /* of a numeric feature */
};

struct schema {
	struct feature *features;
	size_t count; /* number of features */
	size_t width; /* number of inputs: a text feature has one per level */
};

/* Makes a schema from the given rows only (NULL: all). A feature without any value is an error. */
int schema_init(struct schema *schema, const struct dataset *dataset, const size_t *columns,
		size_t count, const size_t *rows, size_t row_count, struct err *err);
void schema_release(struct schema *schema);

/* The name of an input: the feature's name, or "feature=level". The caller frees it. */
char *schema_input(const struct schema *schema, size_t input);

/*
 * Computes the inputs of all rows of a table: rows x width into out. Columns are found by name.
 *
 * An unknown level gives zeros and is counted in *unknown. A missing value is counted in *missing;
 * a missing text gives zeros. Either counter may be NULL. Numbers in a column that was a text
 * column are matched by their digits. An absent column, or text in a column that was numeric, is an
 * error, which leaves *unknown and *missing untouched. If fill is true, a missing number becomes
 * the median; else it stays NAN, so that a fold can use the median of its own training rows.
 */
int schema_inputs(const struct schema *schema, const struct dataset *dataset, bool fill,
		  double *out, size_t *unknown, size_t *missing, struct err *err);

void schema_save(const struct schema *schema, struct buf *buf);
int schema_load(struct schema *schema, struct blob *blob, struct err *err);

#endif
