/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a run did, added up in one pass: for all of it and for each rank. See report/sums.h for what
 * is counted where. Memory grows with the number of functions, files, threads and ranks, never with
 * the number of activities.
 */
#ifndef SLUICE_OBSERVE_TALLY_SUMMARY_H
#define SLUICE_OBSERVE_TALLY_SUMMARY_H

#include "observe/tally/nest.h"
#include "observe/tally/parameters.h"
#include "observe/tally/ranks.h"
#include "observe/tally/recent.h"
#include "observe/tally/sums.h"
#include "trace/format.h"

_Static_assert(LAYER_COUNT <= 8, "sets of layers have a byte");

struct summary {
	const struct trace_head *head;
	struct sums all; /* of a parallel run, its ranks: `outside` is not part of it */
	struct ranks ranks;
	struct sums *of_rank; /* as ranks.list */
	struct sums outside;  /* processes of a parallel run that are no ranks: launcher, scripts */
	bool has_aggregates;  /* then busy_ns covers only a part */
	uint8_t *ways;	      /* of each call, see report/traffic.h */
	uint8_t *file_layers; /* of each file, a bit per layer that called it */
	struct recent started;
	struct nest nest;
	struct parameters parameters; /* what became of those that the run was given */
};

/* head must outlive the summary; its aggregates are taken in here. */
void summary_init(struct summary *summary, const struct trace_head *head);
void summary_release(struct summary *summary);

/* Activities in the order of their start. */
void summary_add(struct summary *summary, const struct activity *activity);

/* Were libraries above POSIX and STDIO used? */
bool summary_has_libraries(const struct summary *summary);

enum summary_table { SUMMARY_LAYERS, SUMMARY_FUNCTIONS, SUMMARY_FILES };

/* A row of one of the summary's tables. */
struct summary_row {
	enum summary_table table;
	uint64_t key;	  /* of the row in the tables of report/sums.h, or the layer */
	const char *name; /* layer, function or path; of the head */
	uint8_t layer;
	uint8_t layers;	 /* of a file: a bit per layer */
	bool counted;	 /* name is a group of calls from aggregates */
	bool is_network; /* sockets and pipes only: its time is not I/O */
	bool is_process; /* starts or ends a process: its time is not I/O */
	const struct tally *tally;
};

/*
 * Rows by falling time (layers: as they are numbered), those without calls left out, calls that
 * start processes last. The caller frees; *count is set.
 */
struct summary_row *summary_rows(const struct summary *summary, enum summary_table table,
				 size_t *count);

/* The row's tally of one rank, by its index in ranks.list; NULL where it has none. */
const struct tally *summary_of_rank(const struct summary *summary, const struct summary_row *row,
				    size_t rank);

/* One of the tally_measures of a row over the ranks that have it. */
struct spread summary_spread(const struct summary *summary, const struct summary_row *row,
			     const struct measure *measure);

/* One of the sums_measures over all ranks. */
struct spread summary_rank_spread(const struct summary *summary, const struct measure *measure);

#endif
