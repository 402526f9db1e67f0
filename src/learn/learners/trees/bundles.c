/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Bundles are found from left to right. For each input the pass over the rows records how far to
 * the left an input is set in the same row; a bundle ends where such an input would be in it.
 */
#include "learn/learners/trees/bundles.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "learn/learner.h"

struct columns {
	double *low, *high; /* the values of an input */
	bool *many;	    /* an input has more than two values, or only one */
	uint32_t *begin;    /* first input that may be in the same bundle */
};

/* Finds the two values of each input. */
static void find_values(struct columns *columns, const struct samples *samples)
{
	for (size_t i = 0; i < samples->rows; i++) {
		const double *row = samples->x + i * samples->width;

		for (size_t f = 0; f < samples->width; f++) {
			if (row[f] == columns->low[f] || row[f] == columns->high[f])
				continue;
			/* The first other value makes them differ; a further one is too many. */
			columns->many[f] |= columns->low[f] != columns->high[f];
			columns->low[f] = fmin(columns->low[f], row[f]);
			columns->high[f] = fmax(columns->high[f], row[f]);
		}
	}
	for (size_t f = 0; f < samples->width; f++)
		columns->many[f] |= columns->low[f] == columns->high[f];
}

static void find_conflicts(struct columns *columns, const struct samples *samples)
{
	for (size_t i = 0; i < samples->rows; i++) {
		const double *row = samples->x + i * samples->width;
		uint32_t after = 0;

		for (uint32_t f = 0; f < samples->width; f++) {
			if (columns->many[f] || row[f] != columns->high[f])
				continue;
			if (columns->begin[f] < after)
				columns->begin[f] = after;
			after = f + 1;
		}
	}
}

/* Returns the end of the bundle that begins at first. */
static uint32_t find_end(const struct columns *columns, uint32_t first, size_t width, size_t most)
{
	uint32_t end = first;

	while (end < width && end - first < most && !columns->many[end] &&
	       columns->begin[end] <= first)
		end++;
	return end - first >= BUNDLES_LEAST ? end : first + 1;
}

static void columns_init(struct columns *columns, const struct samples *samples)
{
	size_t width = samples->width;

	*columns = (struct columns){ .low = xmalloc(width * sizeof(double)),
				     .high = xmalloc(width * sizeof(double)),
				     .many = xcalloc(width, sizeof(bool)),
				     .begin = xcalloc(width, sizeof(uint32_t)) };
	memcpy(columns->low, samples->x, width * sizeof(double));
	memcpy(columns->high, samples->x, width * sizeof(double));
	find_values(columns, samples);
	find_conflicts(columns, samples);
}

void bundles_init(struct bundles *bundles, const struct samples *samples, size_t most)
{
	size_t width = samples->width;
	struct columns columns;

	columns_init(&columns, samples);
	*bundles = (struct bundles){ .list = xmalloc(width * sizeof(*bundles->list)),
				     .of = xmalloc(width * sizeof(*bundles->of)),
				     .unset = columns.low,
				     .set = columns.high };
	for (uint32_t f = 0; f < width;) {
		uint32_t end = find_end(&columns, f, width, most);

		bundles->list[bundles->count] = (struct bundle){ .first = f, .count = end - f };
		for (; f < end; f++)
			bundles->of[f] = (uint32_t)bundles->count;
		bundles->count++;
	}
	free(columns.many);
	free(columns.begin);
}

void bundles_release(struct bundles *bundles)
{
	free(bundles->list);
	free(bundles->of);
	free(bundles->unset);
	free(bundles->set);
	*bundles = (struct bundles){ 0 };
}

uint32_t bundles_level(const struct bundles *bundles, const struct bundle *bundle,
		       const double *row)
{
	for (uint32_t i = 0; i < bundle->count; i++) {
		if (row[bundle->first + i] == bundles->set[bundle->first + i])
			return i + 1;
	}
	return 0;
}
