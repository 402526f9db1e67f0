/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/collect/order.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void order_add(struct order *order, struct order_key key)
{
	if (order->count == order->cap)
		order->keys = xgrow(order->keys, &order->cap, order->count + 1, sizeof(key));
	order->keys[order->count++] = key;
}

void order_release(struct order *order)
{
	free(order->keys);
	free(order->spare);
	*order = (struct order){ 0 };
}

static bool is_before(const struct order_key *a, const struct order_key *b)
{
	if (a->start != b->start)
		return a->start < b->start;
	if (a->process != b->process)
		return a->process < b->process;
	return a->id < b->id;
}

/* Returns the end of the sorted run that begins at i. */
static size_t run_end(const struct order_key *keys, size_t i, size_t count)
{
	while (i + 1 < count && !is_before(&keys[i + 1], &keys[i]))
		i++;
	return i + 1;
}

static void merge(struct order_key *out, const struct order_key *a, const struct order_key *a_end,
		  const struct order_key *b, const struct order_key *b_end)
{
	while (a < a_end && b < b_end)
		*out++ = is_before(b, a) ? *b++ : *a++;
	memcpy(out, a, (size_t)(a_end - a) * sizeof(*a));
	memcpy(out + (a_end - a), b, (size_t)(b_end - b) * sizeof(*b));
}

/* Merges adjacent runs in pairs into spare; returns the number of runs. */
static size_t merge_round(struct order *order)
{
	const struct order_key *keys = order->keys;
	size_t runs = 0;

	for (size_t i = 0; i < order->count; runs++) {
		size_t middle = run_end(keys, i, order->count);
		size_t end = middle < order->count ? run_end(keys, middle, order->count) : middle;

		runs += end > middle;
		if (!i && middle == order->count)
			return 1;
		merge(order->spare + i, keys + i, keys + middle, keys + middle, keys + end);
		i = end;
	}
	return runs;
}

void order_sort(struct order *order)
{
	order->spare = xgrow(order->spare, &order->spare_cap, order->count, sizeof(*order->spare));
	while (merge_round(order) > 1) {
		struct order_key *keys = order->keys;
		size_t cap = order->cap;

		order->keys = order->spare;
		order->cap = order->spare_cap;
		order->spare = keys;
		order->spare_cap = cap;
	}
}
