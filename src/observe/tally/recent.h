/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What is remembered of calls until later calls refer to them: an operation under way, a file that
 * is open. Of fixed capacity, so that calls that are never referred to again (their close or wait
 * was lost) cannot fill the memory: the oldest is forgotten first.
 */
#ifndef SLUICE_OBSERVE_TALLY_RECENT_H
#define SLUICE_OBSERVE_TALLY_RECENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A call, named by the process that made it and its id. */
struct call_ref {
	uint32_t process;
	uint64_t id; /* 0: none */
};

struct recent_entry;

struct recent {
	struct recent_entry *entries; /* hash by process and id, in the order they were put */
	size_t count, cap, value_bytes;
};

void recent_init(struct recent *recent, size_t cap, size_t value_bytes);
void recent_release(struct recent *recent); /* accepts a zeroed one */

/* NULL where it is not remembered. */
void *recent_find(const struct recent *recent, struct call_ref call);

/* A zeroed value for a call that is not remembered yet. Valid until it is dropped or forgotten. */
void *recent_put(struct recent *recent, struct call_ref call);

void recent_drop(struct recent *recent, struct call_ref call);

#endif
