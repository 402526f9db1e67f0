/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/map.h"

#include "check.h"

#define KEYS 10000

static int values[KEYS + 1];

/* Keys spread over the whole range, half of them with equal low bits. */
static uint64_t make_key(int i)
{
	return i % 2 ? (uint64_t)i << 40 : (uint64_t)i * UINT64_C(0x9E3779B97F4A7C15);
}

static void inserted_keys_are_found(void)
{
	struct map map = { 0 };

	CHECK(!map_get(&map, 1));
	for (int i = 1; i <= KEYS; i++)
		map_put(&map, make_key(i), &values[i]);
	CHECK_INT(map.count, KEYS);
	for (int i = 1; i <= KEYS; i++)
		CHECK(map_get(&map, make_key(i)) == &values[i]);
	CHECK(!map_get(&map, 12345));
	map_release(&map);
}

static void a_second_put_replaces(void)
{
	struct map map = { 0 };

	map_put(&map, 7, &values[1]);
	map_put(&map, 7, &values[2]);
	CHECK_INT(map.count, 1);
	CHECK(map_get(&map, 7) == &values[2]);
	map_release(&map);
}

static void removed_keys_are_gone_and_the_others_stay(void)
{
	struct map map = { 0 };

	for (int i = 1; i <= KEYS; i++)
		map_put(&map, make_key(i), &values[i]);
	for (int i = 1; i <= KEYS; i += 3)
		CHECK(map_remove(&map, make_key(i)) == &values[i]);
	CHECK(!map_remove(&map, make_key(1)));
	for (int i = 1; i <= KEYS; i++)
		CHECK(map_get(&map, make_key(i)) == (i % 3 == 1 ? NULL : &values[i]));
	map_release(&map);
	CHECK(!map.entries && !map.count);
	CHECK(!map_remove(&map, 1));
}

static void alternating_insertion_and_removal_keeps_the_map_small(void)
{
	struct map map = { 0 };

	for (int i = 1; i <= 100 * KEYS; i++) {
		map_put(&map, (uint64_t)i, &values[1]);
		CHECK(map_remove(&map, (uint64_t)i) == &values[1]);
	}
	CHECK_INT(map.count, 0);
	CHECK(map.cap <= 64);
	map_release(&map);
}

TESTS(TEST(inserted_keys_are_found), TEST(a_second_put_replaces),
      TEST(removed_keys_are_gone_and_the_others_stay),
      TEST(alternating_insertion_and_removal_keeps_the_map_small))
