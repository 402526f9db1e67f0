/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The power that makes a column of numbers most normal: Box and Cox (1964) for positive values, Yeo
 * and Johnson (2000) for any. The power is that of maximum likelihood, whatever the scale of the
 * values is.
 */
#ifndef SLUICE_LEARN_MATHS_POWER_H
#define SLUICE_LEARN_MATHS_POWER_H

#include <stdbool.h>
#include <stddef.h>

struct blob;
struct buf;

enum power_kind {
	POWER_NONE, /* leaves values alone */
	POWER_BOXCOX,
	POWER_YEOJOHNSON,
};

/*
 * Where x^lambda would be so small or large that digits are lost beside the 1 of the formula, the
 * value is first divided by a typical one (middle): the result differs by a factor and a constant.
 */
struct power {
	enum power_kind kind;
	double lambda;
	double middle; /* logarithm of the typical value; 0: not divided */
	double least;  /* Box-Cox: what stands for values that are not positive */
	bool mirrored; /* Yeo-Johnson: middle is that of the negative side */
};

/*
 * Powers that are tried. Those of Yeo and Johnson lie evenly about 1, since a mirrored column has
 * the mirrored power; they go far, as scikit-learn's may.
 */
#define POWER_BOXCOX_MIN (-2.0)
#define POWER_BOXCOX_MAX 2.0
#define POWER_YEOJOHNSON_MIN (-6.0)
#define POWER_YEOJOHNSON_MAX 8.0

/*
 * Fits one column: count values, `stride` numbers apart, all finite. Columns of fewer than three
 * different values, and for Box-Cox such that are not positive, get POWER_NONE. caret: Box-Cox on
 * the grid of R's caret, where powers near 0 mean the logarithm and near 1 nothing.
 */
void power_fit(struct power *power, enum power_kind kind, bool caret, const double *values,
	       size_t count, size_t stride);

/* Finite for every finite value. */
double power_apply(const struct power *power, double value);

void power_save(const struct power *power, struct buf *buf);

/* Either of this kind or of none; blob fails on anything else. */
void power_load(struct power *power, enum power_kind kind, struct blob *blob);

#endif
