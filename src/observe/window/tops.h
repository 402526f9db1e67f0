/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The longest activities of a chapter, so that a list of long activities need not read the trace.
 * Adding one takes constant time on average.
 */
#ifndef SLUICE_OBSERVE_WINDOW_TOPS_H
#define SLUICE_OBSERVE_WINDOW_TOPS_H

#include <stddef.h>
#include <stdint.h>

#include "trace/activity.h"

struct top {
	struct activity activity;
	uint32_t node;
};

struct tops {
	struct top *list; /* in the order of adding */
	size_t count, cap;
	int64_t least_ns; /* all activities that are at least that long are in the list */
};

/* Keeps an activity if it may be one of the `limit` longest; the list has up to twice as many. */
void tops_add(struct tops *tops, size_t limit, const struct activity *activity, uint32_t node);

/* Moves the longest ones, at most `limit`, to `to`, and empties the list. */
void tops_take(struct tops *tops, size_t limit, struct tops *to);

void tops_init(struct tops *tops);
void tops_release(struct tops *tops);

#endif
