/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A map from 64-bit keys to pointers: open addressing, for the collector's inner loop. Key 0 is
 * reserved. Zero-initialised is empty.
 */
#ifndef SLUICE_BASE_MAP_H
#define SLUICE_BASE_MAP_H

#include <stddef.h>
#include <stdint.h>

struct map_entry {
	uint64_t key; /* 0: free */
	void *value;
};

struct map {
	struct map_entry *entries;
	size_t count, cap; /* cap is 0 or a power of two */
};

void map_release(struct map *map);			  /* the values are the caller's */
void *map_get(const struct map *map, uint64_t key);	  /* NULL if absent */
void map_put(struct map *map, uint64_t key, void *value); /* replaces */
void *map_remove(struct map *map, uint64_t key);	  /* the value it had, or NULL */

#endif
