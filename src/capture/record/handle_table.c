/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A hash table with linear probing. A key may be in any of the REACH slots from its home slot. A
 * search looks at all of them, so a slot can be emptied without a marker.
 */
#include "capture/record/handle_table.h"
#include "capture/record/kernel.h"
#include "capture/record/sandbox.h"

#define SLOTS 32768u
#define REACH 16u
#define SPACES 16

/*
 * Keys are stored apart from the entries: a failed search, the common case, touches two or three
 * cache lines only. The memory is reserved with the first entry; pages are allocated on use.
 */
struct table {
	_Atomic uint64_t keys[SLOTS]; /* 0: empty */
	struct handle_entry entries[SLOTS];
};

static _Atomic(struct table *) table;
static _Atomic uint32_t counts[SPACES];

static struct table *table_create(void)
{
	struct table *made, *none = NULL;

	if (sandbox_is_sealed())
		return NULL;
	made = kernel_map_private(sizeof(*made));
	if (!made)
		return NULL;
	if (!atomic_compare_exchange_strong(&table, &none, made)) {
		kernel_call(SYS_munmap, made, sizeof(*made));
		return none;
	}
	return made;
}

/* The i-th slot in which the key may be. */
static unsigned slot_index(uint64_t key, unsigned i)
{
	uint64_t hash = key * UINT64_C(0x9e3779b97f4a7c15);

	return (unsigned)(((hash >> 40) + i) % SLOTS);
}

static struct handle_entry *entry_find(struct table *t, uint64_t key)
{
	for (unsigned i = 0; t && i < REACH; i++) {
		unsigned slot = slot_index(key, i);

		if (atomic_load_explicit(&t->keys[slot], memory_order_relaxed) == key)
			return &t->entries[slot];
	}
	return NULL;
}

struct handle_entry *handle_table_find(uint64_t key)
{
	return entry_find(atomic_load_explicit(&table, memory_order_acquire), key);
}

uint32_t handle_table_count(enum space space)
{
	return atomic_load_explicit(&counts[space], memory_order_relaxed);
}

/* Empties a slot that holds the key; if two threads try, only one of them gets the link. */
static uint64_t slot_empty(struct table *t, size_t slot, uint64_t key)
{
	uint64_t link = atomic_exchange_explicit(&t->entries[slot].link, 0, memory_order_relaxed);

	if (!link)
		return 0;
	/* Pairs with the acquire in slot_claim(): a new key is never seen with the old link. */
	atomic_store_explicit(&t->keys[slot], 0, memory_order_release);
	atomic_fetch_sub_explicit(&counts[key >> 60], 1, memory_order_relaxed);
	return link;
}

uint64_t handle_table_take(uint64_t key)
{
	struct table *t = atomic_load_explicit(&table, memory_order_acquire);

	for (unsigned i = 0; t && i < REACH; i++) {
		unsigned slot = slot_index(key, i);
		uint64_t link = 0;

		if (atomic_load_explicit(&t->keys[slot], memory_order_relaxed) == key)
			link = slot_empty(t, slot, key);
		if (link)
			return link;
	}
	return 0;
}

static struct handle_entry *slot_claim(struct table *t, uint64_t key)
{
	for (unsigned i = 0; i < REACH; i++) {
		unsigned slot = slot_index(key, i);
		uint64_t none = 0;

		/* Pairs with the release in slot_empty(). */
		if (atomic_compare_exchange_strong_explicit(&t->keys[slot], &none, key,
							    memory_order_acquire,
							    memory_order_relaxed)) {
			atomic_fetch_add_explicit(&counts[key >> 60], 1, memory_order_relaxed);
			return &t->entries[slot];
		}
	}
	return NULL;
}

static struct table *table_get(void)
{
	struct table *t = atomic_load_explicit(&table, memory_order_acquire);

	return t ? t : table_create();
}

/* Initializes the entry of a slot that was claimed or is replaced. */
static struct handle_entry *entry_init(struct handle_entry *n, uint64_t key, uint64_t link)
{
	if (!n)
		return NULL;
	atomic_store_explicit(&n->key, key, memory_order_relaxed);
	atomic_store_explicit(&n->note, 0, memory_order_relaxed);
	atomic_store_explicit(&n->count, 0, memory_order_relaxed);
	for (size_t i = 0; i < sizeof(n->more) / sizeof(n->more[0]); i++)
		atomic_store_explicit(&n->more[i], 0, memory_order_relaxed);
	atomic_store_explicit(&n->link, link, memory_order_relaxed);
	return n;
}

struct handle_entry *handle_table_put(uint64_t key, uint64_t link)
{
	struct table *t = table_get();
	struct handle_entry *n;

	if (!t || !link)
		return NULL;
	n = entry_find(t, key);
	return entry_init(n ? n : slot_claim(t, key), key, link);
}

bool handle_table_add(uint64_t key, uint64_t link)
{
	struct table *t = table_get();

	return t && link && entry_init(slot_claim(t, key), key, link);
}

unsigned handle_table_take_all(uint64_t mask, uint64_t bits, uint64_t *links, unsigned max)
{
	struct table *t = atomic_load_explicit(&table, memory_order_acquire);
	unsigned taken = 0;

	for (size_t i = 0; t && i < SLOTS && taken < max; i++) {
		uint64_t key = atomic_load_explicit(&t->keys[i], memory_order_relaxed);
		uint64_t link = key && (key & mask) == bits ? slot_empty(t, i, key) : 0;

		if (link)
			links[taken++] = link;
	}
	return taken;
}
