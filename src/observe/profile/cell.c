/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/profile/cell.h"

#include <stdlib.h>

#include "base/mem.h"
#include "observe/tally/traffic.h"

uint64_t cell_bin_bytes(unsigned bin)
{
	return bin ? UINT64_C(1) << (bin - 1) : 0;
}

unsigned cell_bin(uint64_t bytes)
{
	unsigned bin = bytes ? 64 - (unsigned)__builtin_clzll(bytes) : 0;

	return bin < CELL_SIZE_BINS ? bin : CELL_SIZE_BINS - 1;
}

/*
 * Counts a size with the algorithm of Misra and Gries: if all places are taken, every count loses
 * what the new size has, and the new size only gets what remains. Counts are therefore lower bounds
 * that are too low by at most 1 / (CELL_SIZES + 1) of all transfers.
 */
static void count_size(struct cell_size *sizes, uint64_t bytes, uint64_t count)
{
	struct cell_size *least = &sizes[CELL_SIZES - 1];
	int i = 0;

	while (i < CELL_SIZES && sizes[i].count && sizes[i].bytes != bytes)
		i++;
	if (i == CELL_SIZES) {
		uint64_t loss = least->count < count ? least->count : count;

		for (int k = 0; k < CELL_SIZES; k++)
			sizes[k].count -= loss;
		count -= loss;
		i = CELL_SIZES - 1;
		if (!count)
			return;
		sizes[i].count = 0;
	}
	sizes[i].bytes = bytes;
	sizes[i].count += count;
	for (; i && sizes[i].count > sizes[i - 1].count; i--) {
		struct cell_size moved = sizes[i];

		sizes[i] = sizes[i - 1];
		sizes[i - 1] = moved;
	}
}

static void keep_sample(struct cell_sample *samples, const struct cell_sample *sample)
{
	int i = CELL_SAMPLES;

	if (samples[CELL_SAMPLES - 1].call.id &&
	    sample->duration_ns <= samples[CELL_SAMPLES - 1].duration_ns)
		return;
	while (i && (!samples[i - 1].call.id || sample->duration_ns > samples[i - 1].duration_ns)) {
		if (i < CELL_SAMPLES)
			samples[i] = samples[i - 1];
		i--;
	}
	samples[i] = *sample;
}

void cell_add_transfer(struct cell *cell, const struct activity *activity, int way, uint64_t bytes)
{
	const struct cell_sample sample = {
		.duration_ns = activity->duration_ns,
		.start_ns = activity->start_ns,
		.bytes = bytes,
		.call = { activity->process, activity->id },
	};
	unsigned bin = cell_bin(bytes);

	cell->sizes[way][bin]++;
	cell->size_ns[way][bin] += activity->duration_ns;
	cell->collective[way] += activity->collective != 0;
	if (cell->common[way][0].bytes == bytes && cell->common[way][0].count)
		cell->common[way][0].count++;
	else
		count_size(cell->common[way], bytes, 1);
	keep_sample(cell->samples[way], &sample);
}

static void merge_way(struct cell *cell, const struct cell *other, int way)
{
	cell->collective[way] += other->collective[way];
	for (int i = 0; i < CELL_SIZE_BINS; i++) {
		cell->sizes[way][i] += other->sizes[way][i];
		cell->size_ns[way][i] += other->size_ns[way][i];
	}
	for (int i = 0; i < CELL_SIZES; i++) {
		const struct cell_size *size = &other->common[way][i];

		if (size->count)
			count_size(cell->common[way], size->bytes, size->count);
	}
	for (int i = 0; i < CELL_SAMPLES; i++) {
		if (other->samples[way][i].call.id)
			keep_sample(cell->samples[way], &other->samples[way][i]);
	}
}

void cell_merge(struct cell *cell, const struct cell *other)
{
	survey_merge(&cell->survey, &other->survey);
	for (int i = 0; i < CLASS_COUNT; i++) {
		cell->calls[i] += other->calls[i];
		cell->time_ns[i] += other->time_ns[i];
	}
	cell->errors += other->errors;
	cell->creates += other->creates;
	if (other->group > cell->group)
		cell->group = other->group;
	merge_way(cell, other, READING);
	merge_way(cell, other, WRITING);
}

