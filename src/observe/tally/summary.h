/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Totals of a run and of each rank, computed in one pass over the activities. observe/tally/sums.h
 * defines what each total includes. Memory grows with the number of functions, files, threads and
 * ranks, never with the number of activities.
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
	struct sums all; /* in a parallel run: all ranks, without `outside` */
	struct ranks ranks;
	struct sums *of_rank; /* same order as ranks.list */
	struct sums
		outside; /* processes of a parallel run that belong to no rank: launcher, scripts */
	bool has_aggregates;  /* if so, busy_ns covers only the recorded calls */
	uint8_t *ways;	      /* for each call, see observe/tally/traffic.h */
	uint8_t *file_layers; /* for each file, one bit per layer that accessed it */
	struct recent started;
	struct nest nest;
	struct parameters parameters; /* what happened to the parameters of the run */
};

/* head must outlive the summary. Its aggregates are added at once. */
void summary_init(struct summary *summary, const struct trace_head *head);
void summary_release(struct summary *summary);

/* Activities must come in the order of their start. */
void summary_add(struct summary *summary, const struct activity *activity);

/* Did the run use libraries above POSIX and STDIO? */
bool summary_has_libraries(const struct summary *summary);

enum summary_table { SUMMARY_LAYERS, SUMMARY_FUNCTIONS, SUMMARY_FILES };

/* A row of one of the summary's tables. */
struct summary_row {
	enum summary_table table;
	uint64_t key;	  /* key in the tables of observe/tally/sums.h, or the layer */
	const char *name; /* layer, function or path; owned by the head */
	uint8_t layer;
	uint8_t layers;	 /* for a file: one bit per layer */
	bool counted;	 /* name is a group of calls that were counted but not recorded */
	bool is_network; /* sockets and pipes only; the time is not I/O time */
	bool is_process; /* starts or ends a process; the time is not I/O time */
	const struct tally *tally;
};

/*
 * Returns the rows with calls, sorted by descending time (layers: by number); calls that start
 * processes come last. Sets *count. The caller frees the rows.
 */
struct summary_row *summary_rows(const struct summary *summary, enum summary_table table,
				 size_t *count);

/* Distribution of one of the tally_measures over the ranks that have the row. */
struct spread summary_spread(const struct summary *summary, const struct summary_row *row,
			     const struct measure *measure);

/* Distribution of one of the sums_measures over all ranks. */
struct spread summary_rank_spread(const struct summary *summary, const struct measure *measure);

#endif
