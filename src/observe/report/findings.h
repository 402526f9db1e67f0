/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The notes of a trace put together: numbers that several processes gave under one name become one
 * finding with its spread, texts that say the same become one with a count.
 */
#ifndef SLUICE_OBSERVE_REPORT_FINDINGS_H
#define SLUICE_OBSERVE_REPORT_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "observe/tally/ranks.h"
#include "trace/format.h"

struct finding {
	const struct note *first; /* in the order they were written */
	size_t count;		  /* notes that are in it */
	bool is_number;
	double sum;
	/*
	 * Of numbers: over the ranks that gave it; over processes where no rank did, and over nodes
	 * where no process did.
	 */
	struct spread spread;
};

/*
 * The findings of a kind (NOTE_*), in the order of their first notes. A process that gives a number
 * twice under one name makes two findings of it. ranks may have none. The caller frees; the head
 * must outlive them.
 */
struct finding *findings_new(const struct trace_head *head, const struct ranks *ranks,
			     const char *kind, size_t *count);

/* That of a source and name; NULL where there is none. */
const struct finding *findings_find(const struct finding *findings, size_t count,
				    const char *source, const char *name);

/* Texts of a note are never NULL here. */
const char *finding_source(const struct finding *finding);
const char *finding_name(const struct finding *finding);
const char *finding_value(const struct finding *finding);

#endif
