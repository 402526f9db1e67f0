/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/tally/nest.h"

#include <stdlib.h>
#include <uthash.h>

#include "base/mem.h"

struct nest_thread {
	uint64_t key;
	struct nest_call *stack;
	size_t depth, cap;
	UT_hash_handle hh;
};

static struct nest_thread *thread_find(struct nest *nest, const struct activity *a)
{
	uint64_t key = (uint64_t)a->process << 32 | id_thread(a->id);
	struct nest_thread *thread = nest->latest;

	if (thread && thread->key == key)
		return thread;
	HASH_FIND(hh, nest->threads, &key, sizeof(key), thread);
	if (!thread) {
		thread = xcalloc(1, sizeof(*thread));
		thread->key = key;
		HASH_ADD(hh, nest->threads, key, sizeof(key), thread);
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
	thread->stack = xgrow(thread->stack, &thread->cap, depth + 1, sizeof(*thread->stack));
	thread->stack[depth] = (struct nest_call){
		.id = activity->id,
		.file = activity->file,
		.call = activity->call,
		.layer = activity->layer,
	};
	thread->depth = depth + 1;
	*enclosing = thread->stack;
	return depth;
}

void nest_release(struct nest *nest)
{
	struct nest_thread *thread, *next;

	HASH_ITER(hh, nest->threads, thread, next)
	{
		HASH_DEL(nest->threads, thread);
		free(thread->stack);
		free(thread);
	}
	*nest = (struct nest){ 0 };
}
