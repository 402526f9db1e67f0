/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sorting by digits: columns are numbers of 32 bits or ranks of 16, and nodes are small.
 */
#include "learn/learners/ranks.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "learn/learner.h"

enum { DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS };

/* Below that many, moving neighbours is quicker than counting digits. */
enum { INSERTION_MOST = 40 };

float ranks_value(double x)
{
	if (x > FLT_MAX)
		return FLT_MAX;
	if (x < -FLT_MAX)
		return -FLT_MAX;
	return (float)x + 0.0f;
}

/* Bits of a float that compare as the float does. */
static inline uint32_t value_bits(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits ^ (-(bits >> 31) | 0x80000000u);
}

/* One pass over a digit of 64-bit keys. False, and nothing moved, where all have the same. */
static bool digit_pass(const uint64_t *from, uint64_t *to, size_t count, unsigned shift,
		       uint32_t *starts)
{
	uint32_t at = 0;

	if (starts[from[0] >> shift & (DIGITS - 1)] == count)
		return false;
	for (size_t i = 0; i < DIGITS; i++) {
		uint32_t here = starts[i];

		starts[i] = at;
		at += here;
	}
	for (size_t i = 0; i < count; i++)
		to[starts[from[i] >> shift & (DIGITS - 1)]++] = from[i];
	return true;
}

static void digits_count(uint32_t counts[4][DIGITS], const uint64_t *keys, size_t count)
{
	memset(counts, 0, 4 * sizeof(counts[0]));
	for (size_t i = 0; i < count; i++) {
		uint32_t bits = (uint32_t)(keys[i] >> 32);

		counts[0][bits & 255]++;
		counts[1][bits >> 8 & 255]++;
		counts[2][bits >> 16 & 255]++;
		counts[3][bits >> 24]++;
	}
}

/* Bits of values become ranks, in place. */
static size_t keys_rank(uint64_t *keys, size_t count)
{
	size_t levels = 0, step = 0;
	uint32_t last = (uint32_t)(keys[0] >> 32);

	for (size_t i = 0; i < count; i++) {
		uint32_t bits = (uint32_t)(keys[i] >> 32);

		step += bits != last;
		last = bits;
		keys[i] = (uint64_t)step << 32 | (uint32_t)keys[i];
	}
	levels = step + 1;
	if (levels <= RANKS_MOST)
		return levels;
	for (size_t i = 0; i < count; i++) {
		uint64_t rank = (keys[i] >> 32) * RANKS_MOST / levels;

		keys[i] = rank << 32 | (uint32_t)keys[i];
	}
	return RANKS_MOST;
}

static bool rows_same(const struct samples *samples, size_t a, size_t b)
{
	const double *x = samples->x + a * samples->width, *z = samples->x + b * samples->width;

	for (size_t f = 0; f < samples->width; f++) {
		if (ranks_value(x[f]) != ranks_value(z[f]))
			return false;
	}
	return true;
}

static uint64_t row_hash(const struct samples *samples, size_t row)
{
	uint64_t hash = 0;

	for (size_t f = 0; f < samples->width; f++) {
		hash ^= value_bits(ranks_value(samples->x[row * samples->width + f]));
		hash *= 0x9e3779b97f4a7c15u;
		hash ^= hash >> 29;
	}
	return hash;
}

/* The cell of each row, by a table of their first rows. Yields how many; 0 where they are many. */
static size_t cells_find(const struct samples *samples, uint32_t *cell_of, uint32_t *firsts)
{
	size_t slots = 16, count = 0;

	while (slots < samples->rows)
		slots *= 2;
	/* A slot holds a cell; half of them stay empty at least. */
	AUTO_FREE uint32_t *table = xmalloc(slots * sizeof(*table));

	memset(table, 0xff, slots * sizeof(*table));
	for (size_t row = 0; row < samples->rows; row++) {
		size_t at = row_hash(samples, row) & (slots - 1);

		while (table[at] != UINT32_MAX && !rows_same(samples, firsts[table[at]], row))
			at = (at + 1) & (slots - 1);
		if (table[at] == UINT32_MAX) {
			if (count == samples->rows / 2)
				return 0;
			firsts[count] = (uint32_t)row;
			table[at] = (uint32_t)count++;
		}
		cell_of[row] = table[at];
	}
	return count;
}

