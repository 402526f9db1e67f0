/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Radix sort: keys are 32-bit numbers or 16-bit ranks, and nodes are small.
 */
#include "learn/learners/trees/ranks.h"

#include <float.h>
#include <stdbool.h>
#include <string.h>

#include "learn/learner.h"
#include "learn/learners/trees/cells.h"

enum { DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS };

/* Below this count insertion sort is faster than counting digits. */
enum { INSERTION_MOST = 40 };

float ranks_value(double x)
{
	if (x > FLT_MAX)
		return FLT_MAX;
	if (x < -FLT_MAX)
		return -FLT_MAX;
	return (float)x + 0.0f;
}

uint32_t ranks_bits(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits ^ (-(bits >> 31) | 0x80000000u);
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

/* Replaces the bits of values by ranks, in place. */
static size_t rank_keys(uint64_t *keys, size_t count)
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

const uint64_t *ranks_sort(const struct samples *samples, const struct cells *cells, size_t column,
			   uint64_t *scratch, size_t *levels)
{
	size_t count = cells->count;
	uint64_t *keys = scratch, *spare = scratch + count, *kept;
	const double *x = samples->x + column;
	uint32_t counts[4][DIGITS];

	for (size_t i = 0; i < count; i++) {
		float value = ranks_value(x[cells_row(cells, i) * samples->width]);

		keys[i] = (uint64_t)ranks_bits(value) << 32 | i;
	}
	count_digits(counts, keys, count);
	for (unsigned digit = 0; digit < 4; digit++) {
		if (!sort_by_digit(keys, spare, count, 32 + digit * DIGIT_BITS, counts[digit]))
			continue;
		kept = keys;
		keys = spare;
		spare = kept;
	}
	*levels = rank_keys(keys, count);
	return keys;
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
