/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rows that have the same inputs always go the same way down a tree, so they may be one cell, and a
 * tree is grown on what its rows come to. Measurements that were repeated make it worth while.
 */
#ifndef SLUICE_LEARN_LEARNERS_TREES_CELLS_H
#define SLUICE_LEARN_LEARNERS_TREES_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct samples;

/*
 * A cell is rows[starts[cell]] and on, up to the start of the next; cells are in the order of their
 * first rows, and so are their rows.
 */
struct cells {
	uint32_t *rows, *starts; /* NULL: each row is its own cell */
	size_t count;
};

/* False where cells would be more than half of the rows; each row is its own cell then. */
bool cells_init(struct cells *cells, const struct samples *samples);
void cells_release(struct cells *cells);

static inline size_t cells_row(const struct cells *cells, size_t cell)
{
	return cells->rows ? cells->rows[cells->starts[cell]] : cell;
}

/* What the rows of a cell come to in the tree at hand. */
struct cells_sums {
	double *sum, *weight, *within; /* within: sum of squares around their mean */
	uint32_t *tally;
};

void cells_sums_init(struct cells_sums *sums, size_t count);
void cells_sums_release(struct cells_sums *sums);

/* For new targets and weights (NULL: 1 each), by row. Yields how many rows take part. */
size_t cells_sums_fill(struct cells_sums *sums, const struct cells *cells, const double *target,
		       const uint16_t *weights);

#endif
