/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a method of learning is: one constant per method, in the visible list of learners.c.
 *
 * Memory: fitting holds at most as many bytes as its samples have, plus 1 MiB, beside the samples
 * and the model that it yields. With the caller's table and the prepared copy that is three times
 * the input. These hold more, bounded by a setting or by the rows:
 *
 *	svm         as much again (libsvm takes 16 bytes a value), 200 bytes a row and thread, and
 *	            the setting `cache`
 *	gaussian    four matrices of the square of the setting `limit`
 *	perceptron  with solver=lbfgs, 26 numbers per weight
 *	boosting    per row 8 bytes and 8 more per class, and up to 18 where trees see a share of
 *	            rows; it counts where there are few inputs
 *
 * tests/unit/learn_memory.c checks exactly this.
 */
#ifndef SLUICE_LEARN_LEARNER_H
#define SLUICE_LEARN_LEARNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct blob;
struct buf;
struct err;

/* Rows to learn from: prepared inputs, all finite. */
struct samples {
	const double *x; /* rows x width */
	const double *y; /* rows: a number to predict, or a class 0 .. classes - 1 */
	size_t rows, width;
	size_t classes; /* 0: regression; else at least 2 */
	bool gaps; /* x has missing values (NAN); a pipeline fills them, learners never see any */
};

enum { LEARNER_REGRESSES = 1, LEARNER_CLASSIFIES = 2 };

#define LEARNER_SETTINGS_MAX 12
#define LEARNER_CLASSES_MAX 64

/* One row per setting of a method; the table ends with a row without a name. */
struct learner_setting {
	const char *name, *help;
	const char *words; /* a choice: "gini|entropy"; its value is the number of the word */
	double fallback;
	double least, most;	 /* legal values */
	double low, high;	 /* where a search draws from; low == high: it keeps the fallback */
	bool whole, logarithmic; /* whole numbers; drawn evenly in the logarithm */
};

/* What a fit may use. The result depends on the seed and not on threads. */
struct effort {
	uint64_t seed;
	unsigned threads;
};

struct learner_ops {
	const char *name, *help;
	unsigned tasks;	    /* LEARNER_REGRESSES | LEARNER_CLASSIFIES */
	const char *recipe; /* the preparation it wants unless told otherwise; "" for none */
	const struct learner_setting *settings;

	/* *model is set on success only. settings has one value per row of `settings`. */
	int (*fit)(void **model, const struct samples *samples, const double *settings,
		   const struct effort *effort, struct err *err);

	/*
	 * One row: out is one number, or a probability per class. Any thread, does not allocate,
	 * does not fail.
	 */
	void (*predict)(const void *model, const double *row, double *out);

	/* Optional: many rows at once, where that is faster. out is rows x 1 or rows x classes. */
	void (*predict_rows)(const void *model, const double *x, size_t rows, double *out);

	/* Optional, regression: the standard deviation that the model itself expects around out. */
	double (*spread)(const void *model, const double *row);

	/* Optional: a share per input, summing to 1 (all 0 where nothing was learnt). */
	void (*importance)(const void *model, double *share);

	/*
	 * Optional: learns further rows of the same kind. The model stays as it was on failure.
	 * `help` of the method says what is kept of the old rows.
	 */
	int (*refresh)(void *model, const struct samples *more, const struct effort *effort,
		       struct err *err);

	/* Optional: a few lines for people, e.g. the rules. names has one per input. */
	void (*describe)(const void *model, const char *const *names, struct buf *out);

	void (*save)(const void *model, struct buf *buf);
	/* Must survive any bytes: predict() of what it accepts never reads outside the model. */
	int (*load)(void **model, struct blob *blob, size_t width, size_t classes, struct err *err);
	void (*free)(void *model); /* NULL is fine */
};

/* Ends with NULL. In the order in which a leaderboard breaks ties: simpler first. */
extern const struct learner_ops *const learners[];

/* NULL with a sentence that lists the methods for this task (0: any). */
const struct learner_ops *learner_find(const char *name, unsigned task, struct err *err);

/* "linear,svm" as a list that ends with NULL; the caller frees it. -EINVAL with a sentence. */
int learner_find_all(const char *names, unsigned task, const struct learner_ops ***list,
		     struct err *err);

size_t learner_setting_count(const struct learner_ops *learner);
void learner_defaults(const struct learner_ops *learner, double *settings);

/* Reads "trees=100,depth=3" over what is in settings. "" and NULL change nothing. */
int learner_parse(const struct learner_ops *learner, const char *text, double *settings,
		  struct err *err);

/* The reverse; only values that are not the fallback. Shortest digits that read the same. */
void learner_format(const struct learner_ops *learner, const double *settings, struct buf *out);

/*
 * Value of a setting by name, for a method's own use in fit(): its rows and its code stay
 * together without numbering. The name must exist.
 */
double learner_value(const struct learner_ops *learner, const double *settings, const char *name);

/* Index of the largest of count numbers; the first of equals. */
size_t learner_best(const double *values, size_t count);

#endif
