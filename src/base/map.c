/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/map.h"

#include <stdlib.h>

#include "base/mem.h"

#define FIRST_CAP 16
#define HASH_FACTOR UINT64_C(0x9e3779b97f4a7c15) /* 2^64 / golden ratio */

static size_t slot_of(const struct map *map, uint64_t key)
{
	return (key * HASH_FACTOR >> 32) & (map->cap - 1);
}

/* The entry of the key, or the free entry where it would be inserted. */
static struct map_entry *find_entry(const struct map *map, uint64_t key)
{
	size_t i = slot_of(map, key);

	while (map->entries[i].key && map->entries[i].key != key)
		i = (i + 1) & (map->cap - 1);
	return &map->entries[i];
}

static void grow_map(struct map *map)
{
	struct map old = *map;

	map->cap = old.cap ? 2 * old.cap : FIRST_CAP;
	map->entries = xcalloc(map->cap, sizeof(*map->entries));
	for (size_t i = 0; i < old.cap; i++)
		if (old.entries[i].key)
			*find_entry(map, old.entries[i].key) = old.entries[i];
	free(old.entries);
}

void map_release(struct map *map)
{
	free(map->entries);
	*map = (struct map){ 0 };
}

void *map_get(const struct map *map, uint64_t key)
{
	return map->cap ? find_entry(map, key)->value : NULL;
}

void map_put(struct map *map, uint64_t key, void *value)
{
	struct map_entry *e;

	if (4 * (map->count + 1) > 3 * map->cap)
		grow_map(map);
	e = find_entry(map, key);
	map->count += !e->key;
	*e = (struct map_entry){ key, value };
}

/* Moves back the entries that probed past the gap, so that no tombstones are needed. */
void *map_remove(struct map *map, uint64_t key)
{
	struct map_entry *gap;
	void *value;

	if (!map->cap)
		return NULL;
	gap = find_entry(map, key);
	value = gap->value;
	if (!gap->key)
		return NULL;
	map->count--;
	for (size_t i = (size_t)(gap - map->entries);;) {
		size_t home;

		*gap = (struct map_entry){ 0 };
		do {
			i = (i + 1) & (map->cap - 1);
			if (!map->entries[i].key)
				return value;
			home = slot_of(map, map->entries[i].key);
		} while (((i - home) & (map->cap - 1)) <
			 ((i - (size_t)(gap - map->entries)) & (map->cap - 1)));
		*gap = map->entries[i];
		gap = &map->entries[i];
	}
}
