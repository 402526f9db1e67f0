/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Totals of a run and of each rank, computed in one pass over the activities. observe/tally/sums.h
 * defines what each total includes. Memory grows with the number of functions, files, threads and
 * ranks, never with the number of activities.
 */
#ifndef SLUICE_OBSERVE_TALLY_SUMMARY_H
#define SLUICE_OBSERVE_TALLY_SUMMARY_H

#include "observe/tally/file_class.h"
#include "observe/tally/nest.h"
#include "observe/tally/parameters.h"
#include "observe/tally/ranks.h"
#include "observe/tally/recent.h"
#include "observe/tally/spreads.h"
#include "observe/tally/sums.h"
#include "trace/format.h"

_Static_assert(LAYER_COUNT <= 8, "sets of layers have a byte");

/*
 * Up to so many ranks, a merged summary knows the sums of each rank. It needs up to 2 KiB per rank.
 */
#define SUMMARY_RANKS_MAX 16384

struct summary {
	const struct trace_head *head;
	struct sums all; /* in a parallel run: all ranks, without `outside` */
	struct ranks ranks;
	struct sums *of_rank;	 /* same order as ranks.list; NULL if there are spreads */
	struct spreads *spreads; /* of a merged run with more than SUMMARY_RANKS_MAX ranks */
	struct sums
		outside; /* processes of a parallel run that belong to no rank: launcher, scripts */
	bool has_aggregates; /* if so, busy_ns covers only the recorded calls */
	bool all_is_postponed;
	struct tally group;   /* of all.io, what is known of all ranks together, not of each */
	uint8_t *ways;	      /* for each call, see observe/tally/traffic.h */
	uint8_t *file_layers; /* for each file, one bit per layer that accessed it */
	size_t file_count;    /* of file_layers */
	size_t call_count;    /* of ways */
	struct recent started;
	struct nest nest;
	struct parameters parameters; /* what happened to the parameters of the run */
};

/* head must outlive the summary. Its aggregates are added at once. */
void summary_init(struct summary *summary, const struct trace_head *head);

/* The same without the aggregates, for a share of the run that summary_join() adds to the rest. */
void summary_init_share(struct summary *summary, const struct trace_head *head);

/*
 * Adding is faster if the calls of ranks are only added to the sums of their rank; summary_add_up()
 * adds these to `all` at the end. Without ranks, or if there are aggregates, both do nothing.
 * summary_add_up() leaves busy_ns of `all` to the caller; see is_busy in struct summary_call.
 */
void summary_postpone_all(struct summary *summary);
void summary_add_up(struct summary *summary);
void summary_release(struct summary *summary);

/* Activities must come in the order of their start. */
void summary_add(struct summary *summary, const struct activity *activity);

/* An activity, the calls that enclose it, and what the summary derives from them. */
struct summary_call {
	const struct activity *activity;
	const struct nest_call *enclosing; /* outermost first */
	size_t depth;
	struct call_context context;
	struct contribution share;
	bool is_busy; /* its time is part of busy_ns of the run */
};

/*
 * The same for callers that have a nest of their own and set the first three members; sets the
 * others. The activity must be summary_in_range(). Returns false if it is only a notice
 * (traffic_is_notice()), which is not a call of the program.
 */
bool summary_add_nested(struct summary *summary, struct summary_call *call);

/*
 * What a call adds to sums, and what encloses it, for those who have sums of their own. `ways` is
 * traffic_table(); the indices of the activity must be valid. Of the enclosing calls, their call,
 * layer and file are used.
 */
struct contribution summary_contribution(const struct trace_head *head, const uint8_t *ways,
					 const struct activity *activity);
struct call_context summary_context(const struct trace_head *head, const uint8_t *ways,
				    const struct activity *activity,
				    const struct nest_call *enclosing, size_t depth);

/* Are the indices of the activity valid for the tables of the head? */
bool summary_in_range(const struct summary *summary, const struct activity *activity);

/*
 * Percentages. All outputs state shares of the run time, so that they can be compared and added.
 *
 * summary_io_share() is the share of I/O in the run time, 0 to 1: with ranks, the average over
 * ranks of busy_ns / duration_ns; without, busy_ns / duration_ns. With calls that were counted but
 * not recorded, the time of all threads (at most the run time) takes the place of busy_ns. It is
 * NAN if the duration of the run is unknown.
 *
 * summary_share() is the share of a time that is summed over threads and ranks, as in a tally: its
 * part of the I/O time of all threads, times summary_io_share(). So the shares of calls that do not
 * enclose each other add up to the share of I/O. NAN if it is unknown or there was no I/O.
 */
double summary_io_share(const struct summary *summary);

/* Does of_rank account for nearly all bytes and time of the I/O? */
bool summary_knows_ranks(const struct summary *summary);

/* Time in I/O: the average of the ranks, or that of a run without ranks. */
double summary_io_time_ns(const struct summary *summary);
double summary_share(const struct summary *summary, double time_ns);

/*
 * Adds the summary of another part of the job. The head of `summary` must already have the calls,
 * files and processes of the part, the latter from process_base on. busy_ns of the whole becomes a
 * lower bound: the largest of the parts.
 */
void summary_merge(struct summary *summary, const struct summary *other,
		   const struct renumbering *to, size_t process_base);

/* Adds the summary of other processes of the same trace. busy_ns of the whole is not correct then.
 */
void summary_join(struct summary *summary, const struct summary *other,
		  const struct renumbering *same);

enum file_class summary_file_class(const struct summary *summary, file_id file);

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
	uint8_t class;	 /* for a file: enum file_class */
	size_t folded;	 /* > 0: stands for so many files of the class */
	bool counted;	 /* name is a group of calls that were counted but not recorded */
	bool is_network; /* sockets and pipes only, or not I/O at all: the time is not I/O time */
	bool is_process; /* starts or ends a process; the time is not I/O time */
	const struct tally *tally;
};

/*
 * Returns the rows with calls, sorted by descending time (layers: by number); calls that start
 * processes come last. Sets *count. The caller frees the rows.
 */
struct summary_row *summary_rows(const struct summary *summary, enum summary_table table,
				 size_t *count);

/*
 * Combines the rows of files that are not the user's: one row per class at the end, which points to
 * `totals`. Returns the new number of rows; the first *users of them are files of the user.
 */
size_t summary_fold_files(struct summary_row *rows, size_t count, size_t *users,
			  struct tally totals[FILE_CLASSES]);

/* Distribution of one of the tally_measures over the ranks that have the row. */
struct spread summary_spread(const struct summary *summary, const struct summary_row *row,
			     const struct measure *measure);

/* Distribution of one of the sums_measures over all ranks. */
struct spread summary_rank_spread(const struct summary *summary, const struct measure *measure);

#endif
