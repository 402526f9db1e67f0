/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Principal components, as exact as a singular value decomposition of all rows, but in little
 * memory: rows are worked off in blocks, of which only a triangle is kept. Signs are those of
 * scikit-learn: the row that lies farthest out on a component lies on its positive side.
 *
 * Memory while fitting: as many bytes as the inputs have, at most, for a few rows; for many, those
 * of the larger of twice the width and 256 rows.
 */
#ifndef SLUICE_LEARN_MATHS_COMPONENTS_H
#define SLUICE_LEARN_MATHS_COMPONENTS_H

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
 * wanted: below 1 as many as explain more than that share of the variance, else that many; 0: all.
 * Components without variance are left out, but for the first. x (rows x width, finite) becomes
 * rows x count, packed. x is destroyed on failure.
 */
int components_fit(struct components *components, double wanted, double *x, size_t rows,
		   size_t width, struct err *err);
void components_release(struct components *components);

/* One row; in and out must not overlap, and in is overwritten. */
void components_apply(const struct components *components, double *in, double *out);

void components_save(const struct components *components, struct buf *buf);

/* For so many inputs; where they are damaged the blob fails, and this is still to be released. */
void components_load(struct components *components, size_t width, struct blob *blob);

#endif
