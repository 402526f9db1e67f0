/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The ranks of a parallel run: which process belongs to which, and how a number differs between
 * them. This is SIOX's MPIReporter, done after the run and without a message.
 */
#ifndef SLUICE_OBSERVE_TALLY_RANKS_H
#define SLUICE_OBSERVE_TALLY_RANKS_H

#include <stddef.h>
#include <stdint.h>

#include "observe/tally/measure.h"

struct buf;
struct json;
struct trace_head;

struct rank_info {
	int32_t number;	  /* in MPI_COMM_WORLD */
	const char *host; /* of the trace's head */
};

struct ranks {
	struct rank_info *list; /* by rising number */
	size_t count;		/* 0: the run was not parallel */
	int32_t *of_process;	/* index in list, -1: not a rank's */
	size_t process_count;
	size_t hosts; /* that have ranks */
	size_t world; /* the size of the largest MPI_COMM_WORLD; 0 where it is not known */
};

/*
 * A process forked by a rank belongs to it. Runs of a script that start several parallel programs
 * have several processes of one rank: they are put together. head must outlive the ranks.
 */
void ranks_init(struct ranks *ranks, const struct trace_head *head);
void ranks_release(struct ranks *ranks);

/* Index in ranks->list of the rank that the process belongs to; -1: the launcher, a script. */
int32_t ranks_of_process(const struct ranks *ranks, uint32_t process);

/* A number over ranks. Zeroed is over none. */
struct spread {
	double sum, minimum, maximum;
	int32_t minimum_rank, maximum_rank; /* the lowest of those that have it */
	size_t count;
};

/* NAN is left out. Ranks come by rising number. */
void spread_add(struct spread *spread, int32_t rank, double value);

double spread_average(const struct spread *spread);

/* "(average,minimum,maximum)", each as %g, as SIOX prints it. */
void spread_format(struct buf *out, const struct spread *spread);

/* An object with the ranks that have the extremes. */
void spread_json(struct json *json, const char *key, const struct spread *spread);

#endif
