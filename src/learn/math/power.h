/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Power transformations that make a column of numbers most nearly normal: Box and Cox (1964) for
 * positive values, Yeo and Johnson (2000) for any. The power maximizes the likelihood and does not
 * depend on the scale of the values.
 */
#ifndef SLUICE_LEARN_MATH_POWER_H
#define SLUICE_LEARN_MATH_POWER_H

#include <stdbool.h>
#include <stddef.h>

struct blob;
struct buf;

enum power_kind {
	POWER_NONE, /* identity */
	POWER_BOXCOX,
	POWER_YEOJOHNSON,
};

/*
 * If x^lambda is so small or large that digits are lost beside the 1 of the formula, values are
 * first divided by a typical value (middle). The result then differs by a factor and a constant.
 */
struct power {
	enum power_kind kind;
	double lambda;
	double middle; /* logarithm of the typical value; 0: not divided */
	double least;  /* Box-Cox: replaces values that are not positive */
	bool mirrored; /* Yeo-Johnson: middle refers to the negative side */
};

/*
 * Range of powers. The range for Yeo-Johnson is symmetric around 1, because a mirrored column has
 * the mirrored power; it is wide because scikit-learn's is unbounded.
 */
#define POWER_BOXCOX_MIN (-2.0)
#define POWER_BOXCOX_MAX 2.0
#define POWER_YEOJOHNSON_MIN (-6.0)
#define POWER_YEOJOHNSON_MAX 8.0

/*
 * Fits one column: count values, `stride` numbers apart, all finite. A column with fewer than three
 * distinct values gets POWER_NONE, and so does a column with values <= 0 for Box-Cox. caret: use
 * Box-Cox on the grid of R's caret, where powers near 0 become the logarithm and powers near 1 the
 * identity.
 */
void power_fit(struct power *power, enum power_kind kind, bool caret, const double *values,
	       size_t count, size_t stride);

/* The result is finite for every finite value. */
double power_apply(const struct power *power, double value);

void power_save(const struct power *power, struct buf *buf);

/* Reads a power of this kind or POWER_NONE; anything else marks the blob as failed. */
void power_load(struct power *power, enum power_kind kind, struct blob *blob);

#endif
