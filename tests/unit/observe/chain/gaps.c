/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/chain/gaps.h"

#include "check.h"
#include "contract/record.h"

/* Enters the calls of thread 0 of process 0; call n begins at 10 n. */
static int64_t find_gap(const uint64_t *numbers, size_t count, uint64_t first)
{
	struct gaps gaps;
	int64_t since_ns;

	gaps_init(&gaps, 2);
	for (size_t i = 0; i < count; i++)
		gaps_see(&gaps, 0, id_make(0, numbers[i]), (int64_t)(10 * numbers[i]), first);
	gaps_finish(&gaps);
	since_ns = gaps.processes[0].since_ns;
	CHECK(gaps.processes[1].since_ns == INT64_MAX);
	gaps_release(&gaps);
	return since_ns;
}

static void all_numbers_are_no_gap(void)
{
	CHECK(find_gap((uint64_t[]){ 1, 2, 3, 4 }, 4, 1) == INT64_MAX);
	/* A record that is dated back, such as that of an inherited descriptor. */
	CHECK(find_gap((uint64_t[]){ 1, 3, 2, 5, 6, 4 }, 6, 1) == INT64_MAX);
	/* A forked child continues the numbers of its parent. */
	CHECK(find_gap((uint64_t[]){ 500, 501, 502 }, 3, 0) == INT64_MAX);
}

static void a_missing_number_is_a_gap_since_the_call_before(void)
{
	CHECK_INT(find_gap((uint64_t[]){ 1, 2, 4, 5 }, 4, 1), 20);
	CHECK_INT(find_gap((uint64_t[]){ 1, 2, 3, 5, 7 }, 5, 1), 30);
	CHECK(find_gap((uint64_t[]){ 2, 3 }, 2, 1) == INT64_MIN);
}

static void a_gap_is_found_however_large(void)
{
	CHECK_INT(find_gap((uint64_t[]){ 1, 2, 66, 67 }, 4, 1), 20);
	CHECK_INT(find_gap((uint64_t[]){ 1, 2, 67, 68 }, 4, 1), 20);
	CHECK_INT(find_gap((uint64_t[]){ 1, 2, 1000000, 1000001 }, 4, 1), 20);
	CHECK_INT(find_gap((uint64_t[]){ 1, 2, 40, 100, 130, 131 }, 6, 1), 20);
}

static void every_single_missing_call_is_found(void)
{
	for (uint64_t missing = 2; missing < 200; missing++) {
		uint64_t numbers[200];
		size_t n = 0;

		for (uint64_t i = 1; i <= 200; i++)
			if (i != missing)
				numbers[n++] = i;
		CHECK_INT(find_gap(numbers, n, 1), (int64_t)(10 * (missing - 1)));
	}
}

static void calls_lost_at_the_end_leave_no_gap_but_a_count(void)
{
	struct gaps gaps;

	gaps_init(&gaps, 2);
	gaps_see(&gaps, 0, id_make(0, 1), 10, 1);
	gaps_see(&gaps, 0, id_make(1, 1), 20, 1);
	gaps_see(&gaps, 0, id_make(0, 2), 30, 1);
	gaps_finish(&gaps);
	CHECK(gaps.processes[0].since_ns == INT64_MAX);
	gaps_lost(&gaps, 0);
	CHECK_INT(gaps.processes[0].since_ns, 20);
	gaps_lost(&gaps, 1);
	CHECK(gaps.processes[1].since_ns == INT64_MIN);
	gaps_release(&gaps);
}

TESTS(TEST(all_numbers_are_no_gap), TEST(a_missing_number_is_a_gap_since_the_call_before),
      TEST(a_gap_is_found_however_large), TEST(every_single_missing_call_is_found),
      TEST(calls_lost_at_the_end_leave_no_gap_but_a_count))
