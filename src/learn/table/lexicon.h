/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Distinct texts, numbered as they come. Zero-initialised is empty.
 */
#ifndef SLUICE_LEARN_TABLE_LEXICON_H
#define SLUICE_LEARN_TABLE_LEXICON_H

#include <stddef.h>

struct lexicon {
	char **texts;
	size_t count, cap;
	size_t *slots, slot_count; /* number of the text plus 1; slot_count is a power of two */
};

void lexicon_release(struct lexicon *lexicon);

/* The number of a text of n bytes, ended by a zero byte; a new one if it was not there. */
size_t lexicon_number(struct lexicon *lexicon, const char *text, size_t n);

/*
 * The texts in sorted order, and per old number the new one. Both are the caller's; the lexicon is
 * empty afterwards.
 */
char **lexicon_take(struct lexicon *lexicon, size_t **settled);

#endif
