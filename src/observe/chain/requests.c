/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/chain/requests.h"

#include <stdlib.h>

#include "base/mem.h"
#include "contract/record.h"

struct change {
	uint64_t seq;
	int64_t start_ns;
	uint32_t request;
};

struct requests_thread {
	struct change *changes; /* in order of seq */
	size_t count, cap;
};

void requests_release(struct requests *r)
{
	for (size_t i = 0; i < r->threads.cap; i++) {
		struct requests_thread *t = r->threads.entries[i].value;

		if (t)
			free(t->changes);
		free(t);
	}
	map_release(&r->threads);
}

static uint64_t thread_key(uint32_t process, uint64_t id)
{
	return ((uint64_t)process << ID_THREAD_BITS | id_thread(id)) + 1;
}

static struct requests_thread *find_thread(const struct requests *r, uint32_t process, uint64_t id)
{
	return map_get(&r->threads, thread_key(process, id));
}

void requests_switch(struct requests *r, uint32_t process, uint64_t id, int64_t start_ns,
		     uint32_t request)
{
	struct requests_thread *t = find_thread(r, process, id);

	/* A thread without a request needs no entry to have none. */
	if (!request && (!t || !t->changes[t->count - 1].request))
		return;
	if (!t) {
		t = xcalloc(1, sizeof(*t));
		map_put(&r->threads, thread_key(process, id), t);
	}
	t->changes = xgrow(t->changes, &t->cap, t->count + 1, sizeof(*t->changes));
	t->changes[t->count++] = (struct change){ id_seq(id), start_ns, request };
}

uint32_t requests_now(const struct requests *r, uint32_t process, uint64_t id)
{
	const struct requests_thread *t = find_thread(r, process, id);

	return t ? t->changes[t->count - 1].request : 0;
}

/* The number of changes by calls before seq. */
static size_t count_before(const struct requests_thread *t, uint64_t seq)
{
	size_t low = 0, high = t->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (t->changes[middle].seq < seq)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint32_t requests_find(const struct requests *r, uint32_t process, uint64_t id, uint64_t parent)
{
	const struct requests_thread *t = find_thread(r, process, id);
	size_t n = t ? count_before(t, id_seq(id) + 1) : 0;
	const struct change *c = n ? &t->changes[n - 1] : NULL;

	if (!c)
		return 0;
	if (parent && (id_thread(parent) != id_thread(id) || id_seq(parent) >= c->seq))
		return 0;
	return c->request;
}

int64_t requests_end(const struct requests *r, uint32_t process, uint64_t id)
{
	const struct requests_thread *t = find_thread(r, process, id);
	size_t n = t ? count_before(t, id_seq(id) + 1) : 0;

	return t && n < t->count ? t->changes[n].start_ns : INT64_MAX;
}
