/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/content/manifest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/mem.h"

void manifest_item_release(struct manifest_item *item)
{
	free(item->file);
	free(item->object);
	free(item->unread);
	free(item->blocks);
	*item = (struct manifest_item){ 0 };
}

void manifest_release(struct manifest *manifest)
{
	for (size_t i = 0; i < manifest->count; i++)
		manifest_item_release(&manifest->items[i]);
	for (size_t i = 0; i < manifest->gap_count; i++)
		free(manifest->gaps[i]);
	free(manifest->items);
	free(manifest->gaps);
	*manifest = (struct manifest){ 0 };
}

void manifest_add(struct manifest *m, const struct manifest_item *item)
{
	m->items = xgrow(m->items, &m->cap, m->count + 1, sizeof(*m->items));
	m->items[m->count++] = *item;
}

void manifest_add_gap(struct manifest *m, const char *reason)
{
	for (size_t i = 0; i < m->gap_count; i++)
		if (strcmp(m->gaps[i], reason) == 0)
			return;
	m->gaps = xgrow(m->gaps, &m->gap_cap, m->gap_count + 1, sizeof(*m->gaps));
	m->gaps[m->gap_count++] = xstrdup(reason);
}

int manifest_item_compare(const void *a, const void *b)
{
	const struct manifest_item *x = a, *y = b;
	int order = strcmp(x->file, y->file);

	return order ? order : strcmp(x->object, y->object);
}

void manifest_sort(struct manifest *m)
{
	if (m->count)
		qsort(m->items, m->count, sizeof(*m->items), manifest_item_compare);
}

/* The sum of the items' digests does not depend on their order. */
void manifest_digest(const struct manifest *m, char text[MANIFEST_DIGEST])
{
	uint64_t high = 0, low = 0;

	for (size_t i = 0; i < m->count; i++) {
		const struct manifest_item *item = &m->items[i];
		uint64_t parts[] = { item->high,
				     item->low,
				     item->shape,
				     item->bytes,
				     XXH3_64bits(item->file, strlen(item->file)),
				     XXH3_64bits(item->object, strlen(item->object)) };
		XXH128_hash_t hash = XXH3_128bits(parts, sizeof(parts));

		if (item->origin == MANIFEST_STDOUT)
			continue;
		high += hash.high64;
		low += hash.low64;
	}
	snprintf(text, MANIFEST_DIGEST, "%016llx%016llx", (unsigned long long)high,
		 (unsigned long long)low);
}
