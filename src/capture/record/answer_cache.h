/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The last few answers of a library, so that it is not asked on every call. Guest.
 *
 * A slot is two words and no lock: `check` is the key in one pattern with the value, so what two
 * threads have written at once fits no key and counts as not there. All orders are relaxed: threads
 * that share an object of a library have to order their calls on it themselves, and that orders
 * what is kept of the object as well.
 */
#ifndef SLUICE_CAPTURE_RECORD_ANSWER_CACHE_H
#define SLUICE_CAPTURE_RECORD_ANSWER_CACHE_H

#include "capture/record/frame.h"

#define RECALL_SLOTS 64u

struct recall {
	struct {
		_Atomic uint64_t check, value;
	} slots[RECALL_SLOTS];
};

/* One to one, as a product with an odd number is, and different in all bits. */
INLINE uint64_t recall_mix(uint64_t key)
{
	return key * UINT64_C(0x9e3779b97f4a7c15);
}

INLINE unsigned recall_slot(uint64_t mixed)
{
	return (unsigned)(mixed >> 32) % RECALL_SLOTS;
}

/* 0 where it is not kept. */
INLINE uint64_t recall_get(struct recall *r, uint64_t key)
{
	uint64_t mixed = recall_mix(key);
	unsigned i = recall_slot(mixed);
	uint64_t value = atomic_load_explicit(&r->slots[i].value, memory_order_relaxed);
	uint64_t check = atomic_load_explicit(&r->slots[i].check, memory_order_relaxed);

	return (check ^ value) == mixed ? value : 0;
}

/* The value is not 0. */
INLINE void recall_put(struct recall *r, uint64_t key, uint64_t value)
{
	uint64_t mixed = recall_mix(key);
	unsigned i = recall_slot(mixed);

	atomic_store_explicit(&r->slots[i].check, mixed ^ value, memory_order_relaxed);
	atomic_store_explicit(&r->slots[i].value, value, memory_order_relaxed);
}

INLINE void recall_drop(struct recall *r, uint64_t key)
{
	if (recall_get(r, key))
		atomic_store_explicit(&r->slots[recall_slot(recall_mix(key))].value, 0,
				      memory_order_relaxed);
}

static inline void recall_clear(struct recall *r)
{
	for (unsigned i = 0; i < RECALL_SLOTS; i++)
		atomic_store_explicit(&r->slots[i].value, 0, memory_order_relaxed);
}

#endif
