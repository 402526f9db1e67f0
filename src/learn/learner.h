/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The interface of a learning method. Each method is one constant `struct learner_ops`; learners.c
 * lists all of them.
 *
 * Memory: besides the samples and the model that it returns, a fit allocates at most the size of
 * the samples plus 1 MiB. Together with the caller's table and the prepared copy this is three
 * times the size of the input. The following methods need more; a setting or the number of rows
 * limits it:
 *
 *	svm         the size of the samples once more (libsvm uses 16 bytes per value), 200 bytes
 *	            per row and thread, and the setting `cache`
 *	gaussian    four matrices of `limit` x `limit` values (`limit` is a setting)
 *	perceptron  with solver=lbfgs, 26 numbers per weight
 *	boosting    8 bytes per row and 8 more per class, and up to 18 bytes per row if each tree
 *	            uses a subset of the rows; noticeable only if there are few inputs. With
 *	            more than 10,000 rows, 48 KiB per input, which is less than half of it.
 *
 * tests/unit/learn/memory.c checks these limits.
 * Papers: HYB-40.
 */
#ifndef SLUICE_LEARN_LEARNER_H
#define SLUICE_LEARN_LEARNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct blob;
struct buf;
struct err;

/* Training rows. The inputs are prepared and all finite. */
struct samples {
	const double *x; /* rows x width */
	const double *y; /* rows values: the number to predict, or a class 0 .. classes - 1 */
	size_t rows, width;
	size_t classes; /* 0: regression; else at least 2 */
	/* x may hold missing values (NAN). The pipeline fills them, so learners never see any. */
	bool gaps;
};

enum { LEARNER_REGRESSES = 1, LEARNER_CLASSIFIES = 2 };

#define LEARNER_SETTINGS_MAX 12
#define LEARNER_CLASSES_MAX 64

/* One row per setting of a method. A row without a name ends the table. */
struct learner_setting {
	const char *name, *help;
	/* The names of a choice, "gini|entropy"; the value is the index of the name. */
	const char *words;
	double fallback;
	double least, most; /* legal values */
	double low, high;   /* range of a search; if low == high, the search keeps the default */
	bool whole, logarithmic; /* integer values; sampled uniformly on a log scale */
};

/* Resources of a fit. The result depends on the seed but not on the number of threads. */
struct effort {
	uint64_t seed;
	unsigned threads;
};

struct learner_ops {
	const char *name, *help;
	unsigned tasks;	    /* LEARNER_REGRESSES | LEARNER_CLASSIFIES */
	const char *recipe; /* the default preparation; "" for none */
	const struct learner_setting *settings;

	/*
	 * Fits a model. *model is set on success only. settings has one value per row of
	 * `settings`.
	 */
	int (*fit)(void **model, const struct samples *samples, const double *settings,
		   const struct effort *effort, struct err *err);

	/*
	 * Predicts one row: out gets one number, or one probability per class. It is thread-safe,
	 * does not allocate and does not fail.
	 */
	void (*predict)(const void *model, const double *row, double *out);

	/*
	 * Optional: predicts many rows faster than one by one. out is rows x 1 or rows x classes.
	 */
	void (*predict_rows)(const void *model, const double *x, size_t rows, double *out);

	/*
	 * Optional, regression only: the standard deviation of the prediction, estimated by the
	 * model itself.
	 */
	double (*spread)(const void *model, const double *row);

	/*
	 * Optional: the importance of each input. The shares sum to 1, or are all 0 if nothing was
	 * learned.
	 */
	void (*importance)(const void *model, double *share);

	/*
	 * Optional: updates the model with more rows of the same layout. The model is unchanged on
	 * failure. The `help` text of the method says how much of the old rows is kept.
	 */
	int (*refresh)(void *model, const struct samples *more, const struct effort *effort,
		       struct err *err);

	/*
	 * Optional: a short description for people, for example the rules. names has one name per
	 * input.
	 */
	void (*describe)(const void *model, const char *const *names, struct buf *out);

	void (*save)(const void *model, struct buf *buf);
	/*
	 * Must be safe on arbitrary bytes: predict() of an accepted model never reads outside of
	 * it.
	 */
	int (*load)(void **model, struct blob *blob, size_t width, size_t classes, struct err *err);
	void (*free)(void *model); /* NULL is fine */
};

/*
 * All methods, ended by NULL. A leaderboard breaks ties in this order: simpler methods come first.
 */
extern const struct learner_ops *const learners[];

/*
 * Finds a method by name. Returns NULL and sets err to a list of the methods for this task (0:
 * any).
 */
const struct learner_ops *learner_find(const char *name, unsigned task, struct err *err);

/*
 * Parses "linear,svm" into a list that ends with NULL; the caller frees it. Returns -EINVAL and
 * sets err if a name is unknown.
 */
int learner_find_all(const char *names, unsigned task, const struct learner_ops ***list,
		     struct err *err);

size_t learner_setting_count(const struct learner_ops *learner);
void learner_defaults(const struct learner_ops *learner, double *settings);

/*
 * Overwrites values of settings by those of a text such as "trees=100,depth=3". "" and NULL change
 * nothing.
 */
int learner_parse(const struct learner_ops *learner, const char *text, double *settings,
		  struct err *err);

/*
 * The reverse of learner_parse(). Writes only values that differ from the default, each with the
 * fewest digits that restore it exactly.
 */
void learner_format(const struct learner_ops *learner, const double *settings, struct buf *out);

/*
 * Returns the value of a setting by name, so that fit() of a method needs no indices into its own
 * table. The name must exist.
 */
double learner_value(const struct learner_ops *learner, const double *settings, const char *name);

/* Returns the index of the largest of count numbers, and the first one if several are equal. */
size_t learner_best(const double *values, size_t count);

#endif
