/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/collect/order.h"

#include "check.h"

static unsigned seed = 1;

static unsigned draw(unsigned n)
{
	seed = seed * 1103515245 + 12345;
	return seed / 65536 % n;
}

static int compare(const void *a, const void *b)
{
	const struct order_key *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static void an_empty_order_can_be_sorted(void)
{
	struct order o = { 0 };

	order_sort(&o);
	CHECK_INT(o.count, 0);
	order_release(&o);
}

static void keys_are_sorted_like_qsort(void)
{
	for (unsigned n = 1; n < 400; n += 7) {
		struct order o = { 0 };
		struct order_key *expected = calloc(n, sizeof(*expected));

		for (unsigned i = 0; i < n; i++) {
			expected[i] = (struct order_key){ .start = draw(50),
							  .id = draw(1000),
							  .process = draw(3) };
			order_add(&o, expected[i]);
		}
		qsort(expected, n, sizeof(*expected), compare);
		order_sort(&o);
		CHECK_INT(o.count, n);
		for (unsigned i = 0; i < n; i++)
			CHECK(!compare(&o.keys[i], &expected[i]));
		free(expected);
		order_release(&o);
	}
}

static void long_runs_of_many_threads_are_merged(void)
{
	struct order o = { 0 };

	for (unsigned thread = 0; thread < 13; thread++)
		for (unsigned i = 0; i < 1000; i++)
			order_add(&o,
				  (struct order_key){ .start = 13 * i + thread, .thread = thread });
	order_sort(&o);
	for (unsigned i = 0; i < o.count; i++)
		CHECK_INT(o.keys[i].start, i);
	/* The order is used again for the next pass, as in the collector. */
	o.count = 0;
	for (unsigned i = 0; i < 20000; i++)
		order_add(&o, (struct order_key){ .start = 20000 - i });
	order_sort(&o);
	CHECK_INT(o.keys[0].start, 1);
	CHECK_INT(o.keys[19999].start, 20000);
	order_release(&o);
}

TESTS(TEST(an_empty_order_can_be_sorted), TEST(keys_are_sorted_like_qsort),
      TEST(long_runs_of_many_threads_are_merged))
