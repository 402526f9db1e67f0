/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/tally/nest.h"

#include <stdlib.h>

#include "base/mem.h"

struct nest_thread {
	uint64_t key;
	struct nest_call *stack;
	size_t depth, cap;
};

static struct nest_thread *thread_find(struct nest *nest, const struct activity *a)
{
	uint64_t key = ((uint64_t)a->process << 32 | id_thread(a->id)) + 1;
	struct nest_thread *thread = nest->latest;

	if (thread && thread->key == key)
		return thread;
	thread = map_get(&nest->threads, key);
	if (!thread) {
		thread = xcalloc(1, sizeof(*thread));
		thread->key = key;
		map_put(&nest->threads, key, thread);
	}
	nest->latest = thread;
	return thread;
}

size_t nest_enter(struct nest *nest, const struct activity *activity,
		  const struct nest_call **enclosing)
{
	struct nest_thread *thread = thread_find(nest, activity);
	size_t depth = activity->parent ? thread->depth : 0;

	while (depth && thread->stack[depth - 1].id != activity->parent)
		depth--;
	if (depth == thread->cap)
		thread->stack =
			xgrow(thread->stack, &thread->cap, depth + 1, sizeof(*thread->stack));
	thread->stack[depth] = (struct nest_call){
		.id = activity->id,
		.file = activity->file,
		.call = activity->call,
		.layer = activity->layer,
		.period = nest->period,
	};
	thread->depth = depth + 1;
	*enclosing = thread->stack;
	return depth;
}

void nest_mark(struct nest *nest, uint32_t node)
{
	nest->latest->stack[nest->latest->depth - 1].node = node;
}

struct nest_call *nest_enclosing(struct nest *nest)
{
	struct nest_thread *thread = nest->latest;

	return thread && thread->depth > 1 ? &thread->stack[thread->depth - 2] : NULL;
}

void nest_release(struct nest *nest)
{
	for (size_t i = 0; i < nest->threads.cap; i++) {
		struct nest_thread *thread = nest->threads.entries[i].value;

		if (thread)
			free(thread->stack);
		free(thread);
	}
	map_release(&nest->threads);
	*nest = (struct nest){ 0 };
}
