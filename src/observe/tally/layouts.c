/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/tally/layouts.h"

#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/text.h"
#include "contract/hints.h"
#include "trace/format.h"

uint64_t layout_path_key(const char *path)
{
	uint64_t key = XXH64(path, strlen(path), 0);

	return key ? key : 1;
}

/* False: the note is not of a layout, or lacks the number of stripes. */
static bool row_read(struct layout_row *row, const struct note *note)
{
	const char *at = text_or_empty(note->value);
	char key[64], value[64];

	if (strcmp(text_or_empty(note->kind), NOTE_LAYOUT) != 0 || !note->name)
		return false;
	*row = (struct layout_row){ .file = note->name, .filesystem = text_or_empty(note->source) };
	while (hints_next(&at, key, sizeof(key), value, sizeof(value))) {
		uint64_t number = strtoull(value, NULL, 10);

		if (!strcmp(key, "striping_factor"))
			row->layout.stripes = number;
		else if (!strcmp(key, "striping_unit"))
			row->layout.unit = number;
		else if (!strcmp(key, "set_stripes"))
			row->layout.set_stripes = number;
		else if (!strcmp(key, "set_bytes"))
			row->layout.set_bytes = number;
	}
	return row->layout.stripes != 0;
}

uint64_t layout_stripe(const struct layout *layout, uint64_t offset)
{
	uint64_t first;

	if (!layout->set_bytes || !layout->set_stripes)
		return offset / layout->unit % layout->stripes;
	first = offset / layout->set_bytes * layout->set_stripes;
	return (first + offset % layout->set_bytes / layout->unit % layout->set_stripes) %
	       layout->stripes;
}

/* Several nodes may have noted the same file. */
struct layout_row *layout_rows(const struct trace_head *head, size_t *count)
{
	struct layout_row *rows = NULL, row;
	struct map seen = { 0 };
	size_t cap = 0;

	*count = 0;
	for (size_t i = 0; i < head->note_count; i++) {
		if (!row_read(&row, &head->notes[i]) || map_get(&seen, layout_path_key(row.file)))
			continue;
		rows = xgrow(rows, &cap, *count + 1, sizeof(*rows));
		rows[(*count)++] = row;
		map_put(&seen, layout_path_key(row.file), (void *)row.file);
	}
	map_release(&seen);
	return rows;
}
