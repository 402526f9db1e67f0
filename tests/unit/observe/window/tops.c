/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/window/tops.h"

#include "check.h"

/* Adds activities of these durations and checks that the list has all that it claims to have. */
static void check_list(const int64_t *times, size_t count, size_t limit)
{
	struct tops tops, found;

	tops_init(&tops);
	for (size_t i = 0; i < count; i++) {
		const struct activity a = { .id = i, .duration_ns = times[i] };

		tops_add(&tops, limit, &a, (uint32_t)i);
	}
	tops_take(&tops, limit, &found);
	CHECK_INT(tops.count, 0);
	CHECK(found.count <= limit);
	for (size_t i = 0, k = 0; i < count; i++) {
		if (times[i] < found.least_ns)
			continue;
		REQUIRE(k < found.count);
		CHECK_INT(found.list[k].activity.id, i);
		CHECK_INT(found.list[k].node, i);
		k++;
	}
	tops_release(&found);
	tops_release(&tops);
}

static void the_longest_are_kept_in_order(void)
{
	int64_t times[1000];

	for (size_t i = 0; i < 1000; i++)
		times[i] = (int64_t)(i * 7919 % 1009);
	check_list(times, 1000, 10);
	check_list(times, 5, 10);
	check_list(times, 0, 10);
	check_list(times, 1000, 1);
	for (size_t i = 0; i < 1000; i++)
		times[i] = (int64_t)i;
	check_list(times, 1000, 10);
}

/* A part of them would suggest that there are no others. */
static void of_equal_ones_all_are_kept_or_none(void)
{
	int64_t times[100];

	for (size_t i = 0; i < 100; i++)
		times[i] = i % 10 ? 5 : 6;
	check_list(times, 100, 20);
	check_list(times, 100, 5);
	for (size_t i = 0; i < 100; i++)
		times[i] = -1;
	check_list(times, 100, 5);
}

static void a_list_can_be_used_again(void)
{
	struct tops tops, first, second;

	tops_init(&tops);
	for (int64_t i = 0; i < 10; i++)
		tops_add(&tops, 2, &(struct activity){ .duration_ns = 100 + i }, 1);
	tops_take(&tops, 2, &first);
	tops_add(&tops, 2, &(struct activity){ .duration_ns = 1 }, 1);
	tops_take(&tops, 2, &second);
	CHECK_INT(first.count, 2);
	CHECK_INT(second.count, 1);
	tops_release(&first);
	tops_release(&second);
	tops_release(&tops);
}

TESTS(TEST(the_longest_are_kept_in_order), TEST(of_equal_ones_all_are_kept_or_none),
      TEST(a_list_can_be_used_again))
