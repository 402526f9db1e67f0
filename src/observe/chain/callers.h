/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The threads of a trace by the kernel's ids, and the calls that each of them made lately: who may
 * have made a request that reached a FUSE server at some time. For fuse.c.
 */
#ifndef SLUICE_OBSERVE_CHAIN_CALLERS_H
#define SLUICE_OBSERVE_CHAIN_CALLERS_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "trace/activity.h"

struct trace_head;

/* A call that may have made requests. */
struct callers_call {
	uint64_t id, parent;
	int64_t start_ns, stop_ns;
	int64_t size, offset; /* offset -1: unknown */
	int64_t result;
	uint16_t call;
	uint8_t layer;
};

struct callers_thread {
	uint32_t process;
	int64_t tid;			/* 0: unknown */
	uint64_t device_read;		/* id of its latest read from /dev/fuse; for fuse.c */
	struct callers_call *list;	/* in the order of their starts */
	size_t count, cap, sweep;	/* sweep: the count at which old calls are dropped */
	struct callers_thread *earlier; /* with the same hash of host, namespace and id */
};

struct callers {
	const struct trace_head *head;
	uint64_t *namespaces; /* by process; 0: unknown */
	struct map tids;      /* by process and thread, as far as notes tell them */
	struct map threads;   /* struct callers_thread by process and thread */
	struct map latest;    /* struct callers_thread by hash of host, namespace and id */
};

void callers_init(struct callers *callers, const struct trace_head *head);
void callers_release(struct callers *callers);

/*
 * Adds a call to its thread, and returns the thread. Calls that ended keep_ns before this one are
 * forgotten.
 */
struct callers_thread *callers_add(struct callers *callers, const struct activity *a,
				   int64_t keep_ns);

/* The latest thread with this id in the pid namespace of the process, on its host. The others
 * follow by callers_next(). NULL: none. */
const struct callers_thread *callers_find(const struct callers *callers, uint32_t process,
					  int64_t tid);
const struct callers_thread *callers_next(const struct callers *callers, uint32_t process,
					  const struct callers_thread *thread);

/* A call of the thread that has not been forgotten; NULL: none. */
const struct callers_call *callers_call(const struct callers_thread *thread, uint64_t id);

#endif
