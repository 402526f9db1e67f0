/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A hash table of texts with open addressing.
 */
#include "learn/table/lexicon.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/mem.h"

void lexicon_release(struct lexicon *lexicon)
{
	for (size_t i = 0; i < lexicon->count; i++)
		free(lexicon->texts[i]);
	free(lexicon->texts);
	free(lexicon->slots);
	*lexicon = (struct lexicon){ 0 };
}

static size_t *find_slot(const struct lexicon *lexicon, const char *text, size_t n)
{
	size_t slot = XXH3_64bits(text, n) & (lexicon->slot_count - 1);

	while (lexicon->slots[slot] && strcmp(lexicon->texts[lexicon->slots[slot] - 1], text) != 0)
		slot = (slot + 1) & (lexicon->slot_count - 1);
	return &lexicon->slots[slot];
}

static void grow_slots(struct lexicon *lexicon)
{
	lexicon->slot_count = lexicon->slot_count ? lexicon->slot_count * 2 : 16;
	free(lexicon->slots);
	lexicon->slots = xcalloc(lexicon->slot_count, sizeof(*lexicon->slots));
	for (size_t i = 0; i < lexicon->count; i++)
		*find_slot(lexicon, lexicon->texts[i], strlen(lexicon->texts[i])) = i + 1;
}

size_t lexicon_number(struct lexicon *lexicon, const char *text, size_t n)
{
	size_t *slot;

	if (lexicon->count * 2 >= lexicon->slot_count)
		grow_slots(lexicon);
	slot = find_slot(lexicon, text, n);
	if (!*slot) {
		lexicon->texts = xgrow(lexicon->texts, &lexicon->cap, lexicon->count + 1,
				       sizeof(*lexicon->texts));
		lexicon->texts[lexicon->count++] = xstrdup(text);
		*slot = lexicon->count;
	}
	return *slot - 1;
}

struct entry {
	char *text;
	size_t number;
};

static int compare_entries(const void *a, const void *b)
{
	return strcmp(((const struct entry *)a)->text, ((const struct entry *)b)->text);
}

char **lexicon_take(struct lexicon *lexicon, size_t **renumbered)
{
	AUTO_FREE struct entry *entries = xcalloc(lexicon->count, sizeof(*entries));
	char **texts = xcalloc(lexicon->count, sizeof(*texts));

	*renumbered = xcalloc(lexicon->count, sizeof(**renumbered));
	for (size_t i = 0; i < lexicon->count; i++)
		entries[i] = (struct entry){ lexicon->texts[i], i };
	qsort(entries, lexicon->count, sizeof(*entries), compare_entries);
	for (size_t i = 0; i < lexicon->count; i++) {
		texts[i] = entries[i].text;
		(*renumbered)[entries[i].number] = i;
	}
	lexicon->count = 0;
	lexicon_release(lexicon);
	return texts;
}
