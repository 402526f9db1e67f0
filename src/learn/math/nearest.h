/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Exact nearest-neighbor search by Euclidean distance; of equally distant rows the earlier one
 * wins, so the result does not depend on the search order. Rows are copied and numbered 0, 1, ...
 * in the order in which they are added. A zero-initialized object is empty, and nearest_release()
 * accepts it.
 */
#ifndef SLUICE_LEARN_MATH_NEAREST_H
#define SLUICE_LEARN_MATH_NEAREST_H

#include <stddef.h>
#include <stdint.h>

typedef float nearest_quad __attribute__((vector_size(16)));
typedef double nearest_pair __attribute__((vector_size(16)));

struct nearest {
	size_t width, rows;
	double *x;	/* rows x width, unchanged */
	double *center; /* mean of a sample of rows per input, scaled */
	double scale;	/* a power of two that brings centered values near 1 */
	/*
	 * [block][width + 1][lanes / 4]: centered and scaled inputs, then a lower bound of the
	 * square
	 */
	nearest_quad *blocks;
	uint32_t *row; /* [block][lanes]: number of the row */
	size_t row_cap, block_count, block_cap;
	/* Blocks and rows that are in the tree; later ones are not. */
	size_t tree_blocks, tree_rows;
	struct nearest_node *nodes;
	size_t node_count, node_cap, leaf_count;
	nearest_pair *boxes; /* [leaf]: minimum of each input, then the maximum */
};

#define NEAREST_WIDTH_MAX 4096
#define NEAREST_ROWS_MAX (UINT32_MAX - 1)

struct nearest_found {
	double distance; /* squared; INFINITY: the row or the query is not finite */
	uint32_t row;
};

/*
 * Needs 8 bytes per row during the call, besides the object itself, which holds a copy of the rows
 * in double and one in single precision.
 */
void nearest_init(struct nearest *nearest, const double *x, size_t rows, size_t width);
void nearest_release(struct nearest *nearest);

/* Adds more rows. */
void nearest_add(struct nearest *nearest, const double *x, size_t rows);

/*
 * Finds the k nearest rows, nearest first; k is at most the number of rows. It is thread-safe and
 * does not allocate.
 */
void nearest_find(const struct nearest *nearest, const double *row, size_t k,
		  struct nearest_found *found);

#endif
