/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Combines the notes of a trace: numbers that several processes report under one name become one
 * group with its distribution, and equal texts become one group with a count.
 */
#ifndef SLUICE_OBSERVE_REPORT_NOTE_GROUPS_H
#define SLUICE_OBSERVE_REPORT_NOTE_GROUPS_H

#include <stdbool.h>
#include <stddef.h>

#include "observe/tally/ranks.h"
#include "trace/format.h"

struct json;

struct note_group {
	const struct note *first; /* the first of its notes */
	size_t count;		  /* number of its notes */
	bool is_number;
	double sum;
	/*
	 * Distribution of numbers: over the ranks that reported it; over processes if no rank did,
	 * and over nodes if no process did.
	 */
	struct spread spread;
};

/*
 * Returns the groups of a kind (NOTE_*), in the order of their first notes. A process that
 * reports a number twice under one name causes two groups. ranks may be empty. The caller frees
 * them; the head must outlive them.
 */
struct note_group *note_groups_new(const struct trace_head *head, const struct ranks *ranks,
				   const char *kind, size_t *count);

/* Returns the group of a source and name, or NULL. */
const struct note_group *note_groups_find(const struct note_group *groups, size_t count,
					  const char *source, const char *name);

/* Adds the groups of a kind to the open JSON object, as a list with this key. */
void note_groups_json(struct json *json, const char *key, const struct trace_head *head,
		      const struct ranks *ranks, const char *kind);

/* These texts are never NULL. */
const char *note_group_source(const struct note_group *group);
const char *note_group_name(const struct note_group *group);
const char *note_group_value(const struct note_group *group);

#endif
