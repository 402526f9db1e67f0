/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Remembers calls until later calls refer to them, such as an operation in progress or an open
 * file. The capacity is fixed, so calls that are never referred to again (because their close or
 * wait was lost) cannot exhaust the memory: the oldest call is dropped first.
 */
#ifndef SLUICE_OBSERVE_TALLY_RECENT_H
#define SLUICE_OBSERVE_TALLY_RECENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A call, identified by its process and id. */
struct call_ref {
	uint32_t process;
	uint64_t id; /* 0: none */
};

struct recent_entry;

/* Calls that are found without a search. */
enum { RECENT_LATEST = 64 };

struct recent {
	struct recent_entry *entries; /* hash by process and id, in order of insertion */
	struct recent_entry *latest[RECENT_LATEST]; /* found or inserted last, by hash */
	size_t count, cap, value_bytes;
};

void recent_init(struct recent *recent, size_t cap, size_t value_bytes);
void recent_release(struct recent *recent); /* accepts a zeroed object */

/* NULL if the call is not remembered. */
void *recent_find(struct recent *recent, struct call_ref call);

/*
 * Returns a zeroed value for a call that is not remembered yet. It is valid until the call is
 * dropped.
 */
void *recent_put(struct recent *recent, struct call_ref call);

void recent_drop(struct recent *recent, struct call_ref call);

#endif
