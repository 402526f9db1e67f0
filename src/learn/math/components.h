/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Principal components, as exact as a singular value decomposition of all rows but with little
 * memory: rows are processed in blocks, and only a triangular factor is kept. Signs are those of
 * scikit-learn: the row with the largest absolute score on a component has a positive score.
 *
 * Memory while fitting: at most the size of the inputs if there are few rows; else the size of 256
 * rows or of twice as many rows as there are inputs, whichever is larger.
 */
#ifndef SLUICE_LEARN_MATH_COMPONENTS_H
#define SLUICE_LEARN_MATH_COMPONENTS_H

#include <stddef.h>

struct blob;
struct buf;
struct err;

struct components {
	size_t width, count;
	double *mean;	 /* per input */
	double *loading; /* count x width, largest variance first */
};

/*
 * Fits the components to x (rows x width, finite) and replaces x by its scores, rows x count,
 * packed. wanted: below 1, keep as many components as explain more than that share of the variance;
 * 0, keep all; else keep that many. Components without variance are dropped, except for the first.
 * x is destroyed on failure.
 */
int components_fit(struct components *components, double wanted, double *x, size_t rows,
		   size_t width, struct err *err);
void components_release(struct components *components);

/* Transforms one row. in and out must not overlap, and in is overwritten. */
void components_apply(const struct components *components, double *in, double *out);

void components_save(const struct components *components, struct buf *buf);

/*
 * Reads components of `width` inputs. If they are damaged the blob is marked as failed; components
 * must be released in any case.
 */
void components_load(struct components *components, size_t width, struct blob *blob);

#endif
