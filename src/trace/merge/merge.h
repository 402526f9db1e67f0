/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One trace of several: the parts that the collectors of a parallel run have written, one per node.
 *
 * Parts of one host share a clock. Between hosts the clocks are brought together by calls that no
 * rank can leave before all have entered (MPI_Init, MPI_Finalize, collective opens and closes):
 * each such call bounds the difference of two clocks from both sides. Nothing was sent for it while
 * the program ran. Where hosts have no such call in common, the time of day has to do.
 */
#ifndef SLUICE_TRACE_MERGE_MERGE_H
#define SLUICE_TRACE_MERGE_MERGE_H

#include <stddef.h>
#include <stdint.h>

struct err;
struct trace_format;

/* What merging came upon. */
struct merge_totals {
	uint64_t activities;
	uint64_t processes;
	uint64_t damaged_blocks; /* skipped in the parts; the merged trace then is not complete */
	uint64_t cut_off;	 /* parts whose collector did not live to complete them */
};

/*
 * Merges count >= 1 traces of any form into a new one at path, which appears whole or not at all.
 * Processes, files, calls and statistics are numbered anew; run facts are those of the part that
 * began first, but for a uuid of its own; the merged trace is complete if all parts are, its exit
 * status the first that is not 0. Memory grows with the number of processes, files and collective
 * calls between hosts, not with that of activities. totals may be NULL.
 */
int trace_merge(const char *const *parts, size_t count, const struct trace_format *form,
		const char *path, struct merge_totals *totals, struct err *err);

/*
 * Fails with -EINVAL and a sentence if these are not parts of one job: they differ in uuid, did not
 * run at the same time, or one is given twice.
 */
int trace_merge_check(const char *const *parts, size_t count, struct err *err);

#endif
