/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A model that is stored in a file: the columns it expects, the fitted pipeline, the calibration
 * and prediction intervals, and the origin of the model.
 *
 * The file is a checked file (learn/file/checked_file.h). Its line of JSON holds everything of
 * struct model_origin. A file that has a later version, is damaged, or is of another type is
 * rejected with an explanation. The file is renamed into place when it is complete.
 */
#ifndef SLUICE_LEARN_MODEL_MODEL_H
#define SLUICE_LEARN_MODEL_MODEL_H

#include "learn/judge/calibration.h"
#include "learn/judge/conformal.h"
#include "learn/pipeline.h"
#include "learn/table/schema.h"

struct dataset;
struct folds;
struct json;

#define MODEL_VERSION 1

/* The origin of a model. */
struct model_origin {
	char *version;	 /* version of Sluice that fitted it */
	char *target;	 /* name of the target column */
	char *time;	 /* name of the time column; NULL: none */
	char *settings;	 /* "trees=50"; "": the defaults */
	char *recipe;	 /* "": none */
	double from, to; /* training window: lowest and highest time; NAN: none */
	uint64_t rows, seed;
	int64_t made; /* when it was fitted, in seconds since 1970 */
	/*
	 * Out-of-fold quality; NAN: not evaluated, or not defined. With log_target, R2 refers to
	 * logarithms.
	 */
	double score;  /* accuracy (classes) or R2 */
	double second; /* AUC (classes) or the median of |prediction / truth - 1| */
	double rmse;   /* regression, as score; not part of the file: NAN if the model was loaded */
	uint64_t refreshed; /* rows that model_refresh() added */
};

struct model {
	struct schema schema;
	struct pipeline pipeline;
	struct calibration calibration; /* for two classes only */
	struct conformal conformal;	/* regression; refers to logarithms with log_target */
	/*
	 * Errors are divided by the method's own expected deviation plus this value; 0: they are
	 * not divided. The value keeps an overconfident method from intervals of zero width.
	 */
	double softening;
	char **classes; /* class names, as in the table; NULL: regression */
	struct model_origin origin;
};

struct model_plan {
	struct pipeline_plan pipeline;
	/* features is a list for dataset_choose(); NULL: all other columns. */
	const char *target, *features;
	const char *time; /* column for the training window and for folds in time; NULL: none */
	bool classify;
	size_t folds; /* for evaluation, calibration and prediction intervals; 0: skip these */
	/*
	 * How rows are split into folds, one of FOLDS_WORDS. NULL: forward if there is a time,
	 * grouped if `by` is set, stratified for classes, else plain.
	 */
	const char *split;
	/*
	 * Columns that determine the split, as for dataset_choose(): those of a configuration
	 * (grouped), the class (stratified; NULL: the target), the time (blocked, forward; NULL:
	 * `time`, else the order of rows) or the fold (given; one per distinct value).
	 */
	const char *by;
	enum calibration_kind calibration;
	struct effort effort;
};

/*
 * The rows of a table that a plan selects; model_fit() and model selection both use them. Rows
 * without a target are left out. The target is never a feature; the columns of the time and of
 * given folds are features only if the plan names them.
 */
struct model_rows {
	struct schema schema;
	double *x, *y, *time; /* time NULL: none */
	size_t *from;	      /* index of each row in the table */
	char **classes;
	size_t rows, class_count, left_out;
	/* Missing values; they are NAN in x, and the pipeline fills them inside each fold. */
	size_t missing;
};
int model_rows_init(struct model_rows *rows, const struct dataset *dataset,
		    const struct model_plan *plan, struct err *err);
void model_rows_release(struct model_rows *rows);

/* A view of the matrices, which rows still owns. */
struct samples model_rows_samples(const struct model_rows *rows);

/* Splits these rows into folds as the plan asks. */
int model_rows_split(const struct model_rows *rows, const struct dataset *dataset,
		     const struct model_plan *plan, struct folds *folds, struct err *err);

/*
 * Reads the target of another table for a model: per row a number or a class, NAN if it is missing.
 * Returns -ENOENT if the table lacks the column, -EINVAL if it holds an unknown class.
 */
int model_truth(const struct model *model, const struct dataset *dataset, double *truth,
		struct err *err);

int model_fit(struct model *model, const struct dataset *dataset, const struct model_plan *plan,
	      struct err *err);
void model_release(struct model *model);

/*
 * Predicts all rows of a table: numbers (regression) or calibrated probabilities (rows x classes).
 * unknown and missing are those of schema_inputs().
 */
int model_predict(const struct model *model, const struct dataset *dataset, double *out,
		  size_t *unknown, size_t *missing, struct err *err);

/* Predicts one row of inputs in the order of the schema. It does not allocate. */
void model_predict_row(const struct model *model, const double *inputs, double *out);

/*
 * Sets the prediction interval around guess; returns false if the model has none for this coverage.
 */
bool model_interval(const struct model *model, const double *inputs, double guess, double coverage,
		    double *low, double *high);

/*
 * The error of a prediction in the units of the intervals, and the interval of a margin in these
 * units, for intervals that adapt (struct adaptive). Regression only.
 */
double model_error(const struct model *model, const double *inputs, double guess, double truth);
bool model_interval_of(const struct model *model, const double *inputs, double guess, double margin,
		       double *low, double *high);

/*
 * Updates the model with the rows of another table; returns -ENOTSUP if the method does not support
 * it. Before that, the model predicts these rows, and its errors are added to those that determine
 * the prediction intervals.
 */
int model_refresh(struct model *model, const struct dataset *dataset, const struct effort *effort,
		  struct err *err);

int model_save(const struct model *model, const char *path, struct err *err);
int model_load(struct model *model, const char *path, struct err *err);

/* Like model_load(), from memory; name stands for the file in messages. */
int model_parse(struct model *model, const char *name, const void *bytes, size_t n,
		struct err *err);

/* Writes origin and quality as in the first line of the model file. */
void model_tell(const struct model *model, struct json *json);

/* True if the file begins like a model file. It may still be damaged. */
bool model_probe(const char *path);

#endif
