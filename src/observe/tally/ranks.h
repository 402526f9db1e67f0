/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The ranks of a parallel run: which process belongs to which rank, and how a number differs
 * between ranks. It corresponds to SIOX's MPIReporter, but works after the run and without
 * messages.
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
	int32_t number;	  /* rank in MPI_COMM_WORLD */
	const char *host; /* owned by the trace's head */
};

struct ranks {
	struct rank_info *list; /* sorted by number */
	size_t count;		/* 0: the run was not parallel */
	int32_t *of_process;	/* index in list; -1: the process belongs to no rank */
	size_t process_count;
	size_t hosts; /* hosts with at least one rank */
	size_t world; /* size of the largest MPI_COMM_WORLD; 0: unknown */
	char **names; /* of hosts, if they do not belong to the trace's head; else NULL */
	size_t name_count;
};

/*
 * A process that a rank forked belongs to that rank. If a script starts several parallel programs,
 * several processes have the same rank; they are combined. head must outlive the ranks.
 */
void ranks_init(struct ranks *ranks, const struct trace_head *head);
void ranks_release(struct ranks *ranks);

/*
 * Replaces the list by one that was saved, because the head has not the processes of all ranks.
 * Takes over the list and the names, which are the hosts of its ranks.
 */
void ranks_replace(struct ranks *ranks, const struct trace_head *head, struct rank_info *list,
		   size_t count, char **names, size_t name_count);

/*
 * Returns the index in ranks->list of the rank that the process belongs to, or -1 for a launcher or
 * script.
 */
int32_t ranks_of_process(const struct ranks *ranks, uint32_t process);

/* Where the ranks of two lists are in their union. */
struct ranks_union {
	size_t *first, *second; /* index in the union for each rank of the lists */
	size_t common;		/* ranks that are in both */
};

/*
 * Adds the ranks of another part of the job, whose processes get numbers from process_base on.
 * Hosts are taken to differ; the names of the new ones still belong to `other`. Processes beyond
 * process_count belong to no rank. The caller frees the arrays of the result.
 */
struct ranks_union ranks_merge(struct ranks *ranks, const struct ranks *other, size_t process_base,
			       size_t process_count);

/* Distribution of a number over ranks. A zeroed spread is empty. */
struct spread {
	double sum, minimum, maximum;
	int32_t minimum_rank, maximum_rank; /* the lowest rank with that value */
	size_t count;
};

/* Ignores NAN. Add ranks in ascending order. */
void spread_add(struct spread *spread, int32_t rank, double value);

/* Adds the distribution over other ranks. */
void spread_merge(struct spread *spread, const struct spread *other);

double spread_average(const struct spread *spread);

/* Appends "(average,minimum,maximum)", each formatted as %g, as SIOX prints it. */
void spread_format(struct buf *out, const struct spread *spread);

/* Writes an object that includes the ranks with the extreme values. */
void spread_json(struct json *json, const char *key, const struct spread *spread);

#endif
