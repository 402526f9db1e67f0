/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/chain/gaps.h"

#include <stdlib.h>

#include "base/integer.h"
#include "base/mem.h"
#include "contract/record.h"

#define WINDOW 64

struct gaps_thread {
	uint32_t process;
	uint64_t next;	 /* all numbers below have been seen, or are known to be missing */
	uint64_t seen;	 /* bit i: number next + i */
	int64_t sure_ns; /* start of a call with a number below next */
	int64_t last_ns;
};

void gaps_init(struct gaps *gaps, size_t process_count)
{
	*gaps = (struct gaps){ .processes = xcalloc(process_count, sizeof(*gaps->processes)),
			       .process_count = process_count };
	for (size_t i = 0; i < process_count; i++)
		gaps->processes[i] = (struct gaps_process){ INT64_MAX, INT64_MAX };
}

void gaps_release(struct gaps *gaps)
{
	for (size_t i = 0; i < gaps->threads.cap; i++)
		free(gaps->threads.entries[i].value);
	map_release(&gaps->threads);
	free(gaps->processes);
	*gaps = (struct gaps){ 0 };
}

static uint64_t thread_key(uint32_t process, uint64_t id)
{
	return ((uint64_t)process << ID_THREAD_BITS | id_thread(id)) + 1;
}

static struct gaps_thread *find_thread(struct gaps *gaps, uint32_t process, uint64_t id,
				       uint64_t first)
{
	uint64_t key = thread_key(process, id);
	struct gaps_thread *t = map_get(&gaps->threads, key);

	if (t)
		return t;
	t = xmalloc(sizeof(*t));
	*t = (struct gaps_thread){ .process = process,
				   .next = first ? first : id_seq(id),
				   .sure_ns = INT64_MIN };
	map_put(&gaps->threads, key, t);
	return t;
}

static void note_gap(struct gaps *gaps, const struct gaps_thread *t)
{
	struct gaps_process *p = &gaps->processes[t->process];

	p->since_ns = i64_min(p->since_ns, t->sure_ns);
}

/* Gives up waiting for missing numbers until the window includes seq. */
static void advance_to(struct gaps *gaps, struct gaps_thread *t, uint64_t seq)
{
	note_gap(gaps, t);
	while (seq - t->next >= WINDOW) {
		if (seq - t->next >= 2 * WINDOW) {
			t->next = seq - WINDOW + 1;
			t->seen = 0;
		} else {
			t->next++;
			t->seen >>= 1;
		}
	}
}

void gaps_see(struct gaps *gaps, uint32_t process, uint64_t id, int64_t start_ns, uint64_t first)
{
	struct gaps_thread *t = find_thread(gaps, process, id, first);
	uint64_t seq = id_seq(id);

	t->last_ns = start_ns;
	if (seq < t->next)
		return;
	if (seq - t->next >= WINDOW)
		advance_to(gaps, t, seq);
	if (seq == t->next)
		t->sure_ns = start_ns;
	t->seen |= UINT64_C(1) << (seq - t->next);
	while (t->seen & 1) {
		t->seen >>= 1;
		t->next++;
	}
}

void gaps_finish(struct gaps *gaps)
{
	for (size_t i = 0; i < gaps->threads.cap; i++) {
		const struct gaps_thread *t = gaps->threads.entries[i].value;
		struct gaps_process *p = t ? &gaps->processes[t->process] : NULL;

		if (!t)
			continue;
		if (t->seen)
			note_gap(gaps, t);
		p->quiet_ns = i64_min(p->quiet_ns, t->last_ns);
	}
}

void gaps_lost(struct gaps *gaps, uint32_t process)
{
	struct gaps_process *p = &gaps->processes[process];

	/* Without any call, everything may be missing. */
	p->since_ns = i64_min(p->since_ns, p->quiet_ns == INT64_MAX ? INT64_MIN : p->quiet_ns);
}
