/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a run did, added up in one pass: by layer, by function and by file. Memory grows with the
 * number of functions, files and threads, never with the number of activities.
 *
 * A call inside another one is part of its time. So nothing is added up twice:
 * - the run counts calls that no other call encloses (a thread's own time in I/O),
 * - a layer, a function, a file counts time and bytes of a call only if no enclosing call belongs
 * to the same layer, function, file. Calls are always counted.
 */
#ifndef SLUICE_OBSERVE_REPORT_SUMMARY_H
#define SLUICE_OBSERVE_REPORT_SUMMARY_H

#include "observe/report/nest.h"
#include "trace/format.h"

struct tally {
	uint64_t calls, errors;
	uint64_t bytes_read, bytes_written;
	int64_t time_ns;          /* summed over threads */
	uint64_t transfers;       /* calls that moved bytes, */
	int64_t transfer_ns;      /* and their time */
};

struct summary {
	const struct trace_head *head;
	struct tally run;         /* storage only: POSIX and STDIO */
	struct tally network;     /* the same for sockets and pipes, which mostly wait for others */
	int64_t busy_ns; /* wall-clock time in which at least one thread was in storage I/O */
	int64_t busy_until_ns;
	struct tally layers[LAYER_COUNT];
	struct tally *functions;  /* [call * LAYER_COUNT + layer] */
	struct tally counted[GROUP_COUNT]
			    [LAYER_COUNT]; /* from aggregates: calls without a record */
	struct tally *files;      /* [file_id]; 0 is what has no known file */
	bool has_aggregates;      /* then busy_ns covers only a part */
	struct nest nest;
};

/* head must outlive the summary; its aggregates are taken in here. */
void summary_init(struct summary *summary, const struct trace_head *head);
void summary_release(struct summary *summary);

/* Activities in the order of their start. */
void summary_add(struct summary *summary, const struct activity *activity);

/* A row of the summary's tables, for sorting. */
struct summary_row {
	const char *name;         /* function or path; of the head */
	uint8_t layer;
	bool counted;             /* name is a group of calls from aggregates */
	const struct tally *tally;
};

/* Rows by falling time, those without calls left out. The caller frees; *count is set. */
struct summary_row *summary_functions(const struct summary *summary, size_t *count);
struct summary_row *summary_files(const struct summary *summary, size_t *count);

#endif
