/* SPDX-License-Identifier: BSD-3-Clause */
#include "contract/burst.h"

static uint64_t get(const _Atomic uint64_t *at)
{
	return atomic_load_explicit(at, memory_order_relaxed);
}

static void add(_Atomic uint64_t *at, uint64_t value)
{
	atomic_fetch_add_explicit(at, value, memory_order_relaxed);
}

void burst_begin(struct burst *burst, uint64_t now_ns)
{
	uint64_t none = 0;

	atomic_compare_exchange_strong(&burst->first_ns, &none, now_ns);
	/* Whoever ends the last transfer has seen this value: it cannot be the last one before the
	 * first has ended, too. Pairs with the decrement of burst_end(). */
	if (atomic_fetch_add(&burst->active, 1) == 0)
		atomic_store(&burst->begin_ns, now_ns);
}

void burst_end(struct burst *burst, uint64_t bytes, uint64_t now_ns)
{
	/* Before the decrement, after which another transfer may begin. */
	uint64_t begin_ns = atomic_load(&burst->begin_ns);

	add(&burst->bytes, bytes);
	atomic_fetch_add_explicit(&burst->transfers, 1, memory_order_relaxed);
	atomic_store_explicit(&burst->last_ns, now_ns, memory_order_relaxed);
	if (atomic_fetch_sub(&burst->active, 1) == 1 && now_ns > begin_ns)
		add(&burst->busy_ns, now_ns - begin_ns);
}

void burst_spoil(struct burst *burst, uint64_t now_ns)
{
	atomic_store_explicit(&burst->spoiled_ns, now_ns, memory_order_relaxed);
}

bool burst_take(struct burst *burst, struct burst_total *total)
{
	uint64_t spoiled_ns = get(&burst->spoiled_ns);

	if (atomic_load(&burst->active))
		return false;
	*total = (struct burst_total){ .first_ns = atomic_exchange(&burst->first_ns, 0),
				       .last_ns = get(&burst->last_ns),
				       .transfers = atomic_exchange(&burst->transfers, 0),
				       .busy_ns = atomic_exchange(&burst->busy_ns, 0),
				       .bytes = atomic_exchange(&burst->bytes, 0) };
	return total->first_ns && total->bytes && total->busy_ns &&
	       (!spoiled_ns || total->first_ns > spoiled_ns + BURST_SPOILED_NS);
}
