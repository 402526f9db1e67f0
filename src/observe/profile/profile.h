/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The profile of a run: everything that reports, findings, plots, the page and comparisons say
 * about its calls. It is built in one pass over the activities; afterwards only the profile and the
 * head of the trace are needed. Memory is bounded by struct profile_limits and grows with functions
 * and ranks, never with the number of activities.
 *
 * Profiles can be merged: profile_merge() gives what one pass over both traces would give. Sums are
 * exact. Exceptions, all documented at their members: `busy_ns` of several parts is a lower bound;
 * regions and common sizes are approximate; and a rank that occurs in both parts counts twice in a
 * spread if there are more than SUMMARY_RANKS_MAX ranks.
 *
 * Percentages: summary_share() defines the one denominator that all outputs use, the run time.
 */
#ifndef SLUICE_OBSERVE_PROFILE_PROFILE_H
#define SLUICE_OBSERVE_PROFILE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "observe/profile/call_tree.h"
#include "observe/profile/cell.h"
#include "observe/profile/facts.h"
#include "observe/profile/marks.h"
#include "observe/profile/timeline.h"
#include "observe/tally/file_class.h"
#include "observe/tally/nest.h"
#include "observe/tally/summary.h"
#include "observe/tally/survey_rows.h"
#include "observe/tally/surveyor.h"
#include "trace/format.h"

struct err;

/* 0 means the default. */
struct profile_limits {
	size_t cells; /* 32768, about 2.3 KiB each */
	size_t nodes; /* of the causal chains: 16384, which is also the maximum */
};

struct profile {
	const struct trace_head *head; /* of the trace; of a merged profile: `own` */
	struct summary summary;	       /* totals, ranks, layers, functions, files, parameters */
	struct cell_table cells;       /* per layer, file and member */
	struct call_tree tree;	       /* which calls were made inside which */
	struct timeline timeline;
	struct facts facts;	  /* what calls say about files, apart from time and bytes */
	struct marks marks;	  /* activities and phases of the program itself */
	struct nest nest;	  /* calls in progress, and */
	struct surveyor surveyor; /* open files, while activities are added */
	uint8_t *channels;	  /* for each file: 1 if it is a socket or pipe */
	size_t parts;		  /* traces that it combines; 1: one trace */
	uint64_t processes;	  /* of all parts; the head of a merged profile leaves out some */
	struct merged_head *own;  /* the head of a merged profile; NULL: the head is borrowed */
};

/*
 * head must outlive the profile. Its aggregates are added at once. limits may be NULL. The profile
 * must not be moved while activities are added.
 */
void profile_init(struct profile *profile, const struct trace_head *head,
		  const struct profile_limits *limits);
void profile_release(struct profile *profile);

/*
 * The same without aggregates, for some of the processes of a trace; profile_join() adds it to the
 * profile of the others.
 */
void profile_init_share(struct profile *profile, const struct trace_head *head,
			const struct profile_limits *limits);

/*
 * Activities must come in the order of their start; it suffices if those of each rank, and of each
 * process and its children in a run without ranks, do. Returns the end of the call if its time is
 * part of the time in I/O of the run (summary.all.busy_ns), else 0.
 */
int64_t profile_add(struct profile *profile, const struct activity *activity);

/*
 * Reads all activities of an open, unfiltered trace and adds them to a new profile, with up to
 * `threads` threads. The result does not depend on their number, nor on the blocks of the trace.
 * seen, if not NULL, is called now and then with the number of activities so far. The trace must
 * stay open as long as the profile is used.
 */
typedef void (*profile_seen)(void *arg, uint64_t done);
int profile_read(struct profile *profile, struct trace *trace, unsigned threads, profile_seen seen,
		 void *arg, struct err *err);

/*
 * Adds a share: nothing is renumbered. busy_ns of the whole is not correct afterwards.
 */
void profile_join(struct profile *profile, const struct profile *other);

/* Starts a profile that others are merged into. */
void profile_init_merged(struct profile *profile, const struct profile_limits *limits);

/*
 * Adds another profile: of another node of the same job, or of another run. Files and functions
 * with the same name are combined. The clocks of nodes are taken to agree. Fails with -ENOTSUP if
 * one run has ranks and the other has not; the profile is then unchanged. `other` may be released
 * afterwards.
 */
int profile_merge(struct profile *profile, const struct profile *other, struct err *err);

enum file_class profile_file_class(const struct profile *profile, file_id file);

/* Path of the file, "" for file 0. */
const char *profile_file(const struct profile *profile, file_id file);

/*
 * All cells of one file and layer, added up. samples and common sizes are combined; regions are
 * those of all members.
 */
struct file_total {
	file_id file;
	uint8_t layer;
	struct cell total;	   /* member is CELL_OTHERS */
	size_t members;		   /* that have a cell; the folded ones count as one */
	size_t sharers;		   /* the same, with all ranks that a cell counts together */
	size_t accessing[2];	   /* members that read, and that wrote */
	enum sharing sharing[2];   /* how the regions of members relate */
	const struct cell **cells; /* `members` of them */
};

/*
 * Returns the totals in the order of layer and file. Release them with profile_files_release().
 * Costs time proportional to the number of cells.
 */
struct file_total *profile_files(const struct profile *profile, size_t *count);
void profile_files_release(struct file_total *totals, size_t count);

/* The file survey: compares members; see survey_rows_new(). The caller frees the rows. */
struct survey_row *profile_survey(const struct profile *profile, size_t *count);

#endif
