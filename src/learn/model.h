/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A model that lives in a file: what it wants of a table, how it predicts, how far it can be
 * trusted, and where it comes from.
 *
 * The file is one line of JSON for people and other programs (everything of struct model_origin),
 * then the numbers, then a checksum of it all. A file of a later version, a damaged or a foreign
 * one is refused with a sentence. It appears under its name when it is complete.
 */
#ifndef SLUICE_LEARN_MODEL_H
#define SLUICE_LEARN_MODEL_H

#include "learn/data/schema.h"
#include "learn/judge/calibration.h"
#include "learn/judge/conformal.h"
#include "learn/pipeline.h"

struct dataset;

#define MODEL_VERSION 1

/* Where it comes from. */
struct model_origin {
	char *version;	/* of the library that fitted it */
	char *target;	/* name of the column */
	char *time;	/* name of the column of time; NULL: none */
	char *settings; /* "trees=50" */
	char *recipe;
	double from, to; /* training window: least and greatest time; NAN: none */
	uint64_t rows, seed;
	int64_t made; /* seconds since 1970 */
	double score; /* accuracy (classes) or R2, out of fold; NAN: not judged */
};

struct model {
	struct schema schema;
	struct pipeline pipeline;
	struct calibration calibration; /* two classes */
	struct conformal conformal;	/* regression; of logarithms with log_target */
	char **classes;			/* their names, as in the table; NULL: regression */
	struct model_origin origin;
};

struct model_plan {
	struct pipeline_plan pipeline;
	const char *target, *features; /* features: list of dataset_choose(); NULL: all others */
	const char *time;	       /* column for the window and for folds in time; NULL: none */
	bool classify;
	size_t folds; /* to judge, calibrate and size intervals; 0: none of these */
	enum calibration_kind calibration;
	struct effort effort;
};

/* What a plan means for a table: used by fit and select alike. Rows without target are left out. */
struct model_rows {
	struct schema schema;
	double *x, *y, *time; /* time NULL: none */
	char **classes;
	size_t rows, class_count, left_out;
};
int model_rows_init(struct model_rows *rows, const struct dataset *dataset,
		    const struct model_plan *plan, struct err *err);
void model_rows_release(struct model_rows *rows);

int model_fit(struct model *model, const struct dataset *dataset, const struct model_plan *plan,
	      struct err *err);
void model_release(struct model *model);

/*
 * Predictions for all rows of a table: values (regression) or chances (rows x classes, calibrated).
 * strange and missing as in schema_inputs().
 */
int model_predict(const struct model *model, const struct dataset *dataset, double *out,
		  size_t *strange, size_t *missing, struct err *err);

/* One row of inputs in the order of the schema's; for callers in a hurry. */
void model_predict_row(const struct model *model, const double *inputs, double *out);

/* The interval around a prediction; false where the model has none for this coverage. */
bool model_interval(const struct model *model, const double *inputs, double guess, double coverage,
		    double *low, double *high);

/* Learns the rows of another table, if the method can (-ENOTSUP). */
int model_refresh(struct model *model, const struct dataset *dataset, const struct effort *effort,
		  struct err *err);

int model_save(const struct model *model, const char *path, struct err *err);
int model_load(struct model *model, const char *path, struct err *err);

/* The same from memory; name stands for the file in messages. */
int model_parse(struct model *model, const char *name, const void *bytes, size_t n,
		struct err *err);

#endif
