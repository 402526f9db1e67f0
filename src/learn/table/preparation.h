/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What is done to inputs before a learner sees them, fitted on training rows only. A recipe is a
 * text, "boxcox,centre,scale,pca=0.95", in the order of work:
 *
 *	fill          a missing value (NAN) becomes the median of its column; comes first
 *	boxcox        per column: the power that makes it most normal, by maximum likelihood (from
 *	              -2 to 2); columns that are not positive, or have fewer than three different
 *	              values, are left alone
 *	boxcox=caret  the same on the grid of 0.1 of R's caret; a power below 0.2 is the logarithm,
 *	              one nearer than 0.2 to 1 is nothing
 *	yeojohnson    likewise, for columns of any sign (from -6 to 8)
 *	centre        mean 0
 *	scale         deviation 1 (n - 1); a constant column is left alone
 *	pca           principal components, all that have variance; =0.95: as many as explain more
 *	              than that share, =3: that many; once per recipe
 *
 * The empty recipe and "none" do nothing. Memory while fitting: two columns for powers, and for pca
 * what components.h says.
 */
#ifndef SLUICE_LEARN_TABLE_PREPARATION_H
#define SLUICE_LEARN_TABLE_PREPARATION_H

#include <stddef.h>

struct blob;
struct buf;
struct err;

#define PREPARATION_WIDTH_MAX 4096 /* columns before and after */

struct preparation_step; /* one step, fitted */

struct preparation {
	struct preparation_step *steps;
	size_t count;
	size_t width_in, width_out;
};

/* Does the recipe make sense? */
int preparation_check(const char *recipe, struct err *err);

/*
 * Fits the recipe to x (rows x width) and transforms x in place while doing so: afterwards x holds
 * rows x width_out, packed. Values must be finite (or missing, if the recipe
 * begins with fill), and the result is. Where it fails preparation is
 * untouched, but x is not.
 */
int preparation_fit(struct preparation *preparation, const char *recipe, double *x, size_t rows,
		    size_t width, struct err *err);
void preparation_release(struct preparation *preparation);

/*
 * One row; out may be the same array as in, or begin before it and overlap it. Does not allocate. A
 * value outside a power's domain is moved to its edge: the least value that was seen.
 */
void preparation_apply(const struct preparation *preparation, const double *in, double *out);

/* The power of a column in the first boxcox or yeojohnson step; NAN where it is left alone. */
double preparation_lambda(const struct preparation *preparation, size_t column);

void preparation_describe(const struct preparation *preparation, struct buf *out); /* for people */
void preparation_save(const struct preparation *preparation, struct buf *buf);
int preparation_load(struct preparation *preparation, struct blob *blob, struct err *err);

#endif
