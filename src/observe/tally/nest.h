/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which calls enclose a call, found while activities stream past in the order of their start. One
 * stack per thread is kept: the chain of calls from the outermost to the latest one.
 */
#ifndef SLUICE_OBSERVE_TALLY_NEST_H
#define SLUICE_OBSERVE_TALLY_NEST_H

#include <stddef.h>

#include "trace/activity.h"

struct nest_call {
	uint64_t id;
	file_id file;
	uint16_t call;
	uint8_t layer;
};

struct nest_thread;

struct nest {
	struct nest_thread *threads; /* hash by process and thread */
	struct nest_thread *latest;  /* calls of one thread come in runs */
};

/*
 * Enters the call. Returns how many calls enclose it and sets *enclosing to them, outermost first;
 * they are valid until the next call. An enclosing call that was not seen counts as none.
 */
size_t nest_enter(struct nest *nest, const struct activity *activity,
		  const struct nest_call **enclosing);

/* A zeroed nest is empty. */
void nest_release(struct nest *nest);

#endif
