/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Could the independent transfers of a run be collective? A collective call waits for all ranks
 * that opened the file, so the program would hang unless the ranks are in lockstep: between any two
 * collective operations, all ranks that opened a file together make the same transfers in the same
 * order, and no rank waits for another one to finish its transfer.
 *
 * The first condition is read from the trace: the sequence of transfers, and of operations that are
 * collective already, must be the same on all ranks, for each file and over all files together. The
 * second cannot be seen directly, because messages of the program are not recorded. If ranks take
 * turns, their transfers never overlap, and always come in the same order. So if the ranks of a
 * file can be divided into two groups such that in each round (the n-th transfer of each rank) all
 * of the first group finish before any of the second begins, the run looks serial. Short transfers
 * may look so by chance, so all reads and all writes of a file are judged together, and those of
 * files whose names differ in digits only.
 *
 * This is evidence of one run, not a proof: what a program does may depend on its input, on data
 * that it computes, or on time. So whoever uses it must limit the time of a trial.
 */
#ifndef SLUICE_TUNE_TRIAL_LOCKSTEP_H
#define SLUICE_TUNE_TRIAL_LOCKSTEP_H

#include <stdbool.h>

#include "base/map.h"
#include "observe/tally/nest.h"
#include "observe/tally/ranks.h"
#include "trace/format.h"

#define LOCKSTEP_ROUNDS 64  /* whose times are kept, per opening of a file */
#define LOCKSTEP_FILES 1024 /* open at the same time; with more there is no evidence */

/* In the order of severity. */
enum lockstep_verdict {
	LOCKSTEP_NONE, /* there are no transfers of files that several ranks opened together */
	LOCKSTEP_YES,
	LOCKSTEP_SERIAL, /* all ranks make the same transfers, but perhaps one after the other */
	LOCKSTEP_NO,
};

struct lockstep {
	enum lockstep_verdict verdict;
	char *reason; /* of SERIAL and NO, names files and ranks; else NULL */
};

void lockstep_release(struct lockstep *lockstep);

/*
 * Adds the evidence of another run of the same command, which is moved. Ranks that take turns look
 * serial in every run, so one run that does not is enough.
 */
void lockstep_join(struct lockstep *to, struct lockstep *from);

/* Is it a transfer of MPI-IO that has a collective counterpart with the same arguments? */
bool lockstep_is_transfer(const struct call_info *call);
/* Is a call with these around it made by a library that uses MPI-IO, not by the program itself? */
bool lockstep_is_in_library(const struct nest_call *enclosing, size_t depth);

/*
 * Reads the transfers of HDF5 datasets, and those of files that the program itself opens with
 * MPI-IO: the calls inside of libraries are not the program's. Memory grows with the open files
 * times the ranks.
 */
struct lockstep_reader {
	const struct trace_head *head;
	struct nest nest;
	struct ranks ranks;
	uint8_t *kinds;	    /* of each call */
	struct map objects; /* struct lockstep_object by process and id of the call that opened */
	struct map files;   /* struct lockstep_file by the collective number of its opening */
	struct map pools;   /* struct lockstep_pool by the name without digits */
	size_t open;	    /* files */
	uint64_t *orders;   /* per rank: hash of its sequence over all files */
	struct lockstep worst; /* so far, except what pools show */
};

/* head must outlive the reader. Activities are added in the order of their start. */
void lockstep_reader_init(struct lockstep_reader *reader, const struct trace_head *head);
void lockstep_reader_add(struct lockstep_reader *reader, const struct activity *activity);
/* Moves the result to *lockstep, and releases the reader. */
void lockstep_reader_end(struct lockstep_reader *reader, struct lockstep *lockstep);

#endif
