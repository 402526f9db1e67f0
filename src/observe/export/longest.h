/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The longest activities of a trace, up to a limit. A call is never longer than the call that
 * encloses it, and of two equal ones the earlier is preferred, so the set contains the enclosing
 * calls of every call in it.
 */
#ifndef SLUICE_OBSERVE_EXPORT_LONGEST_H
#define SLUICE_OBSERVE_EXPORT_LONGEST_H

#include <stddef.h>
#include <stdint.h>

#include "trace/activity.h"

/* A zeroed one with max set is empty. */
struct longest {
	size_t max;
	struct activity *list; /* a heap until longest_sort(); the least important is the first */
	size_t count, cap;
	uint64_t dropped;
	int64_t dropped_ns; /* the longest of those that were dropped; 0: none */
};

void longest_release(struct longest *longest);
void longest_add(struct longest *longest, const struct activity *activity);

/* Sorts the list by activity_compare(). Nothing may be added afterwards. */
void longest_sort(struct longest *longest);

#endif
