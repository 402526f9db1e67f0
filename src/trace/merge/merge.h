/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Merges the traces that the collectors of a parallel run have written, one per node, into one
 * trace.
 *
 * Parts of one host share a clock. The clocks of different hosts are aligned by calls that no rank
 * can leave before all have entered (MPI_Init, MPI_Finalize, collective opens and closes): each
 * such call bounds the difference of two clocks from both sides. This needs no communication during
 * the run. If hosts have no such call in common, the time of day is used, with a correction if the
 * caller knows one.
 */
#ifndef SLUICE_TRACE_MERGE_MERGE_H
#define SLUICE_TRACE_MERGE_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct trace_format;
struct trace_watch;

/* Totals over all parts. */
struct merge_totals {
	uint64_t activities;
	uint64_t processes;
	uint64_t damaged_blocks; /* skipped; if there are any, the merged trace is not complete */
	uint64_t cut_off;	 /* parts that their collector did not finish */
};

/* What is to be added to the time of day of a host whose clock nothing else aligns. */
struct merge_correction {
	char *host;
	int64_t offset_ns;
	int64_t error_ns; /* maximum error of the corrected times */
};

struct merge_corrections {
	const struct merge_correction *list;
	size_t count;
};

/*
 * Merges count >= 1 traces of any form into a new one at path. The file appears complete or not at
 * all. Processes, files, calls and statistics are renumbered. The run facts are those of the part
 * that started first, except for a uuid of its own and the commands of all runs. The merged trace
 * is complete if all parts are; its exit status is the first one that is not 0. Memory grows with
 * the number of processes, files and collective calls between hosts, not with that of activities.
 * corrections, totals and watch may be NULL.
 */
int trace_merge(const char *const *parts, size_t count, const struct trace_format *form,
		const char *path, const struct merge_corrections *corrections,
		struct merge_totals *totals, const struct trace_watch *watch, struct err *err);

/*
 * Fails with -EINVAL if the traces are not parts of one job: their uuids differ, they did not run
 * at the same time, or one is given twice. different_runs: their uuids may differ.
 */
int trace_merge_check(const char *const *parts, size_t count, bool different_runs, struct err *err);

#endif
