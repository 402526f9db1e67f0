/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Encodes points as numbers that a Gaussian process can compare. An ordered dimension becomes the
 * place of its value in the list, from 0 to 1. Any other dimension becomes a category, whose values
 * are only equal or different. If an ordered dimension may be unset or irrelevant, an additional
 * category says so, and its place is neutral.
 */
#ifndef SLUICE_TUNE_SEARCH_ENCODING_H
#define SLUICE_TUNE_SEARCH_ENCODING_H

#include <stdbool.h>
#include <stddef.h>

struct space;

struct encoding {
	const struct space *space;
	size_t width;	 /* number of inputs */
	size_t *first;	 /* per dimension: its first input; the last entry is the width */
	bool *category;	 /* per input */
	double **places; /* per dimension: of its values; NAN: unset */
};

/* The space must outlive the encoding. */
void encoding_init(struct encoding *encoding, const struct space *space);
void encoding_release(struct encoding *encoding);

/* Encodes a settled point: input i is written to row[i * stride]. */
void encoding_row(const struct encoding *encoding, const size_t *point, double *row, size_t stride);

#endif
