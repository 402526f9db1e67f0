/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The rows nearest to a row, exactly: Euclidean distance, and of equally distant rows the one that
 * came first. So the answer does not depend on how the search goes about it. Rows are numbered
 * 0, 1, ... as they come and are copied. Zero-initialised is empty; nearest_release() accepts that.
 */
#ifndef SLUICE_LEARN_MATHS_NEAREST_H
#define SLUICE_LEARN_MATHS_NEAREST_H

#include <stddef.h>
#include <stdint.h>

typedef float nearest_quad __attribute__((vector_size(16)));
typedef double nearest_pair __attribute__((vector_size(16)));

struct nearest {
	size_t width, rows;
	double *x;	      /* rows x width, as they came */
	double *centre;	      /* of some rows, per input; scaled */
	double scale;	      /* a power of two: what was centred is near 1 then */
	nearest_quad *blocks; /* [block][width + 1][lanes / 4]: centred, scaled; a least square */
	uint32_t *row;	      /* [block][lanes]: its number */
	size_t row_cap, block_count, block_cap;
	size_t tree_blocks, tree_rows; /* the first ones; the rest is outside of the tree */
	struct nearest_node *nodes;
	size_t node_count, node_cap, leaf_count;
	nearest_pair *boxes; /* [leaf]: least values of the inputs, then the greatest */
};

#define NEAREST_WIDTH_MAX 4096
#define NEAREST_ROWS_MAX (UINT32_MAX - 1)

struct nearest_found {
	double distance; /* squared; INFINITY: a row or the query is not finite */
	uint32_t row;
};

/*
 * 8 bytes a row while it works, beside what it makes: a copy of the rows and another with half as
 * many digits.
 */
void nearest_init(struct nearest *nearest, const double *x, size_t rows, size_t width);
void nearest_release(struct nearest *nearest);

/* Further rows. */
void nearest_add(struct nearest *nearest, const double *x, size_t rows);

/* The k nearest, nearest first; k is at most the number of rows. Any thread; does not allocate. */
void nearest_find(const struct nearest *nearest, const double *row, size_t k,
		  struct nearest_found *found);

#endif
