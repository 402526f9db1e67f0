/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Cells are found by a hash table. Sums are taken relative to the first row of a cell, so that
 * equal targets give exactly 0 within.
 */
#include "learn/learners/trees/cells.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "learn/learner.h"
#include "learn/learners/trees/ranks.h"

static bool rows_are_equal(const struct samples *samples, size_t a, size_t b)
{
	const double *x = samples->x + a * samples->width, *z = samples->x + b * samples->width;

	for (size_t f = 0; f < samples->width; f++) {
		if (x[f] != z[f])
			return false;
	}
	return true;
}

static uint64_t hash_row(const struct samples *samples, size_t row)
{
	uint64_t hash = 0;

	for (size_t f = 0; f < samples->width; f++) {
		hash ^= ranks_bits(samples->x[row * samples->width + f]);
		hash *= 0x9e3779b97f4a7c15u;
		hash ^= hash >> 29;
	}
	return hash;
}

/*
 * Finds the cell of each row by a hash table of their first rows. Returns the number of cells, or 0
 * if there are too many.
 */
static size_t find_cells(const struct samples *samples, uint32_t *cell_of, uint32_t *firsts)
{
	size_t slots = 16, count = 0;

	while (slots < samples->rows)
		slots *= 2;
	/* A slot holds a cell; at least half of the slots stay empty. */
	AUTO_FREE uint32_t *table = xmalloc(slots * sizeof(*table));

	memset(table, 0xff, slots * sizeof(*table));
	for (size_t row = 0; row < samples->rows; row++) {
		size_t at = hash_row(samples, row) & (slots - 1);

		while (table[at] != UINT32_MAX && !rows_are_equal(samples, firsts[table[at]], row))
			at = (at + 1) & (slots - 1);
		if (table[at] == UINT32_MAX) {
			if (count == samples->rows / 2)
				return 0;
			firsts[count] = (uint32_t)row;
			table[at] = (uint32_t)count++;
		}
		cell_of[row] = table[at];
	}
	return count;
}

bool cells_init(struct cells *cells, const struct samples *samples)
{
	size_t rows = samples->rows, at = 0;
	AUTO_FREE uint32_t *cell_of = xmalloc(rows * sizeof(*cell_of));
	AUTO_FREE uint32_t *starts = xmalloc((rows / 2 + 1) * sizeof(*starts));
	size_t count = find_cells(samples, cell_of, starts);

	*cells = (struct cells){ .count = rows };
	if (!count)
		return false;
	*cells = (struct cells){ .count = count,
				 .rows = xmalloc(rows * sizeof(uint32_t)),
				 .starts = xcalloc(count + 1, sizeof(uint32_t)) };
	for (size_t i = 0; i < rows; i++)
		cells->starts[cell_of[i]]++;
	for (size_t cell = 0; cell < count; cell++) {
		starts[cell] = (uint32_t)at;
		at += cells->starts[cell];
		cells->starts[cell] = starts[cell];
	}
	cells->starts[count] = (uint32_t)rows;
	for (size_t i = 0; i < rows; i++)
		cells->rows[starts[cell_of[i]]++] = (uint32_t)i;
	return true;
}

void cells_release(struct cells *cells)
{
	free(cells->rows);
	free(cells->starts);
	*cells = (struct cells){ 0 };
}

void cells_sums_init(struct cells_sums *sums, size_t count)
{
	*sums = (struct cells_sums){
		.sum = xmalloc(count * sizeof(double)),
		.weight = xmalloc(count * sizeof(double)),
		.within = xmalloc(count * sizeof(double)),
		.tally = xmalloc(count * sizeof(uint32_t)),
	};
}

void cells_sums_release(struct cells_sums *sums)
{
	free(sums->sum);
	free(sums->weight);
	free(sums->within);
	free(sums->tally);
}

size_t cells_sums_fill(struct cells_sums *sums, const struct cells *cells, const double *target,
		       const uint16_t *weights)
{
	size_t all = 0;

	for (size_t cell = 0; cell < cells->count; cell++) {
		double first = target[cells->rows[cells->starts[cell]]];
		double weight = 0, sum = 0, squares = 0;
		uint32_t tally = 0;

		for (size_t i = cells->starts[cell]; i < cells->starts[cell + 1]; i++) {
			uint32_t row = cells->rows[i], w = weights ? weights[row] : 1;
			double difference = target[row] - first;

			weight += w;
			tally += w != 0;
			sum += w * difference;
			squares += w * difference * difference;
		}
		all += tally;
		sums->tally[cell] = tally;
		sums->weight[cell] = weight;
		sums->sum[cell] = sum + first * weight;
		sums->within[cell] = tally ? fmax(squares - sum * sum / weight, 0) : 0;
	}
	return all;
}
