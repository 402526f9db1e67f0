/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One input is sorted at a time, so that only one column is held in addition to the codes.
 */
#include "learn/learners/rules/bins.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "learn/learner.h"
#include "learn/math/vector.h"

/* The midpoint of two values, or the lower one if no number lies between. */
static double midpoint(double low, double high)
{
	double cut = low / 2 + high / 2;

	return cut > low && cut < high ? cut : low;
}

/* Finds the cuts of a sorted column; returns their number. */
static size_t find_cuts(const double *sorted, size_t rows, double *cuts)
{
	size_t count = 0, distinct = 1;

	for (size_t i = 1; i < rows; i++)
		distinct += sorted[i] > sorted[i - 1];
	if (distinct <= BINS_MAX) {
		for (size_t i = 1; i < rows; i++) {
			if (sorted[i] > sorted[i - 1])
				cuts[count++] = midpoint(sorted[i - 1], sorted[i]);
		}
		return count;
	}
	for (size_t k = 1; k < BINS_MAX; k++) {
		size_t at = rows * k / BINS_MAX;
		double cut;

		/* Equal values stay together: the cut moves up to their end. */
		while (at < rows && sorted[at] == sorted[at - 1])
			at++;
		if (at == rows)
			break;
		cut = midpoint(sorted[at - 1], sorted[at]);
		if (!count || cut > cuts[count - 1])
			cuts[count++] = cut;
	}
	return count;
}

static uint8_t find_code(const double *cuts, size_t count, double value)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (value > cuts[mid])
			low = mid + 1;
		else
			high = mid;
	}
	return (uint8_t)low;
}

void bins_init(struct bins *bins, const struct samples *samples)
{
	size_t rows = samples->rows, width = samples->width, cap = 0;
	AUTO_FREE double *column = xmalloc(rows * sizeof(*column));

	*bins = (struct bins){ .rows = rows, .width = width };
	bins->codes = xmalloc(rows * width);
	bins->first = xcalloc(width + 1, sizeof(*bins->first));
	for (size_t j = 0; j < width; j++) {
		size_t at = bins->first[j], count;

		for (size_t i = 0; i < rows; i++)
			column[i] = samples->x[i * width + j];
		vector_sort(column, rows);
		bins->cuts = xgrow(bins->cuts, &cap, at + BINS_MAX, sizeof(*bins->cuts));
		count = find_cuts(column, rows, bins->cuts + at);
		bins->first[j + 1] = at + count;
		for (size_t i = 0; i < rows; i++)
			bins->codes[j * rows + i] =
				find_code(bins->cuts + at, count, samples->x[i * width + j]);
	}
}

void bins_release(struct bins *bins)
{
	free(bins->codes);
	free(bins->cuts);
	free(bins->first);
	*bins = (struct bins){ 0 };
}
