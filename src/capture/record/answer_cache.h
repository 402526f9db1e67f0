/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A small cache of a library's answers about its objects, so that it is not asked on every call.
 * Guest.
 *
 * A slot is two words without a lock: `check` is the mixed key XOR the value. If two threads write
 * a slot at the same time, the words do not match any key, and the slot counts as empty. All memory
 * orders are relaxed: threads that share an object of a library have to order their calls on it,
 * and that orders the accesses to the cache as well.
 */
#ifndef SLUICE_CAPTURE_RECORD_ANSWER_CACHE_H
#define SLUICE_CAPTURE_RECORD_ANSWER_CACHE_H

#include "capture/record/frame.h"

#define ANSWER_CACHE_SLOTS 64u

struct answer_cache {
	struct {
		_Atomic uint64_t check, value;
	} slots[ANSWER_CACHE_SLOTS];
};

/* A bijection (the factor is odd) that spreads the key over all bits. */
INLINE uint64_t answer_cache_mix(uint64_t key)
{
	return key * UINT64_C(0x9e3779b97f4a7c15);
}

INLINE unsigned answer_cache_slot(uint64_t mixed)
{
	return (unsigned)(mixed >> 32) % ANSWER_CACHE_SLOTS;
}

/* The value of the key, or 0 if it is not in the cache. */
INLINE uint64_t answer_cache_get(struct answer_cache *r, uint64_t key)
{
	uint64_t mixed = answer_cache_mix(key);
	unsigned i = answer_cache_slot(mixed);
	uint64_t value = atomic_load_explicit(&r->slots[i].value, memory_order_relaxed);
	uint64_t check = atomic_load_explicit(&r->slots[i].check, memory_order_relaxed);

	return (check ^ value) == mixed ? value : 0;
}

/* value must not be 0. */
INLINE void answer_cache_put(struct answer_cache *r, uint64_t key, uint64_t value)
{
	uint64_t mixed = answer_cache_mix(key);
	unsigned i = answer_cache_slot(mixed);

	atomic_store_explicit(&r->slots[i].check, mixed ^ value, memory_order_relaxed);
	atomic_store_explicit(&r->slots[i].value, value, memory_order_relaxed);
}

INLINE void answer_cache_drop(struct answer_cache *r, uint64_t key)
{
	if (answer_cache_get(r, key))
		atomic_store_explicit(&r->slots[answer_cache_slot(answer_cache_mix(key))].value, 0,
				      memory_order_relaxed);
}

static inline void answer_cache_clear(struct answer_cache *r)
{
	for (unsigned i = 0; i < ANSWER_CACHE_SLOTS; i++)
		atomic_store_explicit(&r->slots[i].value, 0, memory_order_relaxed);
}

#endif
