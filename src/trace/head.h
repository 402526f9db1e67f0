/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Builds a trace_head from facts as a reader meets them, and checks what no file is trusted with:
 * that numbers follow each other and that every index points into its table.
 */
#ifndef SLUICE_TRACE_HEAD_H
#define SLUICE_TRACE_HEAD_H

#include <stddef.h>

#include "trace/facts.h"

struct err;

#define LAYERS_MAX 64 /* of a trace: bits of a filter's mask */
#define FIELDS_MAX 16 /* of a trace: bits of activity.present */

struct head_maker {
	struct trace_head *head;
	size_t call_cap, process_cap, file_cap, aggregate_cap, loss_cap, host_cap;
	size_t statistic_cap, sample_cap, note_cap;
	/* The trace's own numbers to this build's, from its name facts; -1: not named. */
	int8_t layers[LAYERS_MAX], fields[FIELDS_MAX];
};

/* Starts an empty head: file 0 is there, texts are "", the clock counts nanoseconds. */
void head_init(struct head_maker *maker, struct trace_head *head);

/*
 * Moves the row into the head; *row is left empty, also on failure. Fails with -EBADMSG where the
 * row cannot be true; the message says why, without naming the file. A process that is already
 * there gets the row's rank, ranks and texts; where it came from stays.
 */
int head_take(struct head_maker *maker, const struct fact *fact, union fact_row *row,
	      struct err *err);

/* Stands in for processes, files and statistics whose facts were damaged, up to count of them in
 * all. */
void head_fill_processes(struct head_maker *maker, size_t count);
void head_fill_files(struct head_maker *maker, size_t count);
void head_fill_statistics(struct head_maker *maker, size_t count);

/*
 * Drops what the facts say about processes, files and statistics that are not there, and brings
 * samples into their order. Call when all are in.
 */
void head_settle(struct head_maker *maker);

/* One byte per file of the head, 1 where the glob matches its whole path or its base name. */
char *head_match_files(const struct trace_head *head, const char *glob);

#endif
