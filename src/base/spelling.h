/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finds the word that a user probably meant: the candidate with the smallest edit distance, and among
 * equally close ones the first that begins with the same letter.
 */
#ifndef SLUICE_BASE_SPELLING_H
#define SLUICE_BASE_SPELLING_H

#include <stddef.h>

struct spelling {
	const char *word;
	const char *best; /* the closest candidate so far; NULL: none is close enough */
	size_t cost;	  /* of `best`: twice the edits, less one if the first letters agree */
};

/* `word` and the candidates must outlive the struct. */
void spelling_start(struct spelling *spelling, const char *word);
void spelling_offer(struct spelling *spelling, const char *candidate);

#endif