/* Cells are allocated together, because a job has very many. */
struct cell_slab {
	struct cell_slab *next;
	size_t used;
	struct cell cells[32];
};

static struct cell *cell_new(struct cell_table *cells)
{
	struct cell_slab *slab = cells->slabs;

	if (!slab || slab->used == sizeof(slab->cells) / sizeof(*slab->cells)) {
		slab = xcalloc(1, sizeof(*slab));
		slab->next = cells->slabs;
		cells->slabs = slab;
	}
	return &slab->cells[slab->used++];
}

void cell_table_release(struct cell_table *cells)
{
	for (struct cell_slab *slab = cells->slabs, *next; slab; slab = next) {
		next = slab->next;
		for (size_t i = 0; i < slab->used; i++)
			survey_release(&slab->cells[i].survey);
		free(slab);
	}
	map_release(&cells->map);
	*cells = (struct cell_table){ 0 };
}

/* 4 bits for the layer + 1, 32 for the file, 28 for the member + 1. */
#define MEMBER_BITS 28
#define MEMBER_MAX ((INT32_C(1) << MEMBER_BITS) - 2)
_Static_assert(LAYER_COUNT < 16, "a layer has four bits in the key");

static uint64_t key_make(unsigned layer, file_id file, int32_t member)
{
	return ((uint64_t)(layer + 1) << 32 | file) << MEMBER_BITS | (uint64_t)(member + 1);
}

static struct cell *cell_put(struct cell_table *cells, unsigned layer, file_id file, int32_t member)
{
	struct cell *cell = cell_new(cells);

	cell->layer = (uint8_t)layer;
	cell->file = file;
	cell->member = member;
	map_put(&cells->map, key_make(layer, file, member), cell);
	return cell;
}

/* Beyond the limit, as many cells again are for members that are folded. */
static struct cell *get_folded(struct cell_table *cells, unsigned layer, file_id file)
{
	struct cell *cell = map_get(&cells->map, key_make(layer, file, CELL_OTHERS));

	cells->folded_members++;
	if (cell)
		return cell;
	if (cells->map.count < 2 * cells->limit)
		return cell_put(cells, layer, file, CELL_OTHERS);
	cells->folded_files++;
	cell = map_get(&cells->map, key_make(layer, 0, CELL_OTHERS));
	return cell ? cell : cell_put(cells, layer, 0, CELL_OTHERS);
}

struct cell *cell_table_get(struct cell_table *cells, unsigned layer, file_id file, int32_t member)
{
	struct cell **latest = &cells->latest[(file + 11 * layer) % CELL_LATEST], *cell = *latest;

	if (cell && cell->file == file && cell->member == member && cell->layer == layer)
		return cell;
	if (member < CELL_OTHERS || member > MEMBER_MAX)
		return get_folded(cells, layer, file);
	cell = map_get(&cells->map, key_make(layer, file, member));
	if (!cell && cells->map.count >= cells->limit)
		return get_folded(cells, layer, file);
	if (!cell)
		cell = cell_put(cells, layer, file, member);
	return *latest = cell;
}

static int compare_cells(const void *a, const void *b)
{
	const struct cell *x = *(const struct cell *const *)a;
	const struct cell *y = *(const struct cell *const *)b;
	uint64_t left = key_make(x->layer, x->file, x->member);
	uint64_t right = key_make(y->layer, y->file, y->member);

	return left < right ? -1 : left > right;
}

const struct cell **cell_table_list(const struct cell_table *cells, size_t *count)
{
	const struct cell **list = xcalloc(cells->map.count + 1, sizeof(*list));
	size_t n = 0;

	for (size_t i = 0; i < cells->map.cap; i++) {
		if (cells->map.entries[i].key)
			list[n++] = cells->map.entries[i].value;
	}
	qsort(list, n, sizeof(*list), compare_cells);
	*count = n;
	return list;
}
