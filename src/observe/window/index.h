/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The index of a trace: what the thread that builds it and the queries share. See window.h.
 */
#ifndef SLUICE_OBSERVE_WINDOW_INDEX_H
#define SLUICE_OBSERVE_WINDOW_INDEX_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/err.h"
#include "observe/tally/nest.h"
#include "observe/tally/ranks.h"
#include "observe/window/chapter.h"
#include "observe/window/window.h"

enum {
	INDEX_CHAPTER = 65536,	   /* activities of a chapter; more if a run has so many that it */
	INDEX_CHAPTERS = 4096,	   /* would have more chapters than this */
	INDEX_ROWS = 4 << 20,	   /* of all chapters: 128 MiB */
	INDEX_LONGS = 1 << 20,	   /* of all chapters: 48 MiB; as much again for samples */
	INDEX_CHAPTER_ROWS = 1024, /* but each chapter may have so many */
	INDEX_CHAPTER_LONGS = 256,
	INDEX_TOPS = 1 << 17, /* of all chapters: 24 MiB */
	INDEX_CHAPTER_TOPS_MIN = 32,
	INDEX_CHAPTER_TOPS_MAX = 256,
	INDEX_CORRECTIONS = 1 << 18, /* 12 MiB; beyond, operations keep the requested size */
	INDEX_CACHE = 24,	     /* chapters whose events are kept: 75 MiB */
};

/* For tests; 0 means the constants above. */
struct index_tuning {
	size_t chapter, rows, chapter_rows, chapter_tops;
	uint64_t pause_after; /* the thread waits after so many activities until it is stopped */
};

/* The events of a chapter, read from the trace. */
struct loaded {
	struct event *events;
	size_t count, chapter;
	unsigned users;
	uint64_t used; /* for the choice of the one to drop */
};

struct window_index {
	char *path;
	struct trace trace; /* its head is used by all; readers open it again */
	uint8_t *ways;	    /* traffic_table() */
	struct ranks ranks;
	int32_t *member_of;  /* per process; -1: none */
	uint8_t *is_outside; /* per process: has no member */
	struct nodes nodes;
	size_t chapter_size, expected; /* activities, chapters */
	size_t chapter_tops;
	struct index_tuning tuning;

	atomic_bool stop, finished;
	atomic_uint_fast64_t indexed; /* activities of finished chapters */
	pthread_t thread;
	bool running; /* the thread must be joined */

	pthread_mutex_t lock; /* protects the following */
	pthread_cond_t changed;
	struct chapter **chapters;
	size_t chapter_count, chapter_cap;
	struct event *corrections; /* of asynchronous operations: other bytes than requested */
	size_t correction_count, correction_cap;
	struct err failed; /* why the trace could not be read to its end */
	struct loaded *cache[INDEX_CACHE];
	uint64_t uses;

	pthread_mutex_t chain_lock; /* protects the following */
	bool has_read_chain;
	struct chain *chain;
};

/* The connections of the trace, which are read when they are first needed; NULL: none has both ends
 * in it. */
int index_chain(struct window_index *index, const struct chain **chain, struct err *err);

int index_open(struct window_index **index, const char *path, const struct index_tuning *tuning,
	       struct err *err);

/*
 * The chapters so far. They stay valid until the index is closed; the caller frees the array. Fails
 * with the error of the trace.
 */
int index_chapters(struct window_index *index, struct chapter *const **chapters, size_t *count,
		   struct err *err);

/* What is kept of an activity. */
struct event index_event(const struct window_index *index, const struct activity *activity,
			 uint32_t node);

/* Is it a call that this program knows? Others are in no figure. */
bool index_knows(const struct window_index *index, const struct activity *activity);

/*
 * Reads the events of `count` chapters from the trace, or finds them in the cache. list gets one
 * pointer per chapter, each to be returned with index_unload(). On failure there are none.
 */
int index_load(struct window_index *index, struct chapter *const *chapters, size_t first,
	       size_t count, struct loaded **list, struct err *err);
void index_unload(struct window_index *index, struct loaded *loaded);

/* Reads activities of consecutive chapters again, with their nodes. */
struct chapter_reader {
	struct window_index *index;
	struct trace trace;
	struct nest nest;
	struct activity *batch;
	size_t count, next; /* of the batch */
	uint64_t skip;
};

/* Up to `last`, at most. The reader must not be moved. */
int reader_open(struct chapter_reader *reader, struct window_index *index,
		struct chapter *const *chapters, size_t first, size_t last, struct err *err);
void reader_close(struct chapter_reader *reader);

/* Gets the activities of one chapter, in order; returns false to stop. */
typedef bool reader_visit(void *arg, const struct activity *activity, uint32_t node);

/*
 * Reads the next chapter. Returns 1 if it was read completely, 0 if `visit` has stopped it.
 */
int reader_read(struct chapter_reader *reader, const struct chapter *chapter, reader_visit *visit,
		void *arg, struct err *err);

#endif
