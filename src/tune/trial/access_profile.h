/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The collective accesses of a recorded run, as a model of them counts (predict/model/access.h):
 * from the MPI-IO calls of all ranks, whoever made them (the program, HDF5, NetCDF). Calls that are
 * alike are one row; what a program spends in them is the sum over rows of calls times the time of
 * one.
 *
 * A call is brought to the nearest form that there is: equal shares of all ranks, side by side or
 * in turns. Of pieces that are not told one by one, the block follows from how far a rank's data
 * reaches and how far ranks are apart.
 */
#ifndef SLUICE_TUNE_TRIAL_ACCESS_PROFILE_H
#define SLUICE_TUNE_TRIAL_ACCESS_PROFILE_H

#include "base/map.h"
#include "observe/tally/ranks.h"
#include "predict/model/access.h"
#include "trace/format.h"

#define ACCESS_PROFILE_ROWS 8 /* at the end; smaller ones join the most similar */

struct access_profile_row {
	struct access access;
	double calls; /* like this; others that have joined count by their bytes */
	char *file;   /* of the first; NULL: unknown */
	char *hints;  /* that the program itself passes, KEY=VALUE;...; NULL: none */
};

/* Zero-initialised is empty. Rows by falling bytes. */
struct access_profile {
	struct access_profile_row *rows;
	size_t count, cap;
};

void access_profile_release(struct access_profile *profile);
void access_profile_copy(struct access_profile *to, const struct access_profile *from);

/* Of all calls together. */
double access_profile_bytes(const struct access_profile *profile);

/* The hints that the program passes, as far as they are parameters; adds to the set. */
struct param_set;
void access_profile_row_hints(const struct access_profile_row *row, struct param_set *set);

/* From a trace. -ENODATA where it has no collective accesses, with a sentence. */
int access_profile_read_trace(struct access_profile *profile, const char *trace, struct err *err);

/* As JSON, to be kept with a plan; the caller frees. accessed is untouched on failure. */
char *access_profile_write(const struct access_profile *profile);
int access_profile_parse(struct access_profile *profile, const char *text, struct err *err);

/* For who reads a trace anyway: one that is under way. */
struct access_profiler {
	const struct trace_head *head;
	struct access_profile profile;
	struct ranks ranks;
	uint8_t *ways;	    /* of calls */
	file_id *hints;	    /* by file: those it was opened with; 0: none */
	struct map calls;   /* struct access_profiler_call by collective number */
	uint64_t *order;    /* their numbers as they came, a ring of room */
	size_t first, open; /* of order */
};

/* head must outlive it. Activities come in the order of their start. */
void access_profiler_init(struct access_profiler *profiler, const struct trace_head *head);
void access_profiler_add(struct access_profiler *profiler, const struct activity *activity);
/* What there was, which may be nothing; accessing is released. */
void access_profiler_end(struct access_profiler *profiler, struct access_profile *profile);

#endif
