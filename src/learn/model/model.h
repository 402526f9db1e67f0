/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A model that lives in a file: what it wants of a table, how it predicts, how far it can be
 * trusted, and where it comes from.
 *
 * The file is one line of JSON for people and other programs (everything of struct model_origin),
 * then the numbers, then a checksum (XXH64) of it all. A file of a later version, a damaged or a
 * foreign one is refused with a sentence. It appears under its name when it is complete.
 */
#ifndef SLUICE_LEARN_MODEL_MODEL_H
#define SLUICE_LEARN_MODEL_MODEL_H

#include "learn/table/schema.h"
#include "learn/judge/calibration.h"
#include "learn/judge/conformal.h"
#include "learn/pipeline.h"

struct dataset;
struct folds;
struct json;

#define MODEL_VERSION 1

/* Where it comes from. */
struct model_origin {
	char *version;	 /* of the library that fitted it */
	char *target;	 /* name of the column */
	char *time;	 /* name of the column of time; NULL: none */
	char *settings;	 /* "trees=50"; "": the defaults */
	char *recipe;	 /* "": none */
	double from, to; /* training window: least and greatest time; NAN: none */
	uint64_t rows, seed;
	int64_t made; /* seconds since 1970 */
	/* Out of fold; NAN: not judged, or not defined. Of logarithms: R2 with log_target. */
	double score;	    /* accuracy (classes) or R2 */
	double second;	    /* AUC (classes) or median of |guess / truth - 1| */
	uint64_t refreshed; /* rows that were learnt later */
};

struct model {
	struct schema schema;
	struct pipeline pipeline;
	struct calibration calibration; /* two classes */
	struct conformal conformal;	/* regression; of logarithms with log_target */
	/*
	 * Errors are divided by what the method expects plus this much, which keeps a method that
	 * is too sure of itself from intervals of no width; 0: they are not divided.
	 */
	double softening;
	char **classes; /* their names, as in the table; NULL: regression */
	struct model_origin origin;
};

struct model_plan {
	struct pipeline_plan pipeline;
	const char *target, *features; /* features: list of dataset_choose(); NULL: all others */
	const char *time;	       /* column for the window and for folds in time; NULL: none */
	bool classify;
	size_t folds; /* to judge, calibrate and size intervals; 0: none of these */
	/*
	 * How rows are split into folds, a word of FOLDS_WORDS; NULL: forward with a time, grouped
	 * with `by`, stratified for classes, else plain.
	 */
	const char *split;
	/*
	 * Columns that the split goes by, as for dataset_choose(): those of a configuration
	 * (grouped), the class (stratified; NULL: the target), the time (blocked, forward; NULL:
	 * `time`, else the order of rows) or the fold (given; one per distinct value).
	 */
	const char *by;
	enum calibration_kind calibration;
	struct effort effort;
};

/*
 * What a plan means for a table: used by fit and select alike. Rows without target are left out.
 * The target is no feature; time and given folds are none unless they are asked for by name.
 */
struct model_rows {
	struct schema schema;
	double *x, *y, *time; /* time NULL: none */
	size_t *from;	      /* per row: its row in the table */
	char **classes;
	size_t rows, class_count, left_out;
	size_t missing; /* values; in x they are NAN, for the pipeline to fill inside a fold */
};
int model_rows_init(struct model_rows *rows, const struct dataset *dataset,
		    const struct model_plan *plan, struct err *err);
void model_rows_release(struct model_rows *rows);

/* The matrices of it; they stay its own. */
struct samples model_rows_samples(const struct model_rows *rows);

/* The folds of these rows that the plan asks for. */
int model_rows_split(const struct model_rows *rows, const struct dataset *dataset,
		     const struct model_plan *plan, struct folds *folds, struct err *err);

/*
 * The target of another table for a model: per row its number or class, NAN where it is missing.
 * -ENOENT where the table has no such column, -EINVAL where it holds a class that is not known.
 */
int model_truth(const struct model *model, const struct dataset *dataset, double *truth,
		struct err *err);

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

/*
 * Learns the rows of another table, if the method can (-ENOTSUP). Errors of predictions of these
 * rows, made before they are learnt, join those that intervals are made of.
 */
int model_refresh(struct model *model, const struct dataset *dataset, const struct effort *effort,
		  struct err *err);

int model_save(const struct model *model, const char *path, struct err *err);
int model_load(struct model *model, const char *path, struct err *err);

/* The same from memory; name stands for the file in messages. */
int model_parse(struct model *model, const char *name, const void *bytes, size_t n,
		struct err *err);

/* Where it comes from and how good it is, as in the first line of its file. */
void model_tell(const struct model *model, struct json *json);

/* Does the file begin as a model does? It may be damaged all the same. */
bool model_probe(const char *path);

#endif
