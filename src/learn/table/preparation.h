/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Transforms the inputs before a learner sees them. A preparation is fitted on training rows only.
 * A recipe lists its steps in the order of execution, such as "boxcox,center,scale,pca=0.95". The
 * steps are:
 *
 *	fill          replaces a missing value (NAN) by the median of its column; must come first
 *	boxcox        per column: the power that makes it most nearly normal, by maximum likelihood
 *	              (from -2 to 2); columns that are not positive, or have fewer than three
 *	              distinct values, are unchanged
 *	boxcox=caret  the same on the grid of 0.1 of R's caret; a power below 0.2 becomes the
 *	              logarithm, and a power within 0.2 of 1 leaves the column unchanged
 *	yeojohnson    like boxcox, for columns of any sign (from -6 to 8)
 *	center        shifts the mean to 0 ("centre" is accepted, too)
 *	scale         scales the standard deviation (n - 1) to 1; a constant column is unchanged
 *	pca           principal components, all that have variance; =0.95: as many as explain more
 *	              than that share, =3: that many; at most once per recipe
 *
 * The empty recipe and "none" do nothing. Memory while fitting: two columns for powers, and for pca
 * the memory that components.h states.
 * Papers: HYB-40.
 */
#ifndef SLUICE_LEARN_TABLE_PREPARATION_H
#define SLUICE_LEARN_TABLE_PREPARATION_H

#include <stddef.h>

struct blob;
struct buf;
struct err;

#define PREPARATION_WIDTH_MAX 4096 /* limit of columns before and after */

struct preparation_step; /* one fitted step */

struct preparation {
	struct preparation_step *steps;
	size_t count;
	size_t width_in, width_out;
};

/* Checks the syntax of a recipe. */
int preparation_check(const char *recipe, struct err *err);

/*
 * Fits the recipe to x (rows x width) and transforms x in place: afterwards x holds rows x
 * width_out, packed. Values must be finite (or missing, if the recipe begins with fill); the
 * results are finite. On failure, preparation is untouched but x is not.
 */
int preparation_fit(struct preparation *preparation, const char *recipe, double *x, size_t rows,
		    size_t width, struct err *err);
void preparation_release(struct preparation *preparation);

/*
 * Transforms one row. out may be the same array as in, or begin before it and overlap it. Does not
 * allocate. A value outside the domain of a power is replaced by the lowest value seen in the fit.
 */
void preparation_apply(const struct preparation *preparation, const double *in, double *out);

/* The power of a column in the first boxcox or yeojohnson step; NAN if the column is unchanged. */
double preparation_lambda(const struct preparation *preparation, size_t column);

void preparation_save(const struct preparation *preparation, struct buf *buf);
int preparation_load(struct preparation *preparation, struct blob *blob, struct err *err);

#endif
