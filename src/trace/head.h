/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Builds a trace_head from the facts that a reader finds. Files are not trusted: the functions
 * check that numbers are consecutive and that every index is valid for its table.
 */
#ifndef SLUICE_TRACE_HEAD_H
#define SLUICE_TRACE_HEAD_H

#include <stddef.h>

#include "trace/facts.h"

struct err;

#define LAYERS_MAX 64 /* layers of a trace; one bit each in a filter's mask */
#define FIELDS_MAX 16 /* fields of a trace; one bit each in activity.present */

/*
 * Limits of the numbers of facts: counts of calls or threads, and the magnitude of times (146
 * years) and of bytes. No run reaches them; a file with larger numbers is damaged or hostile.
 */
#define HEAD_COUNT_MAX (UINT64_C(1) << 53)
#define HEAD_TIME_MAX (INT64_C(1) << 62)

struct head_builder {
	struct trace_head *head;
	size_t call_cap, process_cap, file_cap, aggregate_cap, loss_cap, host_cap;
	size_t usage_cap, flow_cap;
	size_t statistic_cap, sample_cap, note_cap;
	/* Numbers of this build by those of the trace, from its name facts; -1: unknown. */
	int8_t layers[LAYERS_MAX], fields[FIELDS_MAX];
};

/* Starts a head that has only file 0; its texts are "" and its clock counts nanoseconds. */
void head_init(struct head_builder *builder, struct trace_head *head);

/*
 * Moves the row into the head; *row is empty afterwards, even on failure. Fails with -EBADMSG if
 * the row is invalid; the message does not name the file. A process that exists already takes the
 * rank, ranks and texts of the row.
 */
int head_add(struct head_builder *builder, const struct fact *fact, union fact_row *row,
	     struct err *err);

/* Add placeholders for facts of damaged blocks, until there are `count` of the kind. */
void head_fill_processes(struct head_builder *builder, size_t count);
void head_fill_files(struct head_builder *builder, size_t count);
void head_fill_statistics(struct head_builder *builder, size_t count);

/*
 * Removes facts that refer to missing processes, files or statistics, and sorts samples. Call it
 * after the last fact.
 */
void head_finish(struct head_builder *builder);

void head_release(struct trace_head *head);

/*
 * Returns one byte per file: 1 if the glob matches its whole path or its base name. The caller
 * frees the array.
 */
char *head_match_files(const struct trace_head *head, const char *glob);

#endif
