/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Makes activities of raw records: which file a handle is, where in it a call happened.
 *
 * Records must come in order of their start. Per process it remembers the handles that are open,
 * and a bounded number of closed ones for calls that were still running when the handle was closed.
 */
#ifndef SLUICE_OBSERVE_COLLECT_RESOLVE_H
#define SLUICE_OBSERVE_COLLECT_RESOLVE_H

#include "trace/activity.h"

struct resolver;

/* Told of each new path, once, before the first activity that names it. */
typedef void (*resolve_file)(void *arg, file_id id, const char *path);

struct resolver *resolver_new(resolve_file file, void *arg);
void resolver_free(struct resolver *resolver);

/* Introduces a process: index in the trace, its parent's or -1, its first thread, its directory. */
void resolver_process(struct resolver *resolver, uint32_t index, int32_t parent,
		      uint32_t first_thread, const char *directory);

/*
 * Of a child: its first thread is the one that forked, which has this number in the parent and had
 * begun so many calls there. What encloses a call of the child may be one of those.
 */
void resolver_forked(struct resolver *resolver, uint32_t index, uint32_t thread, uint64_t seq);

/* Fills *a from a sound record; times stay in ticks. */
void resolver_activity(struct resolver *resolver, uint32_t process, uint32_t thread,
		       const uint64_t *record, struct activity *a);

/* Takes over a file table: ids are given in the same order, and the callback is called for each. */
void resolver_file(struct resolver *resolver, const char *path);

/* Learns from an activity that was resolved by another resolver before, in the same order. */
void resolver_replay(struct resolver *resolver, const struct activity *a);

/* The file behind a LINK word of the process; 0 if it is not known. */
file_id resolver_link_file(struct resolver *resolver, uint32_t process, uint64_t link);

#endif
