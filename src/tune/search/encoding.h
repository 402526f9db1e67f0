/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Points as numbers that a Gaussian process can compare. An ordered dimension becomes its place in
 * the list, from 0 to 1; any other a category, of which only equal or not counts. Where an ordered
 * dimension may be left alone or may not count, a category says so, and its place is neutral.
 */
#ifndef SLUICE_TUNE_SEARCH_ENCODING_H
#define SLUICE_TUNE_SEARCH_ENCODING_H

#include <stdbool.h>
#include <stddef.h>

struct space;

struct encoding {
	const struct space *space;
	size_t width;	 /* inputs */
	size_t *first;	 /* per dimension: its first input; and one more, the width */
	bool *category;	 /* per input */
	double **places; /* per dimension: of its values; NAN: leave it alone */
};

/* The space must outlive it. */
void encoding_init(struct encoding *encoding, const struct space *space);
void encoding_release(struct encoding *encoding);

/* A settled point; input i goes to row[i * stride]. */
void encoding_row(const struct encoding *encoding, const size_t *point, double *row, size_t stride);

#endif
