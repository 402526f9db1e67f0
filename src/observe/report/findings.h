/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Combines the notes of a trace: numbers that several processes report under one name become one
 * finding with its distribution, and equal texts become one finding with a count.
 */
#ifndef SLUICE_OBSERVE_REPORT_FINDINGS_H
#define SLUICE_OBSERVE_REPORT_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "observe/tally/ranks.h"
#include "trace/format.h"

struct json;

struct finding {
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
 * Returns the findings of a kind (NOTE_*), in the order of their first notes. A process that
 * reports a number twice under one name causes two findings. ranks may be empty. The caller frees
 * them; the head must outlive them.
 */
struct finding *findings_new(const struct trace_head *head, const struct ranks *ranks,
			     const char *kind, size_t *count);

/* Returns the finding of a source and name, or NULL. */
const struct finding *findings_find(const struct finding *findings, size_t count,
				    const char *source, const char *name);

/* Adds the findings of a kind to the open JSON object, as a list with this key. */
void findings_json(struct json *json, const char *key, const struct trace_head *head,
		   const struct ranks *ranks, const char *kind);

/* These texts are never NULL. */
const char *finding_source(const struct finding *finding);
const char *finding_name(const struct finding *finding);
const char *finding_value(const struct finding *finding);

#endif