bool ranks_cells_init(struct ranks_cells *cells, const struct samples *samples)
{
	size_t rows = samples->rows, at = 0;
	AUTO_FREE uint32_t *cell_of = xmalloc(rows * sizeof(*cell_of));
	AUTO_FREE uint32_t *starts = xmalloc((rows / 2 + 1) * sizeof(*starts));
	size_t count = cells_find(samples, cell_of, starts);

	*cells = (struct ranks_cells){ .count = rows };
	if (!count)
		return false;
	*cells = (struct ranks_cells){ .count = count,
				       .rows = xmalloc(rows * sizeof(uint32_t)),
				       .starts = xcalloc(count + 1, sizeof(uint32_t)) };
	for (size_t i = 0; i < rows; i++)
		cells->starts[cell_of[i]]++;
	for (size_t cell = 0; cell < count; cell++) {
		starts[cell] = (uint32_t)at;
		at += cells->starts[cell];
		cells->starts[cell] = starts[cell];
	}
	cells->starts[count] = (uint32_t)rows;
	for (size_t i = 0; i < rows; i++)
		cells->rows[starts[cell_of[i]]++] = (uint32_t)i;
	return true;
}

void ranks_cells_release(struct ranks_cells *cells)
{
	free(cells->rows);
	free(cells->starts);
	*cells = (struct ranks_cells){ 0 };
}

const uint64_t *ranks_sort(const struct samples *samples, const struct ranks_cells *cells,
			   size_t column, uint64_t *scratch, size_t *levels)
{
	size_t count = cells->count;
	uint64_t *keys = scratch, *spare = scratch + count, *kept;
	const double *x = samples->x + column;
	uint32_t counts[4][DIGITS];

	for (size_t i = 0; i < count; i++) {
		float value = ranks_value(x[ranks_cells_row(cells, i) * samples->width]);

		keys[i] = (uint64_t)value_bits(value) << 32 | i;
	}
	digits_count(counts, keys, count);
	for (unsigned digit = 0; digit < 4; digit++) {
		if (!digit_pass(keys, spare, count, 32 + digit * DIGIT_BITS, counts[digit]))
			continue;
		kept = keys;
		keys = spare;
		spare = kept;
	}
	*levels = keys_rank(keys, count);
	return keys;
}

/*
 * The same steps for entries of both widths. Ranks have as many digits as their number calls for;
 * two halves of 12 bits count faster than 8 and 4.
 */
#define ORDER(name, type, low)                                                            \
	static void name##_insert(type *entries, size_t count)                            \
	{                                                                                 \
		for (size_t i = 1; i < count; i++) {                                      \
			type moved = entries[i];                                          \
			size_t at = i;                                                    \
                                                                                          \
			for (; at > 0 && entries[at - 1] > moved; at--)                   \
				entries[at] = entries[at - 1];                            \
			entries[at] = moved;                                              \
		}                                                                         \
	}                                                                                 \
                                                                                          \
	static void name##_pass(const type *from, type *to, size_t count, unsigned shift, \
				unsigned bits)                                            \
	{                                                                                 \
		uint32_t starts[DIGITS] = { 0 }, at = 0;                                  \
		type mask = ((type)1 << bits) - 1;                                        \
                                                                                          \
		for (size_t i = 0; i < count; i++)                                        \
			starts[from[i] >> shift & mask]++;                                \
		for (size_t i = 0; i <= mask; i++) {                                      \
			uint32_t here = starts[i];                                        \
                                                                                          \
			starts[i] = at;                                                   \
			at += here;                                                       \
		}                                                                         \
		for (size_t i = 0; i < count; i++)                                        \
			to[starts[from[i] >> shift & mask]++] = from[i];                  \
	}                                                                                 \
                                                                                          \
	type *name(type *entries, type *spare, size_t count, size_t levels)               \
	{                                                                                 \
		unsigned bits = 1;                                                        \
                                                                                          \
		if (count <= INSERTION_MOST) {                                            \
			name##_insert(entries, count);                                    \
			return entries;                                                   \
		}                                                                         \
		while ((size_t)1 << bits < levels)                                        \
			bits++;                                                           \
		if (bits <= DIGIT_BITS) {                                                 \
			name##_pass(entries, spare, count, low, bits);                    \
			return spare;                                                     \
		}                                                                         \
		name##_pass(entries, spare, count, low, bits / 2);                        \
		name##_pass(spare, entries, count, low + bits / 2, bits - bits / 2);      \
		return entries;                                                           \
	}

ORDER(ranks_order, uint32_t, 16)
ORDER(ranks_order_wide, uint64_t, 32)
