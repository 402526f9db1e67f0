/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A hash map from 64-bit keys to pointers with open addressing, for the collector's inner loop. Key
 * 0 is reserved. A zero-initialized map is empty.
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

void map_release(struct map *map);			  /* does not free the values */
void *map_get(const struct map *map, uint64_t key);	  /* NULL if absent */
void map_put(struct map *map, uint64_t key, void *value); /* replaces an old value */
void *map_remove(struct map *map, uint64_t key);	  /* returns the value, or NULL */

#endif
