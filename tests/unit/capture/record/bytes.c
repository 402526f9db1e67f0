/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tests the guest's own memcpy(), memmove() and memset(), which are linked into this program.
 */
#include <stddef.h>
#include <string.h>

#include "check.h"

enum { SIZE = 160, LONGEST = 70 };

static unsigned char bytes[SIZE], expected[SIZE];

static void fill(void)
{
	for (int i = 0; i < SIZE; i++)
		bytes[i] = expected[i] = (unsigned char)(i * 7 + 1);
}

static bool as_expected(void)
{
	for (int i = 0; i < SIZE; i++)
		if (bytes[i] != expected[i])
			return false;
	return true;
}

/* The compiler must not know the length, or it makes no call. */
static size_t unknown(size_t count)
{
	__asm__ volatile("" : "+r"(count));
	return count;
}

static void memcpy_copies_any_length_at_any_alignment(void)
{
	for (size_t count = 0; count < LONGEST; count++)
		for (size_t from = 0; from < 9; from++) {
			size_t to = 80 + (from * 5 + count) % 9;

			fill();
			for (size_t i = 0; i < count; i++)
				expected[to + i] = bytes[from + i];
			CHECK(memcpy(bytes + to, bytes + from, unknown(count)) == bytes + to);
			CHECK(as_expected());
		}
}

static void memmove_copies_overlapping_bytes(void)
{
	for (size_t count = 0; count < LONGEST; count++)
		for (size_t to = 0; to < 60; to++) {
			fill();
			for (size_t i = 0; i < count; i++)
				expected[to + i] = bytes[30 + i];
			CHECK(memmove(bytes + to, bytes + 30, unknown(count)) == bytes + to);
			CHECK(as_expected());
		}
}

static void memset_sets_only_its_bytes(void)
{
	for (size_t count = 0; count < LONGEST; count++)
		for (size_t to = 1; to < 10; to++) {
			fill();
			for (size_t i = 0; i < count; i++)
				expected[to + i] = 0xfe;
			CHECK(memset(bytes + to, -2, unknown(count)) == bytes + to);
			CHECK(as_expected());
		}
}

TESTS(TEST(memcpy_copies_any_length_at_any_alignment), TEST(memmove_copies_overlapping_bytes),
      TEST(memset_sets_only_its_bytes))
