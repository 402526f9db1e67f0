/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Numbers distinct texts in order of appearance. A zero-initialized lexicon is empty.
 */
#ifndef SLUICE_LEARN_TABLE_LEXICON_H
#define SLUICE_LEARN_TABLE_LEXICON_H

#include <stddef.h>

struct lexicon {
	char **texts;
	size_t count, cap;
	/* Hash table of text numbers plus 1; slot_count is a power of two. */
	size_t *slots, slot_count;
};

void lexicon_release(struct lexicon *lexicon);

/* Returns the number of a text of n bytes that ends with a zero byte; adds it if it is new. */
size_t lexicon_number(struct lexicon *lexicon, const char *text, size_t n);

/*
 * Returns the sorted texts and sets *renumbered to the new number of each old number. The caller
 * frees both; the lexicon is empty afterwards.
 */
char **lexicon_take(struct lexicon *lexicon, size_t **renumbered);

#endif
