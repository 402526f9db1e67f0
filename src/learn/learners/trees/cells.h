/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Groups of rows with equal inputs. Such rows always take the same path down a tree, so a tree can
 * be grown on the sums of each group, called a cell. This pays off for repeated measurements.
 */
#ifndef SLUICE_LEARN_LEARNERS_TREES_CELLS_H
#define SLUICE_LEARN_LEARNERS_TREES_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct samples;

/*
 * The rows of a cell are rows[starts[cell]] up to the start of the next cell. Cells are ordered by
 * their first rows, and rows within a cell ascend.
 */
struct cells {
	uint32_t *rows, *starts; /* NULL: each row is a cell */
	size_t count;
};

/* Returns false if there would be more cells than half of the rows; each row is then a cell. */
bool cells_init(struct cells *cells, const struct samples *samples);
void cells_release(struct cells *cells);

static inline size_t cells_row(const struct cells *cells, size_t cell)
{
	return cells->rows ? cells->rows[cells->starts[cell]] : cell;
}

/* Sums over the rows of each cell for the current tree. */
struct cells_sums {
	double *sum, *weight, *within; /* within: sum of squares around the mean */
	uint32_t *tally;
};

void cells_sums_init(struct cells_sums *sums, size_t count);
void cells_sums_release(struct cells_sums *sums);

/*
 * Computes the sums for new targets and weights (NULL: 1 each), both by row. Returns the number of
 * rows with a weight.
 */
size_t cells_sums_fill(struct cells_sums *sums, const struct cells *cells, const double *target,
		       const uint16_t *weights);

#endif
