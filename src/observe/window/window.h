/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Figures of any part of a run, fast enough to follow a user who moves through it.
 *
 * An index is built by a thread that reads the trace once, in order. It divides the activities into
 * chapters (chapter.h) and keeps sums of each. A query adds the sums of the chapters that lie in
 * its window and reads the chapters at its edges from the trace; a window of at most
 * WINDOW_READ_CHAPTERS chapters is read from the trace as a whole. Queries can be made at any time
 * and from several threads; they answer for the part of the run that has been indexed.
 *
 * What is exact: calls, errors, bytes, time, layers, functions and sizes of every window. Files,
 * members and causes are exact unless a result says that it is `folded`, which happens if a chapter
 * has more of them than it has room for. Bins are exact if the window is read from the trace;
 * otherwise calls that are shorter than 1/16 of their chapter are spread evenly over such a part.
 *
 * Calls belong to the window in which they start. Only the bins of time and bytes also include the
 * parts of calls that started before. Calls that were counted but not recorded (struct aggregate)
 * have no time, so they are in no window. Calls of processes of a parallel run that belong to no
 * rank are in no figure, as in a report; window_activities() shows them at WINDOW_ALL.
 *
 * Memory of an index, whatever the number of activities (index.h has the limits): up to 128 MiB for
 * sums, 120 MiB for long calls and samples, 48 MiB for ids of threads, 40 MiB for chains of calls,
 * 12 MiB for corrections of asynchronous operations and 75 MiB for chapters that were read from the
 * trace; and up to 400 MiB for calls on TCP connections (observe/chain/chain.h), if one of them is
 * looked at. In addition, a chapter has 16 bytes per call that is in progress at its start. A query
 * that reads WINDOW_READ_CHAPTERS needs 25 MiB more.
 */
#ifndef SLUICE_OBSERVE_WINDOW_WINDOW_H
#define SLUICE_OBSERVE_WINDOW_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "observe/profile/cell.h"
#include "trace/format.h"

struct err;
struct window_index;

/* Larger windows use the sums of the index. */
enum { WINDOW_READ_CHAPTERS = 8 };

/*
 * Opens the trace and starts the thread that indexes it. The file must not change while the index
 * is open. Fails if the trace cannot be opened.
 */
int window_index_open(struct window_index **index, const char *path, struct err *err);

/* Stops the thread. No query may be in progress. Accepts NULL. */
void window_index_close(struct window_index *index);

/* The part of the run that has been indexed, 0 to 1. */
double window_index_covered(const struct window_index *index);

/* Waits until the whole trace has been indexed. Fails if it could not be read to its end. */
int window_index_wait(struct window_index *index, struct err *err);

/* Waits until there is something to answer about, but not longer than that. */
void window_index_wait_first(struct window_index *index, int64_t patience_ns);

/* The head of the trace. Names in results belong to it. */
const struct trace_head *window_index_head(const struct window_index *index);

/* Bytes of memory that the index uses, without the head of the trace. */
size_t window_index_bytes(struct window_index *index);

enum window_level {
	WINDOW_PROGRAM, /* calls that no other I/O call encloses: `io` of observe/tally/sums.h */
	WINDOW_STORAGE, /* `storage` there */
	/*
	 * Every call. A total, layer, function or file includes the time and bytes of a call only
	 * if no enclosing call belongs to the same layer (layer, function, file).
	 */
	WINDOW_ALL,
};

/* A zeroed filter selects what the program requested in the whole run. */
struct window_filter {
	int64_t from_ns, to_ns; /* calls that start in [from, to); both 0: the whole run */
	enum window_level level;
	const char *layer, *function, *file; /* exact names; NULL: all */
	bool has_member;		     /* only calls of this rank, or process of a run */
	int32_t member;			     /* without ranks */
	bool errors;			     /* only calls that failed */
	int64_t min_ns;			     /* only for activities: calls at least that long */
};

struct window_sum {
	uint64_t calls, errors;
	uint64_t bytes[2]; /* by READING and WRITING of observe/tally/traffic.h */
	int64_t time_ns;   /* summed over threads */
};

/* The layer, function, file or member that a sum is of. */
struct window_row {
	const char *name; /* of layer, function or file; program of a member; NULL: all others */
	const char *host; /* of a member, else NULL */
	uint8_t layer;	  /* of a function */
	int32_t member;	  /* -1: other members, or not a member */
	struct window_sum sum;
};

struct window_rows {
	struct window_row *list;
	size_t count;
	size_t total; /* rows before the list was cut */
};

/* The time that a result is of. */
struct window_frame {
	int64_t from_ns, to_ns;
	double covered; /* of the run, not of the window; the figures are those of this part */
	bool folded;	/* some files or members are only in the row of all others, and some
			   causes have no file or no parent */
};

struct window_limits {
	size_t bins;			  /* 0: no bins; at most WINDOW_BINS_MAX */
	size_t functions, files, members; /* rows with the most time; 0: all */
};
enum { WINDOW_BINS_MAX = 4096 };

struct window_result {
	struct window_frame frame;
	struct window_sum total;
	int64_t bin_ns; /* the last bin may end after the window */
	size_t bin_count;
	struct window_sum *bins; /* a call's number is in the bin of its start */
	struct window_rows layers, functions, files, members;
	uint64_t sizes[2][CELL_SIZE_BINS]; /* transfers by cell_bin() of their bytes */
};

