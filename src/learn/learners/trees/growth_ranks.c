/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sorts or ranks the columns that all trees share.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "learn/learner.h"
#include "learn/learners/trees/growth.h"
#include "learn/learners/trees/ranks.h"

/* Like ranks_sort(), for a bundle: the rank of a cell is its level. */
static const uint64_t *sort_levels(const struct growth_ranks *ranks, const struct bundle *bundle,
				   uint64_t *scratch, size_t *levels)
{
	const struct samples *samples = ranks->samples;
	size_t count = ranks->cells.count;

	for (size_t i = 0; i < count; i++) {
		size_t row = cells_row(&ranks->cells, i);
		const double *x = samples->x + row * samples->width;

		scratch[i] = (uint64_t)bundles_level(&ranks->bundles, bundle, x) << 32 | i;
	}
	*levels = bundle->count + 1;
	return ranks_order_wide(scratch, scratch + count, count, *levels);
}

/* Stores the sorted cells of a column in the form of the strategy. */
static void store_column(struct growth_ranks *ranks, size_t column, const uint64_t *keys)
{
	size_t rows = ranks->cells.count;

	for (size_t i = 0; ranks->lists && i < rows; i++)
		ranks->lists[column * rows + i] = (uint32_t)(keys[i] >> 16 | (keys[i] & 0xffff));
	for (size_t i = 0; ranks->ranks && i < rows; i++)
		ranks->ranks[column * rows + (uint32_t)keys[i]] = (uint16_t)(keys[i] >> 32);
}

void growth_ranks_init(struct growth_ranks *ranks, const struct samples *samples, bool in_order,
		       bool merge)
{
	size_t rows, columns, levels;
	AUTO_FREE uint64_t *scratch = NULL;

	*ranks = (struct growth_ranks){ .samples = samples, .cells.count = samples->rows };
	if (merge)
		cells_init(&ranks->cells, samples);
	bundles_init(&ranks->bundles, samples, RANKS_MOST - 1);
	rows = ranks->cells.count;
	columns = ranks->bundles.count;
	scratch = xmalloc(2 * rows * sizeof(*scratch));
	if (in_order && rows <= RANKS_MOST)
		ranks->lists = xmalloc(rows * columns * sizeof(*ranks->lists));
	else
		ranks->ranks = xmalloc(rows * columns * sizeof(*ranks->ranks));
	ranks->levels = xmalloc(columns * sizeof(*ranks->levels));
	for (size_t f = 0; f < columns; f++) {
		const struct bundle *bundle = &ranks->bundles.list[f];
		const uint64_t *keys = bundle->count == 1
					       ? ranks_sort(samples, &ranks->cells, bundle->first,
							    scratch, &levels)
					       : sort_levels(ranks, bundle, scratch, &levels);

		ranks->levels[f] = (uint32_t)levels;
		store_column(ranks, f, keys);
	}
}

void growth_ranks_release(struct growth_ranks *ranks)
{
	free(ranks->lists);
	free(ranks->ranks);
	free(ranks->levels);
	cells_release(&ranks->cells);
	bundles_release(&ranks->bundles);
	*ranks = (struct growth_ranks){ 0 };
}
