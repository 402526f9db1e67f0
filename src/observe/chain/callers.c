/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/chain/callers.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/mem.h"
#include "base/text.h"
#include "trace/format.h"

#define FIRST_SWEEP 16
#define CALLS_MAX 1024 /* of a thread; only in a damaged trace, more are in progress */

static uint64_t thread_key(uint32_t process, uint64_t thread)
{
	return ((uint64_t)process << ID_THREAD_BITS | thread) + 1;
}

static bool read_number(const char *text, uint64_t *value)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	*value = strtoull(text, &end, 10);
	return !*end;
}

static void read_note(struct callers *c, const struct note *note)
{
	uint64_t thread, value;

	if (!text_equal(note->kind, NOTE_THREAD) || note->process < 0 ||
	    (size_t)note->process >= c->head->process_count ||
	    !read_number(text_or_empty(note->value), &value))
		return;
	if (text_equal(note->name, THREAD_NAMESPACE))
		c->namespaces[note->process] = value;
	else if (read_number(text_or_empty(note->name), &thread) && thread <= ID_THREAD_MAX)
		map_put(&c->tids, thread_key((uint32_t)note->process, thread),
			(void *)(uintptr_t)value);
}

void callers_init(struct callers *c, const struct trace_head *head)
{
	*c = (struct callers){ .head = head,
			       .namespaces = xcalloc(head->process_count, sizeof(*c->namespaces)) };
	for (size_t i = 0; i < head->process_count; i++)
		c->namespaces[i] = THREAD_NAMESPACE_INITIAL;
	for (size_t i = 0; i < head->note_count; i++)
		read_note(c, &head->notes[i]);
}

void callers_release(struct callers *c)
{
	for (size_t i = 0; i < c->threads.cap; i++) {
		struct callers_thread *t = c->threads.entries[i].value;

		if (t)
			free(t->list);
		free(t);
	}
	map_release(&c->threads);
	map_release(&c->latest);
	map_release(&c->tids);
	free(c->namespaces);
	*c = (struct callers){ 0 };
}

/* By host, namespace and id. */
static uint64_t id_key(const struct callers *c, uint32_t process, int64_t tid)
{
	const char *host = c->head->processes[process].host;
	uint64_t numbers[2] = { c->namespaces[process], (uint64_t)tid };

	return XXH3_64bits_withSeed(host, strlen(host), XXH3_64bits(numbers, sizeof(numbers))) | 1;
}

static int64_t tid_of(const struct callers *c, uint32_t process, uint32_t thread)
{
	const struct process_info *p = &c->head->processes[process];
	uint64_t noted = (uintptr_t)map_get(&c->tids, thread_key(process, thread));

	if (!c->namespaces[process])
		return 0;
	if (noted)
		return noted <= INT32_MAX ? (int64_t)noted : 0;
	return thread == p->first_thread && p->pid > 0 ? p->pid : 0;
}

static struct callers_thread *add_thread(struct callers *c, const struct activity *a, uint64_t key)
{
	struct callers_thread *t = xcalloc(1, sizeof(*t));
	uint64_t id;

	t->process = a->process;
	t->tid = tid_of(c, a->process, id_thread(a->id));
	t->sweep = FIRST_SWEEP;
	map_put(&c->threads, key, t);
	if (t->tid) {
		id = id_key(c, t->process, t->tid);
		t->earlier = map_get(&c->latest, id);
		map_put(&c->latest, id, t);
	}
	return t;
}

static void forget(struct callers_thread *t, int64_t before_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->count; i++)
		if (t->list[i].stop_ns >= before_ns)
			t->list[kept++] = t->list[i];
	if (kept > CALLS_MAX) {
		memmove(t->list, t->list + kept - CALLS_MAX / 2, CALLS_MAX / 2 * sizeof(*t->list));
		kept = CALLS_MAX / 2;
	}
	t->count = kept;
	t->sweep = kept < FIRST_SWEEP / 2 ? FIRST_SWEEP : 2 * kept;
}

struct callers_thread *callers_add(struct callers *c, const struct activity *a, int64_t keep_ns)
{
	uint64_t key = thread_key(a->process, id_thread(a->id));
	struct callers_thread *t = map_get(&c->threads, key);

	if (!t)
		t = add_thread(c, a, key);
	if (t->count >= t->sweep)
		forget(t, a->start_ns - keep_ns);
	t->list = xgrow(t->list, &t->cap, t->count + 1, sizeof(*t->list));
	t->list[t->count++] = (struct callers_call){
		.id = a->id,
		.parent = a->parent,
		.start_ns = a->start_ns,
		.stop_ns = a->start_ns + a->duration_ns,
		.size = a->present & PRESENT(SIZE) ? a->size : -1,
		.offset = a->present & PRESENT(OFFSET) ? a->offset : -1,
		.result = a->result,
		.call = a->call,
		.layer = a->layer,
	};
	return t;
}

static bool is_in_namespace(const struct callers *c, const struct callers_thread *t,
			    uint32_t process)
{
	return c->namespaces[t->process] == c->namespaces[process] &&
	       !strcmp(c->head->processes[t->process].host, c->head->processes[process].host);
}

static const struct callers_thread *first_of(const struct callers *c, uint32_t process, int64_t tid,
					     const struct callers_thread *t)
{
	while (t && (t->tid != tid || !is_in_namespace(c, t, process)))
		t = t->earlier;
	return t;
}

const struct callers_thread *callers_find(const struct callers *c, uint32_t process, int64_t tid)
{
	if (!c->namespaces[process] || tid <= 0)
		return NULL;
	return first_of(c, process, tid, map_get(&c->latest, id_key(c, process, tid)));
}

const struct callers_thread *callers_next(const struct callers *c, uint32_t process,
					  const struct callers_thread *t)
{
	return first_of(c, process, t->tid, t->earlier);
}

const struct callers_call *callers_call(const struct callers_thread *t, uint64_t id)
{
	for (size_t i = t->count; i-- > 0;)
		if (t->list[i].id == id)
			return &t->list[i];
	return NULL;
}
