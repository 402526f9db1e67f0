/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The access profile of a run: its collective accesses in the form that the model counts
 * (predict/model/access.h). They are found in the MPI-IO calls of all ranks, whether the program,
 * HDF5 or NetCDF made them. Equal calls are one row; the time of a program is the sum over the rows
 * of calls times the time of one call.
 *
 * Each call is approximated by the nearest form of the model: equal shares of all ranks, either
 * contiguous or interleaved. If a rank's data is in pieces that are not recorded one by one, the
 * size of a piece follows from the extent of a rank's data and the distance between ranks.
 */
#ifndef SLUICE_TUNE_TRIAL_ACCESS_PROFILE_H
#define SLUICE_TUNE_TRIAL_ACCESS_PROFILE_H

#include "base/map.h"
#include "observe/tally/ranks.h"
#include "predict/model/access.h"
#include "trace/format.h"

/* Rows of a finished profile. The calls of further rows are added to the most similar one. */
#define ACCESS_PROFILE_ROWS 8

struct access_profile_row {
	struct access access;
	double calls; /* equal calls; similar calls that were added count by their bytes */
	char *file;   /* of the first call; NULL: unknown */
	char *hints;  /* that the program itself sets, KEY=VALUE;...; NULL: none */
};

/* Zero-initialized is empty. Rows are sorted by falling bytes. */
struct access_profile {
	struct access_profile_row *rows;
	size_t count, cap;
};

void access_profile_release(struct access_profile *profile);
void access_profile_copy(struct access_profile *to, const struct access_profile *from);

/* Bytes of all calls together. */
double access_profile_bytes(const struct access_profile *profile);

/* Adds the hints that the program sets to the set, as far as they are tunable parameters. */
struct param_set;
void access_profile_row_hints(const struct access_profile_row *row, struct param_set *set);

/* Reads a trace. -ENODATA if it has no collective accesses. */
int access_profile_read_trace(struct access_profile *profile, const char *trace, struct err *err);

/* As JSON, which is saved with a plan; the caller frees it. parse leaves *profile untouched on
 * failure. */
char *access_profile_write(const struct access_profile *profile);
int access_profile_parse(struct access_profile *profile, const char *text, struct err *err);

/* Builds a profile from activities, for a caller that reads the trace anyway. */
struct access_profiler {
	const struct trace_head *head;
	struct access_profile profile;
	struct ranks ranks;
	uint8_t *ways;	    /* per call: traffic_table() */
	file_id *hints;	    /* per file: hints of its open; 0: none */
	struct map calls;   /* struct access_profiler_call by collective number */
	uint64_t *order;    /* ring of the numbers of open calls, oldest first */
	size_t first, open; /* of the ring */
};

/* head must outlive the profiler. Activities are added in the order of their start. */
void access_profiler_init(struct access_profiler *profiler, const struct trace_head *head);
void access_profiler_add(struct access_profiler *profiler, const struct activity *activity);
/* Moves the result, which may be empty, to *profile, and releases the profiler. */
void access_profiler_end(struct access_profiler *profiler, struct access_profile *profile);

#endif
