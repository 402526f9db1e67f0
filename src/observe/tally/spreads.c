/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/tally/spreads.h"

#include <stdlib.h>

#include "base/mem.h"

static void free_table(struct map *table)
{
	for (size_t i = 0; i < table->cap; i++)
		free(table->entries[i].value);
	map_release(table);
}

void spreads_release(struct spreads *spreads)
{
	free_table(&spreads->functions);
	free_table(&spreads->files);
	*spreads = (struct spreads){ 0 };
}

struct row_spreads *spreads_row(struct map *table, uint64_t key)
{
	struct row_spreads *row = map_get(table, key);

	if (!row) {
		row = xcalloc(1, sizeof(*row));
		map_put(table, key, row);
	}
	return row;
}

static void add_tally(struct row_spreads *row, int32_t rank, const struct tally *tally)
{
	if (!tally->calls)
		return;
	for (int i = 0; i < TALLY_MEASURES; i++)
		spread_add(&row->of[i], rank, tally_measures[i].get(tally));
}

static void add_table(struct map *table, int32_t rank, const struct map *tallies)
{
	for (size_t i = 0; i < tallies->cap; i++) {
		if (tallies->entries[i].key)
			add_tally(spreads_row(table, tallies->entries[i].key), rank,
				  tallies->entries[i].value);
	}
}

void spreads_add_rank(struct spreads *spreads, int32_t rank, const struct sums *sums,
		      const uint8_t *classes)
{
	struct tally by_class[FILE_CLASSES] = { 0 };

	for (int i = 0; i < SUMS_MEASURES; i++)
		spread_add(&spreads->ranks[i], rank, sums_measures[i].get(sums));
	for (int i = 0; i < LAYER_COUNT; i++)
		add_tally(&spreads->layers[i], rank, &sums->layers[i]);
	add_table(&spreads->functions, rank, &sums->functions);
	add_table(&spreads->files, rank, &sums->files);
	for (size_t i = 0; i < sums->files.cap; i++) {
		const struct map_entry *entry = &sums->files.entries[i];

		if (entry->key)
			tally_merge(&by_class[classes[entry->key - 1]], entry->value);
	}
	for (int i = 0; i < FILE_CLASSES; i++)
		add_tally(&spreads->classes[i], rank, &by_class[i]);
}

static void merge_row(struct row_spreads *row, const struct row_spreads *other)
{
	for (int i = 0; i < TALLY_MEASURES; i++)
		spread_merge(&row->of[i], &other->of[i]);
}

void spreads_merge(struct spreads *spreads, const struct spreads *other,
		   const struct renumbering *to)
{
	for (int i = 0; i < SUMS_MEASURES; i++)
		spread_merge(&spreads->ranks[i], &other->ranks[i]);
	for (int i = 0; i < LAYER_COUNT; i++)
		merge_row(&spreads->layers[i], &other->layers[i]);
	for (int i = 0; i < FILE_CLASSES; i++)
		merge_row(&spreads->classes[i], &other->classes[i]);
	for (size_t i = 0; i < other->functions.cap; i++) {
		const struct map_entry *entry = &other->functions.entries[i];

		if (entry->key)
			merge_row(spreads_row(&spreads->functions,
					      sums_renumber_function(entry->key, to)),
				  entry->value);
	}
	for (size_t i = 0; i < other->files.cap; i++) {
		const struct map_entry *entry = &other->files.entries[i];

		if (entry->key)
			merge_row(spreads_row(&spreads->files, sums_renumber_file(entry->key, to)),
				  entry->value);
	}
}
