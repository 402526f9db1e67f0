/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/export/texts.h"

#include <stdlib.h>
#include <uthash.h>

#include "base/buf.h"
#include "base/escape.h"
#include "base/mem.h"
#include "base/text.h"

struct texts_entry {
	uint32_t number;
	UT_hash_handle hh;
	char text[];
};

void texts_release(struct texts *texts)
{
	struct texts_entry *entry, *next;

	HASH_ITER(hh, texts->entries, entry, next)
	{
		HASH_DEL(texts->entries, entry);
		free(entry);
	}
	free(texts->list);
	*texts = (struct texts){ 0 };
}

uint32_t texts_add(struct texts *texts, const char *text)
{
	AUTO_BUF struct buf escaped = { 0 };
	struct texts_entry *entry;

	escape_text(&escaped, text_or_empty(text), "");
	HASH_FIND(hh, texts->entries, buf_text(&escaped), escaped.len, entry);
	if (entry)
		return entry->number;
	entry = xcalloc(1, sizeof(*entry) + escaped.len + 1);
	memcpy(entry->text, buf_text(&escaped), escaped.len);
	entry->number = (uint32_t)texts->count;
	HASH_ADD(hh, texts->entries, text, escaped.len, entry);
	texts->list = xgrow(texts->list, &texts->cap, texts->count + 1, sizeof(*texts->list));
	texts->list[texts->count++] = entry->text;
	return entry->number;
}
