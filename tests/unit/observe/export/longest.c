/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/export/longest.h"

#include "check.h"

#define CALLS 1000

/* A call of 1 to 50 ns, whose duration depends on its id. */
static struct activity make_call(uint64_t id)
{
	return (struct activity){ .id = id,
				  .start_ns = (int64_t)id,
				  .duration_ns = (int64_t)(id * 7919 % 50) + 1 };
}

static void few_calls_are_all_kept_in_order(void)
{
	struct longest longest = { .max = 10 };

	for (uint64_t id = 5; id; id--)
		longest_add(&longest, &(struct activity){ .id = id, .start_ns = (int64_t)id });
	longest_sort(&longest);
	CHECK_INT(longest.count, 5);
	CHECK_INT(longest.dropped, 0);
	for (size_t i = 0; i < longest.count; i++)
		CHECK_INT(longest.list[i].id, i + 1);
	longest_release(&longest);
}

static void the_longest_calls_are_kept(void)
{
	struct longest longest = { .max = 100 };

	/* 20 calls of each duration */
	for (uint64_t id = 1; id <= CALLS; id++) {
		struct activity a = make_call(id);

		longest_add(&longest, &a);
	}
	longest_sort(&longest);
	CHECK_INT(longest.count, 100);
	CHECK_INT(longest.dropped, CALLS - 100);
	CHECK_INT(longest.dropped_ns, 45);
	for (size_t i = 0; i < longest.count; i++) {
		CHECK(longest.list[i].duration_ns > 45);
		CHECK(!i || longest.list[i - 1].id < longest.list[i].id);
	}
	longest_release(&longest);
}

/* Each call takes exactly as long as the one that encloses it. */
static void enclosing_calls_are_kept_before_equal_ones(void)
{
	struct longest longest = { .max = 3 };

	for (uint64_t id = 1; id <= 9; id++)
		longest_add(&longest,
			    &(struct activity){ .id = id, .parent = id - 1, .duration_ns = 5 });
	longest_sort(&longest);
	CHECK_INT(longest.count, 3);
	for (size_t i = 0; i < longest.count; i++)
		CHECK_INT(longest.list[i].id, i + 1);
	longest_release(&longest);
}

static void a_limit_of_zero_keeps_nothing(void)
{
	struct longest longest = { .max = 0 };

	longest_add(&longest, &(struct activity){ .id = 1, .duration_ns = 5 });
	longest_sort(&longest);
	CHECK_INT(longest.count, 0);
	CHECK_INT(longest.dropped, 1);
	CHECK_INT(longest.dropped_ns, 5);
	longest_release(&longest);
}

TESTS(TEST(few_calls_are_all_kept_in_order), TEST(the_longest_calls_are_kept),
      TEST(enclosing_calls_are_kept_before_equal_ones), TEST(a_limit_of_zero_keeps_nothing))