/*
 * The following functions fail with -EINVAL if the filter names an unknown layer, and with the
 * error of the trace if it could not be read. A window that is empty, reversed or outside of the
 * run gives a result without calls. After a failure there is nothing to release.
 */
int window_query(struct window_index *index, const struct window_filter *filter,
		 const struct window_limits *limits, struct window_result *result, struct err *err);
void window_result_release(struct window_result *result);

enum window_measure { WINDOW_TIME, WINDOW_BYTES, WINDOW_CALLS };

/* A row of a heat map: consecutive members. */
struct window_lane {
	int32_t first_member, last_member;
	const char *name, *host; /* program and host of the first member */
};

/* Both are at most WINDOW_HEATMAP_MAX. */
enum { WINDOW_HEATMAP_MAX = 512 };
struct window_heatmap {
	struct window_frame frame; /* folded: some calls are in no row */
	int64_t bin_ns;
	size_t bin_count, lane_count;
	struct window_lane *lanes;
	uint64_t *values; /* lane * bin_count + bin */
};

/* bytes are those read and written. */
int window_heatmap(struct window_index *index, const struct window_filter *filter, size_t bins,
		   size_t lanes, enum window_measure of, struct window_heatmap *result,
		   struct err *err);
void window_heatmap_release(struct window_heatmap *result);

/*
 * A node of the tree of calls, as in observe/profile/call_tree.h. Copies from different files are
 * different nodes.
 */
struct window_cause {
	uint32_t id, parent; /* from 1 on; a parent precedes its children, 0 is the root */
	const char *function;
	const char *file; /* of an activity of the program: its name; "": none; NULL: several */
	uint8_t layer;
	struct window_sum sum; /* of the calls in the window; a parent may have none there */
};

struct window_causes {
	struct window_frame frame;
	struct window_cause *list;
	size_t count;
	size_t total; /* nodes before the list was cut */
};

/*
 * At WINDOW_ALL, all calls that pass the rest of the filter are in the tree. At the other levels,
 * these are the I/O calls and what they caused, but not what other figures leave out: calls that
 * start or end a library, such as MPI_Init, and calls of the program to the network. Calls that
 * enclose those of the tree are there, too, if only without sums. limit: the nodes with the most
 * time, and their parents; 0: all.
 */
int window_causes(struct window_index *index, const struct window_filter *filter, size_t limit,
		  struct window_causes *result, struct err *err);
void window_causes_release(struct window_causes *result);

/* A transfer at a known offset. */
struct window_access {
	int64_t start_ns, duration_ns;
	int64_t offset;
	uint64_t bytes;
	int32_t member;
	uint8_t way; /* READING or WRITING */
};

struct window_offsets {
	struct window_frame frame;
	struct window_access *list; /* in order of start */
	size_t count;
	bool sampled; /* the list has only some of the transfers */
};

/*
 * The transfers of one file, which the filter must name (else -EINVAL); copies are left out. If
 * there are more than `limit`, every n-th of them. Of many chapters, only the CHAPTER_SAMPLES
 * transfers per chapter that the index keeps can be given.
 */
int window_offsets(struct window_index *index, const struct window_filter *filter, size_t limit,
		   struct window_offsets *result, struct err *err);
void window_offsets_release(struct window_offsets *result);

/*
 * Work that a list of activities may do: it reads up to so many, if it has to read. To count those
 * after the page, it reads fewer.
 */
enum { WINDOW_ACTIVITIES_READ = 1 << 20, WINDOW_COUNT_READ = 1 << 18 };

struct window_activities {
	struct window_frame frame;
	struct activity *list; /* in order of start */
	size_t count;
	uint64_t total;	   /* that pass the filter */
	bool total_is_low; /* there may be more, because not all were looked at */
};

/*
 * Up to `limit` activities that pass the filter, after the first `offset` of them. At WINDOW_ALL,
 * these are all activities of the trace that this program knows, also those that are in no figure.
 */
int window_activities(struct window_index *index, const struct window_filter *filter, size_t limit,
		      uint64_t offset, struct window_activities *result, struct err *err);
void window_activities_release(struct window_activities *result);

struct window_key {
	uint32_t process;
	uint64_t id;
};

/*
 * An activity, what caused it, and what it caused. Causes and effects include those across TCP
 * connections whose ends are both in the trace (observe/chain/chain.h): the call that sent what a
 * call received, and the request that a server made a call for.
 */
struct window_activity {
	struct activity self;
	struct activity *ancestors; /* the calls that enclose or caused it, outermost first */
	size_t ancestor_count;
	struct activity *children; /* the calls that it directly encloses, in order of start; then
				      those it caused otherwise */
	size_t child_count;
	struct window_key *remote; /* the calls that it has shared bytes of a connection with */
	size_t remote_count;
	bool children_cut; /* there may be more */
	bool has_opener;
	struct activity opener; /* the call that made its handle */
};

/* Children that are listed, and activities that are read to find them. */
enum { WINDOW_CHILDREN_MAX = 1000, WINDOW_CHILDREN_READ = 1 << 20 };

/* Fails with -ENOENT if the part of the run that has been indexed has no such activity. */
int window_activity(struct window_index *index, uint32_t process, uint64_t id,
		    struct window_activity *result, struct err *err);
void window_activity_release(struct window_activity *result);

#endif
