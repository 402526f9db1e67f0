/* SPDX-License-Identifier: BSD-3-Clause */
#include "plot/chunk_places.h"

#include <stdlib.h>

#include "base/integer.h"
#include "base/mem.h"

static void add_accesses(struct chunk_places *places, const struct raster *raster, size_t *cap)
{
	for (size_t i = 0; i < raster->point_count; i++) {
		const struct raster_point *p = &raster->points[i];

		if (p->bytes != places->bytes)
			continue;
		places->offsets =
			xgrow(places->offsets, cap, places->count + 1, sizeof(*places->offsets));
		places->offsets[places->count++] = p->offset;
	}
}

static int compare_offsets(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Keeps one of each; false if some overlap. */
static bool keep_distinct(struct chunk_places *places)
{
	size_t kept = 0;

	if (places->count)
		qsort(places->offsets, places->count, sizeof(*places->offsets), compare_offsets);
	for (size_t i = 0; i < places->count; i++) {
		int64_t offset = places->offsets[i];
		int64_t before = kept ? places->offsets[kept - 1] : 0;

		if (kept && offset == before)
			continue;
		if (kept && (uint64_t)offset - (uint64_t)before < places->bytes)
			return false;
		places->offsets[kept++] = offset;
	}
	places->count = kept;
	return true;
}

void chunk_places_init(struct chunk_places *places, const struct profile *profile, file_id file)
{
	const struct rasters *rasters = &profile->timeline.rasters;
	const struct file_facts *facts = facts_get(&profile->facts, file);
	size_t cap = 0;

	*places = (struct chunk_places){ .bytes = facts->chunk_bytes,
					 .has_compressed = facts->compressed };
	if (!places->bytes)
		return;
	for (size_t i = 0; i < rasters->count; i++)
		if (rasters->list[i]->file == file && rasters->list[i]->points)
			add_accesses(places, rasters->list[i], &cap);
	if (!keep_distinct(places))
		places->count = 0;
}

void chunk_places_release(struct chunk_places *places)
{
	free(places->offsets);
	*places = (struct chunk_places){ 0 };
}
