/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/collect/names.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/mem.h"

#define FIRST_SLOTS 256

void names_release(struct names *names)
{
	free(names->texts);
	free(names->offsets);
	free(names->slots);
	*names = (struct names){ 0 };
}

const char *names_text(const struct names *names, file_id id)
{
	return id ? names->texts + names->offsets[id - 1] : "";
}

/* The slot of the name, or the free slot where it would be inserted. */
static uint32_t *find_slot(const struct names *names, const char *text)
{
	/* The seed is an address, so that no program can choose names with the same hash. */
	uint64_t hash = XXH3_64bits_withSeed(text, strlen(text), (uintptr_t)names);
	size_t mask = names->slot_count - 1, i = (size_t)hash & mask;

	while (names->slots[i] && strcmp(names_text(names, names->slots[i]), text) != 0)
		i = (i + 1) & mask;
	return &names->slots[i];
}

static void grow_slots(struct names *names)
{
	free(names->slots);
	names->slot_count = names->slot_count ? 2 * names->slot_count : FIRST_SLOTS;
	names->slots = xcalloc(names->slot_count, sizeof(*names->slots));
	for (file_id id = 1; id <= names->count; id++)
		*find_slot(names, names_text(names, id)) = id;
}

static file_id add_name(struct names *names, const char *text)
{
	size_t bytes = strlen(text) + 1;

	if (2 * (names->count + 1) > names->slot_count)
		grow_slots(names);
	names->texts = xgrow(names->texts, &names->texts_cap, names->texts_bytes + bytes, 1);
	names->offsets = xgrow(names->offsets, &names->offsets_cap, names->count + 1,
			       sizeof(*names->offsets));
	memcpy(names->texts + names->texts_bytes, text, bytes);
	names->offsets[names->count++] = (uint32_t)names->texts_bytes;
	names->texts_bytes += bytes;
	*find_slot(names, text) = (file_id)names->count;
	return (file_id)names->count;
}

file_id names_id(struct names *names, const char *text, bool *is_new)
{
	file_id id = names->slot_count ? *find_slot(names, text) : 0;

	*is_new = false;
	if (id)
		return id;
	if (names->count >= NAMES_MAX || names->texts_bytes + strlen(text) >= NAMES_BYTES_MAX) {
		names->over++;
		text = NAMES_OTHER;
		id = *find_slot(names, text);
		if (id)
			return id;
	}
	*is_new = true;
	return add_name(names, text);
}
