/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table of handles: an entry is found until it is taken, by any thread, and never has a wrong
 * link.
 */
#include "check.h"

#include <pthread.h>

/* Guest code in a host test: the file is included. */
#include "capture/record/handle_table.c"

atomic_bool sandbox_sealed;

static uint64_t key(uint64_t value)
{
	return handle_key(SPACE_HDF5, value);
}

static void entries_are_found_until_taken(void)
{
	uint64_t file = UINT64_C(1) << 56, dataset = UINT64_C(5) << 56;

	CHECK(!handle_table_find(key(file)));
	CHECK(handle_table_put(key(file), 11) != NULL);
	CHECK(handle_table_put(key(dataset), 12) != NULL);
	CHECK(handle_table_put(handle_key(SPACE_MPI, file), 13) != NULL);
	CHECK_INT(handle_entry_link(handle_table_find(key(file))), 11);
	CHECK_INT(handle_entry_link(handle_table_find(handle_key(SPACE_MPI, file))), 13);
	CHECK_INT(handle_table_count(SPACE_HDF5), 2);
	CHECK_INT(handle_table_take(key(file)), 11);
	CHECK_INT(handle_table_take(key(file)), 0);
	CHECK_INT(handle_entry_link(handle_table_find(key(dataset))), 12);
	CHECK_INT(handle_table_take(key(dataset)), 12);
	CHECK_INT(handle_table_count(SPACE_HDF5), 0);
	CHECK_INT(handle_table_take(handle_key(SPACE_MPI, file)), 13);
}

static void a_replaced_entry_is_initialized_again(void)
{
	struct handle_entry *n = handle_table_put(key(7), 1);

	REQUIRE(n);
	atomic_store(&n->note, 99);
	atomic_store(&n->more[3], 98);
	n = handle_table_put(key(7), 2);
	REQUIRE(n);
	CHECK_INT(atomic_load(&n->note), 0);
	CHECK_INT(atomic_load(&n->more[3]), 0);
	CHECK_INT(handle_table_count(SPACE_HDF5), 1);
	CHECK_INT(handle_table_take(key(7)), 2);
}

static void each_of_several_equal_keys_is_taken_once(void)
{
	uint64_t sum = 0;

	for (uint64_t link = 1; link <= REACH; link++)
		CHECK(handle_table_add(key(9), link));
	CHECK(!handle_table_add(key(9), REACH + 1));
	CHECK_INT(handle_table_count(SPACE_HDF5), REACH);
	for (unsigned i = 0; i < REACH; i++)
		sum += handle_table_take(key(9));
	CHECK_INT(sum, REACH * (REACH + 1) / 2);
	CHECK_INT(handle_table_take(key(9)), 0);
	CHECK_INT(handle_table_count(SPACE_HDF5), 0);
}

static void a_full_table_rejects_entries_but_has_no_wrong_links(void)
{
	unsigned kept = 0;

	for (uint64_t value = 1; value <= 2 * SLOTS; value++)
		handle_table_put(key(value << 12), value);
	for (uint64_t value = 1; value <= 2 * SLOTS; value++) {
		uint64_t link = handle_table_take(key(value << 12));

		CHECK(link == 0 || link == value);
		kept += link != 0;
	}
	CHECK(kept > SLOTS / 2 && kept <= SLOTS);
	CHECK_INT(handle_table_count(SPACE_HDF5), 0);
}

static void all_entries_of_a_file_are_taken_together(void)
{
	uint64_t links[8], sum = 0;
	uint64_t mask = ~UINT64_C(0xffffffff);
	unsigned n;

	for (uint64_t i = 0; i < 5; i++)
		handle_table_put(key(UINT64_C(3) << 32 | i), 100 + i);
	handle_table_put(key(UINT64_C(4) << 32), 7);
	n = handle_table_take_all(mask, key(UINT64_C(3) << 32), links, 8);
	CHECK_INT(n, 5);
	for (unsigned i = 0; i < n; i++)
		sum += links[i];
	CHECK_INT(sum, 510);
	CHECK_INT(handle_table_take(key(UINT64_C(4) << 32)), 7);
}

#define THREADS 4
#define ROUNDS 20000

/* Every thread passes its own entries to the next one by key. */
static void *churn(void *arg)
{
	uint64_t own = (uint64_t)(uintptr_t)arg;
	uintptr_t wrong = 0;

	for (uint64_t i = 1; i <= ROUNDS; i++) {
		uint64_t k = key(own << 32 | i % 16);

		wrong += !handle_table_put(k, own << 20 | i);
		wrong += handle_table_take(k) != (own << 20 | i);
	}
	return (void *)wrong;
}

static void threads_do_not_see_links_of_other_threads(void)
{
	pthread_t threads[THREADS];

	for (uintptr_t i = 0; i < THREADS; i++)
		REQUIRE(pthread_create(&threads[i], NULL, churn, (void *)(i + 1)) == 0);
	for (size_t i = 0; i < THREADS; i++) {
		void *wrong;

		pthread_join(threads[i], &wrong);
		CHECK_INT((uintptr_t)wrong, 0);
	}
}

TESTS(TEST(entries_are_found_until_taken), TEST(a_replaced_entry_is_initialized_again),
      TEST(each_of_several_equal_keys_is_taken_once),
      TEST(a_full_table_rejects_entries_but_has_no_wrong_links),
      TEST(all_entries_of_a_file_are_taken_together),
      TEST(threads_do_not_see_links_of_other_threads))
