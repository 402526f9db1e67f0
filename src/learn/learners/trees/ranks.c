/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Radix sort: keys are 64-bit numbers or 16-bit ranks, and nodes are small.
 */
#include "learn/learners/trees/ranks.h"

#include <stdbool.h>
#include <string.h>

#include "learn/learner.h"
#include "learn/learners/trees/cells.h"

enum { DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS };

/* Below this count insertion sort is faster than counting digits. */
enum { INSERTION_MOST = 40 };

uint64_t ranks_bits(double value)
{
	uint64_t bits;

	value += 0.0; /* makes a negative zero positive */
	memcpy(&bits, &value, sizeof(bits));
	return bits ^ (-(bits >> 63) | 1ull << 63);
}

/* Sorts by one digit of 64-bit keys. Returns false and moves nothing if all have the same digit. */
static bool sort_by_digit(const uint64_t *from, uint64_t *to, size_t count, unsigned shift,
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

static void count_digits(uint32_t counts[4][DIGITS], const uint64_t *keys, size_t count)
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

/* The column to sort, and the memory for it. */
struct sorting {
	const struct samples *samples;
	const struct cells *cells;
	size_t column, count;
	uint64_t *keys, *spare;
};

static uint64_t cell_bits(const struct sorting *sorting, uint32_t cell)
{
	const struct samples *samples = sorting->samples;
	size_t row = cells_row(sorting->cells, cell);

	return ranks_bits(samples->x[row * samples->width + sorting->column]);
}

/* Sorts cells, which are in the lower half of the keys, by one half of the bits of their values. */
static void sort_by_half(struct sorting *sorting, unsigned shift)
{
	uint32_t counts[4][DIGITS];

	for (size_t i = 0; i < sorting->count; i++) {
		uint32_t cell = (uint32_t)sorting->keys[i];

		sorting->keys[i] = (cell_bits(sorting, cell) >> shift) << 32 | cell;
	}
	count_digits(counts, sorting->keys, sorting->count);
	for (unsigned digit = 0; digit < 4; digit++) {
		uint64_t *kept = sorting->keys;

		if (!sort_by_digit(sorting->keys, sorting->spare, sorting->count,
				   32 + digit * DIGIT_BITS, counts[digit]))
			continue;
		sorting->keys = sorting->spare;
		sorting->spare = kept;
	}
}

/* Replaces the bits of values by ranks, in place. */
static size_t rank_keys(const struct sorting *sorting)
{
	size_t levels = 0, step = 0, count = sorting->count;
	uint64_t *keys = sorting->keys, last = cell_bits(sorting, (uint32_t)keys[0]);

	for (size_t i = 0; i < count; i++) {
		uint64_t bits = cell_bits(sorting, (uint32_t)keys[i]);

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

/* The sort is stable, so the lower half of the bits first and then the upper half sorts by both. */
const uint64_t *ranks_sort(const struct samples *samples, const struct cells *cells, size_t column,
			   uint64_t *scratch, size_t *levels)
{
	struct sorting sorting = { .samples = samples,
				   .cells = cells,
				   .column = column,
				   .count = cells->count,
				   .keys = scratch,
				   .spare = scratch + cells->count };

	for (size_t i = 0; i < cells->count; i++)
		sorting.keys[i] = i;
	sort_by_half(&sorting, 0);
	sort_by_half(&sorting, 32);
	*levels = rank_keys(&sorting);
	return sorting.keys;
}

/*
 * The sort for entries of both widths. Ranks have as many digits as their number requires; two
 * digits of 12 bits are faster than 8 and 4.
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
