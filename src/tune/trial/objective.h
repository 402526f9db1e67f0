/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The figures that a run is judged by: the time that its slowest rank spends in I/O on data files,
 * and the bytes that it moves.
 *
 * A data file is a file that the run wrote to, that it used through MPI, HDF5, NetCDF or PnetCDF,
 * or of which it read a megabyte or more. These are not data files: files that only a library opens
 * inside another call, files that a library reads at its start (observe/tally/sums.h: `startup`),
 * sockets and pipes, /proc, /sys and devices, shared libraries and Python modules, files that an MPI
 * uses for itself, and files in the runner's scratch directory. If no file is left, all files count:
 * an objective over small files is better than none.
 *
 * I/O time is the wall-clock time during which at least one thread of the rank is in a call of any
 * layer on a data file, from open to close. Nested calls and parallel threads do not count twice.
 * Deferred writes are paid in the call that waits for them. The time between the start of an
 * operation and the wait for it, in which the program computes, does not count. A forked process
 * belongs to its rank; without MPI each process counts as a rank.
 *
 * The time of one direction is the time of its transfers, plus all other calls on files that the
 * run wrote to (for writing) or did not write to (for reading). Bytes are those that the program
 * requests at the highest layer, summed over all ranks.
 * Papers: GA-2, HYB-1.
 */
#ifndef SLUICE_TUNE_TRIAL_OBJECTIVE_H
#define SLUICE_TUNE_TRIAL_OBJECTIVE_H

#include "observe/tally/nest.h"
#include "observe/tally/recent.h"
#include "observe/tally/summary.h"
#include "tune/trial/usage.h"

/* A file of which at least this much was read is a data file. */
#define OBJECTIVE_READ_BYTES (UINT64_C(1) << 20)

enum { OBJECTIVE_ALL, OBJECTIVE_READ, OBJECTIVE_WRITE, OBJECTIVE_TIMES };

/* Length of the union of intervals, which are added in the order of their start. */
struct objective_busy {
	int64_t ns, until_ns;
};

struct objective_rank {
	struct objective_busy busy[OBJECTIVE_TIMES];
	unsigned started; /* directions of the operations it has started */
};

struct objective {
	/* Results, valid after objective_end(). */
	double io_s, read_s, write_s;
	double read_bytes, write_bytes;
	uint64_t calls; /* on data files */
	uint32_t ranks; /* 0: not a parallel run */
	uint32_t nodes;
	struct usage usage;

	/* State. */
	const struct trace_head *head;
	const struct summary *summary;
	bool *is_data, *is_written;  /* by file */
	struct objective_rank *list; /* ranks, or processes */
	size_t count;
	struct recent started; /* direction of each operation under way */
	struct nest nest;
};

/*
 * The summary must be of the whole trace; it and its head must outlive the objective. asked: per
 * file, as objective_mark_named() found for the whole trace. directory: the scratch directory of
 * the runner; NULL: none.
 */
void objective_init(struct objective *objective, const struct summary *summary, const bool *asked,
		    const char *directory);

/* Can this path be a data file at all? directory as above. */
bool objective_may_be_data(const char *path, const char *directory);

/* Marks the files that the program itself names, not a library. asked has room for all files. */
void objective_mark_named(bool *asked, const struct trace_head *head,
			  const struct activity *activity);

void objective_add(struct objective *objective, const struct activity *activity);
void objective_end(struct objective *objective);
void objective_release(struct objective *objective);

/* What else is done with a trace while it is read. All functions but end are optional. */
struct objective_visitor {
	/* Shall the trace be read at all? */
	bool (*accepts)(void *arg, const struct trace_head *head);
	/* Before the second pass; asked as for objective_init(). */
	void (*begin)(void *arg, const struct objective *objective, const bool *asked);
	/* Each activity of the second pass. */
	void (*add)(void *arg, const struct objective *objective, const struct activity *activity);
	/* After the second pass; its arguments are not valid later. Unless is_complete, reading has
	 * failed, and there are no results. */
	void (*end)(void *arg, const struct objective *objective, bool is_complete);
	void *arg;
};

/* Reads a trace twice: the first pass finds the data files, the second one the figures. */
int objective_read(const char *trace, const char *directory,
		   const struct objective_visitor *visitor, struct err *err);

#endif
