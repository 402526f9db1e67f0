/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/spelling.h"

#include <string.h>

#define WORD_MAX 40

static size_t smallest(size_t a, size_t b, size_t c)
{
	size_t ab = a < b ? a : b;

	return ab < c ? ab : c;
}

/*
 * Insertions, deletions, substitutions and swaps of neighboring characters that turn a into b
 * (optimal string alignment). Both are at most WORD_MAX characters long.
 */
static size_t edit_distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
	size_t rows[3][WORD_MAX + 1];
	size_t *before = rows[0], *last = rows[1], *row = rows[2];

	for (size_t j = 0; j <= b_length; j++)
		last[j] = j;
	for (size_t i = 1; i <= a_length; i++) {
		size_t *oldest = before;

		row[0] = i;
		for (size_t j = 1; j <= b_length; j++) {
			size_t changed = last[j - 1] + (a[i - 1] != b[j - 1]);

			row[j] = smallest(changed, last[j] + 1, row[j - 1] + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = smallest(row[j], before[j - 2] + 1, row[j]);
		}
		before = last;
		last = row;
		row = oldest;
	}
	return last[b_length];
}

void spelling_start(struct spelling *spelling, const char *word)
{
	size_t length = strlen(word);

	/* A third of the word may be wrong: one edit in "run", three in "recommend". */
	*spelling = (struct spelling){ .word = word, .cost = 2 * ((length + 2) / 3) + 1 };
}

void spelling_offer(struct spelling *spelling, const char *candidate)
{
	size_t a = strlen(spelling->word), b = strlen(candidate), cost;

	if (a > WORD_MAX || b > WORD_MAX)
		return;
	cost = 2 * edit_distance(spelling->word, a, candidate, b);
	if (cost && spelling->word[0] == candidate[0])
		cost--;
	if (cost < spelling->cost) {
		spelling->cost = cost;
		spelling->best = candidate;
	}
}
