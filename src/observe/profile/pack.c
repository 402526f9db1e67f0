/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/profile/pack.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"

void pack_text(struct pack *pack, char **text)
{
	uint64_t n = !pack_is_reading(pack) && *text ? strlen(*text) + 1 : 0;
	const uint8_t *bytes;

	pack_count(pack, &n);
	if (!pack_is_reading(pack)) {
		buf_add(pack->out, n ? *text : "", n ? n - 1 : 0);
		return;
	}
	bytes = n ? wire_bytes(&pack->in, n - 1) : NULL;
	*text = bytes ? xstrndup((const char *)bytes, n - 1) : NULL;
}

static int compare_keys(const void *a, const void *b)
{
	const struct map_entry *x = a, *y = b;

	return x->key < y->key ? -1 : x->key > y->key;
}

struct map_entry *pack_entries(struct pack *pack, const struct map *map, uint64_t *count)
{
	struct map_entry *list = NULL;
	size_t n = 0;

	*count = map->count;
	pack_count(pack, count);
	if (pack_is_reading(pack))
		return NULL;
	list = xcalloc(map->count + 1, sizeof(*list));
	for (size_t i = 0; i < map->cap; i++) {
		if (map->entries[i].key)
			list[n++] = map->entries[i];
	}
	qsort(list, n, sizeof(*list), compare_keys);
	return list;
}
