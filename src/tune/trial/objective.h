/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a run is judged by: the time that its slowest rank has spent in I/O of data files, and what
 * was moved.
 *
 * A data file is one that the run wrote to, or that it used through MPI, HDF5, NetCDF or PnetCDF,
 * or of which it read a megabyte or more. Not data are: files that only a library asked for,
 * beneath another call, what a library reads at its start
 * (report/sums.h: `startup`), sockets and pipes, /proc, /sys and devices, shared libraries and
 * Python's modules, and what lies in the directory of the trial itself (its output). Should nothing
 * be left, every file counts: better an objective of small files than none.
 *
 * Time is the wall-clock time in which at least one thread of the rank was in a call of any layer
 * on a data file: calls inside others, and threads side by side, are not counted twice. All calls
 * count, from open to close: writing that was put off until then is paid there. A call that only
 * waits for an operation counts; the time in between, in which the program computes, does not.
 * Forked processes belong to their rank; without MPI every process stands for itself.
 *
 * The time of one direction is that of its transfers, and of all other calls on files that the run
 * wrote to (or did not). Bytes are those that the program asked of the highest layer, all ranks
 * together.
 */
#ifndef SLUICE_TUNE_TRIAL_OBJECTIVE_H
#define SLUICE_TUNE_TRIAL_OBJECTIVE_H

#include "observe/tally/nest.h"
#include "observe/tally/recent.h"
#include "observe/tally/summary.h"
#include "tune/trial/usage.h"

/* A file of which so much was read is data. */
#define OBJECTIVE_READ_BYTES (UINT64_C(1) << 20)

enum { OBJECTIVE_ALL, OBJECTIVE_READ, OBJECTIVE_WRITE, OBJECTIVE_TIMES };

/* Union of intervals that come by their start. */
struct objective_busy {
	int64_t ns, until_ns;
};

struct objective_rank {
	struct objective_busy busy[OBJECTIVE_TIMES];
	unsigned started; /* ways of operations it has begun */
};

struct objective {
	/* Results, after objective_end(). */
	double io_s, read_s, write_s;
	double read_bytes, write_bytes;
	uint64_t calls; /* on data files */
	uint32_t ranks; /* 0: not a parallel run */
	uint32_t nodes;
	struct usage usage;

	/* What they are made of. */
	const struct trace_head *head;
	const struct summary *summary;
	bool *is_data, *is_written;  /* by file */
	struct objective_rank *list; /* ranks, or processes */
	size_t count;
	struct recent started; /* ways of an operation under way */
	struct nest nest;
};

/*
 * The summary has seen the whole trace; it and its head must outlive the objective. asked: by file,
 * what objective_ask() found in the whole trace. directory: of the trial, NULL: none.
 */
void objective_init(struct objective *objective, const struct summary *summary, const bool *asked,
		    const char *directory);

/* Notes the files that the program itself names. asked has room for all of the head. */
void objective_ask(bool *asked, const struct trace_head *head, const struct activity *activity);

void objective_add(struct objective *objective, const struct activity *activity);
void objective_end(struct objective *objective);
void objective_release(struct objective *objective);

#endif
