/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Turns raw records into activities: finds the file of a handle and the position of a call in it.
 *
 * Records must come in order of their start. For each process it remembers the open handles, and a
 * bounded number of closed ones for calls that were still running when the handle was closed. The
 * handles of a process that has ended are kept for a while, because a child may still use them.
 * Memory is bounded by NAMES_MAX of names.h and HANDLES_MAX; resolver_counts() tells what exceeded
 * these limits.
 */
#ifndef SLUICE_OBSERVE_COLLECT_RESOLVE_H
#define SLUICE_OBSERVE_COLLECT_RESOLVE_H

#include "trace/activity.h"

struct names;
struct resolver;

/* Limit of handles of all processes together. Calls on further handles lack their file. */
#define HANDLES_MAX 196608u

struct resolver_counts {
	uint64_t names_over;   /* names of calls that were replaced by NAMES_OTHER */
	uint64_t handles_over; /* handles beyond the limit */
};

/* Called once for each new path, before the first activity that refers to it. */
typedef void (*resolve_file)(void *arg, file_id id, const char *path);

struct resolver *resolver_new(resolve_file file, void *arg);
void resolver_free(struct resolver *resolver);

/*
 * Adds a process: its index in the trace, its parent's index or -1, its first thread, and its
 * working directory.
 */
void resolver_process(struct resolver *resolver, uint32_t index, int32_t parent,
		      uint32_t first_thread, const char *directory);

/*
 * For a forked child: its first thread is the one that forked, which has this number in the parent
 * and had begun `seq` calls there. One of those may enclose a call of the child.
 */
void resolver_forked(struct resolver *resolver, uint32_t index, uint32_t thread, uint64_t seq);

/* The process has ended: no records of it follow. */
void resolver_ended(struct resolver *resolver, uint32_t index);

/* The names of all files so far. */
const struct names *resolver_names(const struct resolver *resolver);

struct resolver_counts resolver_counts(const struct resolver *resolver);

/* Fills *a from a valid record. Its times stay in ticks; read them with the functions below. */
void resolver_activity(struct resolver *resolver, uint32_t process, uint32_t thread,
		       const uint64_t *record, struct activity *a);

/*
 * The times of a resolved activity. struct activity has no fields for ticks, so start_ns and
 * duration_ns hold them until a reader or intake.c converts them.
 */
static inline uint64_t resolved_start_ticks(const struct activity *a)
{
	return (uint64_t)a->start_ns;
}

static inline uint64_t resolved_duration_ticks(const struct activity *a)
{
	return (uint64_t)a->duration_ns;
}

/*
 * Adds a file of an existing trace: ids are assigned in the same order, and the callback is called
 * for each.
 */
void resolver_file(struct resolver *resolver, const char *path);

/* Learns from an activity that another resolver produced, in the same order. */
void resolver_replay(struct resolver *resolver, const struct activity *a);

/* Returns the file behind a LINK word of the process; 0 if it is unknown. */
file_id resolver_link_file(struct resolver *resolver, uint32_t process, uint64_t link);

#endif
