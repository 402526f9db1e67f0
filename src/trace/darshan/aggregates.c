/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/darshan/aggregates.h"

#include <stdlib.h>

#include "base/mem.h"

/* Bits of a set of levels: 1 << level, for calls that are counted and for activities. */
enum { LEVEL_STORAGE, LEVEL_MPI, LEVEL_LIBRARY, LEVEL_ACTIVITIES };

static unsigned level_of(unsigned layer)
{
	if (layer == LAYER_MPI)
		return LEVEL_MPI;
	return layer == LAYER_POSIX || layer == LAYER_STDIO ? LEVEL_STORAGE : LEVEL_LIBRARY;
}

/*
 * Darshan adds the time of seeks to that of metadata, and the time of syncs to that of writes, so
 * these groups have no time of their own, unless all writes are activities.
 */
static void split_usage(struct aggregate rows[GROUP_COUNT], const struct usage *u, unsigned layer)
{
	const int64_t *v = u->value;
	bool only_syncs = !v[USAGE_WRITES] && v[USAGE_SYNCS];

	for (unsigned group = 0; group < GROUP_COUNT; group++)
		rows[group] = (struct aggregate){ .process = u->process,
						  .file = u->file,
						  .group = (uint8_t)group,
						  .layer = (uint8_t)layer };
	rows[GROUP_READ].calls = (uint64_t)v[USAGE_READS];
	rows[GROUP_READ].bytes = v[USAGE_BYTES_READ];
	rows[GROUP_READ].duration_ns = v[USAGE_READ_NS];
	rows[GROUP_WRITE].calls = (uint64_t)v[USAGE_WRITES];
	rows[GROUP_WRITE].bytes = v[USAGE_BYTES_WRITTEN];
	rows[GROUP_WRITE].duration_ns = only_syncs ? 0 : v[USAGE_WRITE_NS];
	rows[GROUP_SEEK].calls = (uint64_t)v[USAGE_SEEKS];
	rows[GROUP_SYNC].calls = (uint64_t)v[USAGE_SYNCS];
	rows[GROUP_SYNC].duration_ns = only_syncs ? v[USAGE_WRITE_NS] : 0;
	rows[GROUP_META].calls = (uint64_t)(v[USAGE_OPENS] + v[USAGE_STATS] + v[USAGE_OTHERS]);
	rows[GROUP_META].duration_ns = v[USAGE_METADATA_NS];
	rows[GROUP_OTHER].calls = (uint64_t)v[USAGE_MAPS];
}

/* The levels of each file that spent time, by group: levels[file * GROUP_COUNT + group]. */
static uint8_t *find_levels(const struct import *import)
{
	const struct trace_head *head = import->builder.head;
	uint8_t *levels = xcalloc(head->file_count, GROUP_COUNT);

	for (size_t i = 0; i < head->usage_count; i++) {
		const struct usage *u = &head->usages[i];
		unsigned layer = (unsigned)layer_by_name(u->layer);
		struct aggregate rows[GROUP_COUNT];

		split_usage(rows, u, layer);
		for (unsigned group = 0; group < GROUP_COUNT; group++)
			if (rows[group].duration_ns > 0)
				levels[u->file * GROUP_COUNT + group] |=
					(uint8_t)(1u << level_of(layer));
	}
	return levels;
}

/* Adds the levels of activities. */
static void mark_activities(struct import *import, uint8_t *levels)
{
	for (unsigned layer = 0; layer < 2; layer++)
		for (size_t i = 0; i < import->coverage[layer].cap; i++) {
			const struct map_entry *entry = &import->coverage[layer].entries[i];
			file_id file = entry->key ? import_file(import, entry->key) : 0;
			uint8_t bits = (uint8_t)(1u << (LEVEL_ACTIVITIES + layer));
			const struct coverage *covered = entry->value;

			if (!file)
				continue;
			if (covered->traced[0])
				levels[file * GROUP_COUNT + GROUP_READ] |= bits;
			if (covered->traced[1])
				levels[file * GROUP_COUNT + GROUP_WRITE] |= bits;
		}
}

/*
 * `levels` are those of the file. Libraries read in order to write (data sieving), so reads and
 * writes of a higher level enclose both reads and writes of a lower one.
 */
static enum aggregate_place find_place(const struct aggregate *row, const uint8_t *levels)
{
	unsigned level = level_of(row->layer), above = levels[row->group];
	unsigned traced = levels[row->group] >> LEVEL_ACTIVITIES;

	if (row->group != GROUP_META)
		above |= levels[GROUP_READ] | levels[GROUP_WRITE];
	if (!row->file)
		return AGGREGATE_UNKNOWN; /* several files */
	if ((above & ((1u << LEVEL_ACTIVITIES) - 1)) >> (level + 1) ||
	    above >> (LEVEL_ACTIVITIES + level + 1) || traced & ((1u << level) - 1))
		return AGGREGATE_ENCLOSED;
	return AGGREGATE_OUTERMOST;
}

static void push_aggregate(struct import *import, const struct aggregate *row)
{
	struct head_builder *b = &import->builder;

	if (!row->calls && !row->bytes && !row->duration_ns)
		return;
	b->head->aggregates = xgrow(b->head->aggregates, &b->aggregate_cap,
				    b->head->aggregate_count + 1, sizeof(*row));
	b->head->aggregates[b->head->aggregate_count++] = *row;
}

void aggregates_make(struct import *import)
{
	const struct trace_head *head = import->builder.head;
	AUTO_FREE uint8_t *levels = find_levels(import);

	mark_activities(import, levels);
	for (size_t i = 0; i < head->usage_count; i++) {
		const struct usage *u = &head->usages[i];
		struct aggregate rows[GROUP_COUNT];

		split_usage(rows, u, (unsigned)layer_by_name(u->layer));
		for (unsigned group = 0; group < GROUP_COUNT; group++) {
			rows[group].place =
				find_place(&rows[group], levels + u->file * GROUP_COUNT);
			push_aggregate(import, &rows[group]);
		}
	}
}
