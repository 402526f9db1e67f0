/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finds the calls that enclose a call while activities arrive in the order of their start. It keeps
 * one stack per thread: the chain of calls from the outermost to the latest one.
 */
#ifndef SLUICE_OBSERVE_TALLY_NEST_H
#define SLUICE_OBSERVE_TALLY_NEST_H

#include <stddef.h>

#include "base/map.h"
#include "trace/activity.h"

struct nest_call {
	uint64_t id;
	file_id file;
	uint16_t call;
	uint8_t layer;
	uint32_t node;	 /* free for the owner of the nest, see nest_mark() */
	uint32_t period; /* that of the nest when the call was entered; free for the owner */
};

struct nest_thread;

struct nest {
	struct map threads;	    /* struct nest_thread by process and thread */
	struct nest_thread *latest; /* consecutive activities often belong to the same thread */
	uint32_t period;	    /* free for the owner, to tell old calls from new ones */
};

/*
 * Enters the call. Returns the number of calls that enclose it and sets *enclosing to them,
 * outermost first; they stay valid until the next nest_enter(). An enclosing call that is missing
 * from the trace does not count.
 */
size_t nest_enter(struct nest *nest, const struct activity *activity,
		  const struct nest_call **enclosing);

/* Stores a number in the call that was entered last, for those that it encloses. */
void nest_mark(struct nest *nest, uint32_t node);

/* The call that directly encloses the one that was entered last; NULL if there is none. */
struct nest_call *nest_enclosing(struct nest *nest);

/* A zeroed nest is empty. */
void nest_release(struct nest *nest);

#endif
