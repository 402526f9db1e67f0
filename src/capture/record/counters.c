/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Counts calls that are not recorded: in counters mode, and when the spool is full. The table is a
 * small file beside the spool, created with the first counted call. If there is no room for it,
 * only the number of lost records is known.
 */
#include <sys/mman.h>

#include "capture/record/capture.h"
#include "capture/record/kernel.h"
#include "capture/record/sandbox.h"
#include "capture/record/site.h"
#include "contract/call.h"
#include "contract/group.h"

#define PROBES 64 /* slots to look at before a key counts as not found */

static _Atomic(struct counters_file *) counters;
static atomic_bool making;

/* Tells the reader which part of the file has the slot. */
static void mark_used(struct counters_file *file, unsigned slot)
{
	for (unsigned page = counters_first_page(slot); page <= counters_last_page(slot); page++)
		atomic_fetch_or(&file->used[page / 64], UINT64_C(1) << page % 64);
}

static struct counters_file *counters_create(void)
{
	/* Not on the stack, which may be small. Only one thread gets here. */
	static char name[sizeof(capture_membership.name) + sizeof(COUNTERS_SUFFIX)];
	struct membership *m = &capture_membership;
	size_t n = strlen(m->name) - (sizeof(SPOOL_SUFFIX) - 1);
	struct counters_file *file;
	struct file_id id;
	long directory = membership_directory_open(m);
	int error;

	if (directory < 0)
		return NULL;
	memcpy(name, m->name, n);
	memcpy(name + n, COUNTERS_SUFFIX, sizeof(COUNTERS_SUFFIX));
	file = file_create(directory, name, sizeof(*file), &id, &error);
	kernel_call(SYS_close, directory);
	if (file) {
		file->has_used = 1;
		/* The reserved slots always exist. */
		for (unsigned i = 0; i < COUNTERS_RESERVED; i++)
			mark_used(file, i);
		file->magic = COUNTERS_MAGIC;
		site_hand_over(m);
	}
	return file;
}

/* One thread creates the file; the others count nothing meanwhile. A failure is not retried. */
static struct counters_file *counters_get(void)
{
	struct counters_file *file = atomic_load_explicit(&counters, memory_order_acquire);
	struct signals_held held;

	if (file || atomic_load_explicit(&making, memory_order_relaxed) || sandbox_is_sealed())
		return file;
	held = signals_hold();
	if (!atomic_exchange(&making, true))
		file = counters_create();
	if (file)
		atomic_store_explicit(&counters, file, memory_order_release);
	signals_release(held);
	return file;
}

void counters_forget(void)
{
	memset(capture_self.counting, 0, sizeof(capture_self.counting));
	atomic_store(&counters, NULL);
	atomic_store(&making, false);
}

/* Finds or creates a slot. One with a key and `whose` 0 is being created by another thread. */
static struct counters_slot *slot_find(struct counters_file *file, uint64_t link, uint64_t whose)
{
	uint64_t hash = (link ^ whose << 20) * UINT64_C(0x9e3779b97f4a7c15);

	for (unsigned i = 0; link && i < PROBES; i++) {
		struct counters_slot *slot =
			&file->slots[COUNTERS_RESERVED +
				     ((hash >> 40) + i) % (COUNTERS_SLOTS - COUNTERS_RESERVED)];
		uint64_t key = atomic_load_explicit(&slot->key, memory_order_relaxed);

		if (!key && atomic_compare_exchange_strong(&slot->key, &key, link)) {
			atomic_store(&slot->whose, whose);
			mark_used(file, (unsigned)(slot - file->slots));
			return slot;
		}
		if (key == link && atomic_load(&slot->whose) == whose)
			return slot;
	}
	return NULL;
}

/* The slot that only this lane adds to, for a handle and layer; NULL if it has none. */
static struct counters_slot *slot_find_own(struct self *s, const struct frame *f, uint64_t link,
					   unsigned layer)
{
	struct counting *c = &s->counting[f->level][(link ^ layer) % COUNTING_WAYS];
	uint64_t whose = counters_whose(layer, f->lane->thread + 1);
	struct counters_file *file;

	if (likely(c->slot && c->key == link && c->whose == whose))
		return c->slot;
	file = counters_get();
	if (!file || f->lane->thread - capture_membership.header->first_thread >= COUNTERS_OWNERS)
		return NULL;
	*c = (struct counting){ link, whose, slot_find(file, link, whose) };
	return c->slot;
}

/* Not atomic: no other thread adds, and an interrupting signal handler has another lane. */
static void add_own(_Atomic uint64_t *counter, uint64_t n)
{
	atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n,
			      memory_order_relaxed);
}

/* The amounts that one call adds to its counter. */
struct addition {
	uint64_t link, ticks, bytes;
	unsigned layer, group;
	bool error;
};

static struct addition addition_from_record(const uint64_t *w)
{
	const struct call_info *call = &call_table[record_call(w)];
	struct addition a = { .ticks = record_duration(w),
			      .layer = call->layer,
			      .group = group_of_class(call->class),
			      .error = record_error(w) != 0 };
	int64_t result = 0;

	/* Fields have the order of FIELD_LIST, which begins with RESULT and LINK. */
	for (unsigned i = 0; i < call->field_count && call->fields[i] <= FIELD_LINK; i++) {
		if (call->fields[i] == FIELD_RESULT)
			result = (int64_t)w[RECORD_HEAD_WORDS + i];
		else
			a.link = w[RECORD_HEAD_WORDS + i];
	}
	a.layer = link_layer(a.link, a.layer);
	if (class_moves_bytes(call->class) && result > 0)
		a.bytes = (uint64_t)result;
	return a;
}

static void add_shared(const struct addition *a)
{
	struct counters_file *file = counters_get();
	struct counters_slot *slot;
	struct counter *counter;

	if (!file)
		return;
	slot = slot_find(file, a->link, counters_whose(a->layer, 0));
	counter = &(slot ? slot : &file->slots[a->layer])->groups[a->group];
	counter_add(&counter->calls, 1);
	counter_add(&counter->errors, a->error);
	counter_add(&counter->ticks, a->ticks);
	counter_add(&counter->bytes, a->bytes);
}

void counters_add(struct self *s, const struct frame *f)
{
	struct addition a = addition_from_record(f->scratch);
	struct counters_slot *slot = NULL;
	struct counter *counter;

	if (likely(a.link && lane_number(s, f->lane)))
		slot = slot_find_own(s, f, a.link, a.layer);
	if (unlikely(!slot)) {
		add_shared(&a);
		return;
	}
	counter = &slot->groups[a.group];
	add_own(&counter->calls, 1);
	if (unlikely(a.error))
		add_own(&counter->errors, 1);
	add_own(&counter->ticks, a.ticks);
	add_own(&counter->bytes, a.bytes);
}
