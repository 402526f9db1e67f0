/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A chapter: consecutive activities of a trace, and their sums. It divides its time into up to
 * CHAPTER_PARTS equal parts and has a row of sums for each part, process, chain of calls (nodes.h)
 * and size. If there are more rows than allowed, the parts become wider; if that does not suffice,
 * the smallest rows are folded: they lose their file, then their process, and finally the calls
 * that enclose them. What remains is bounded by the number of functions and sizes.
 *
 * Calls that last longer than a part, or into the next chapter, are kept one by one, so that they
 * can be spread over the time that they cover. If there are too many, the longest ones are.
 *
 * A finished chapter does not change.
 */
#ifndef SLUICE_OBSERVE_WINDOW_CHAPTER_H
#define SLUICE_OBSERVE_WINDOW_CHAPTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "observe/window/nodes.h"
#include "observe/window/tops.h"

enum { CHAPTER_PARTS = 16, CHAPTER_SAMPLES = 256 };

/* In the place of a process: one of several that count, and one of several that belong to no rank.
 */
#define PROCESS_OTHERS UINT32_MAX
#define PROCESS_OUTSIDE (UINT32_MAX - 1)

/* The kind of a call: the bin of its size (observe/profile/cell.h), and whether it failed. */
enum { KIND_NO_TRANSFER = 0x7f, KIND_SIZE = 0x7f, KIND_ERROR = 0x80 };

#define OFFSET_UNKNOWN INT64_MIN

/* What is needed of an activity. */
struct event {
	int64_t start_ns, duration_ns;
	int64_t offset; /* of a transfer, else OFFSET_UNKNOWN */
	uint64_t bytes; /* in each way of the call; of a correction: what is to be added */
	uint32_t node, process;
	uint8_t kind;
};

struct chapter_row {
	uint64_t bytes;
	int64_t time_ns;
	uint32_t node, process, calls;
	uint8_t part, kind;
};

/* A call that started before the chapter and encloses calls of it. */
struct chapter_call {
	uint64_t id;
	uint32_t process, node;
};

/* The ids of a thread in the chapter. */
struct chapter_thread {
	uint32_t process, thread;
	uint64_t low, high;
};

struct chapter {
	uint64_t count;		   /* activities */
	uint64_t skip;		   /* activities of earlier chapters that start at first_ns */
	int64_t first_ns, last_ns; /* starts of the first and of the last activity */
	int64_t end_ns;		   /* end of the call that ends last */
	int64_t longest_ns;	   /* duration */
	int64_t part_ns;	   /* width of a part */
	bool folded;		   /* rows have lost files or processes */
	bool capped;		   /* some long calls are in rows */
	bool has_threads;	   /* false: too many */
	struct chapter_row *rows;
	struct event *longs;		/* in order of start */
	struct event *samples;		/* every n-th transfer with an offset; n is */
	uint64_t sample_step;		/* 1 if all of them are here */
	struct chapter_call *enclosing; /* sorted by process and id */
	struct chapter_thread *threads; /* sorted by process and thread */
	struct tops tops;
	size_t row_count, long_count, sample_count, enclosing_count, thread_count;
};

/* What is collected while a chapter is read; kept for the next chapter. */
struct draft {
	struct event *events;
	size_t count, cap;
	struct chapter_call *enclosing;
	size_t enclosing_count, enclosing_cap;
	struct chapter_thread *threads;
	size_t thread_count, thread_cap;
	struct map thread_index;
	struct tops tops;
	uint32_t *slots; /* hash table of rows */
	size_t slot_cap;
};

struct chapter_limits {
	size_t rows, longs, threads, tops;
};

void draft_init(struct draft *draft);
void draft_release(struct draft *draft);

/* Remembers the id of an activity. */
void draft_add_id(struct draft *draft, uint32_t process, uint64_t id);

/*
 * Makes a chapter of the events and empties the draft. is_outside says for each process whether it
 * belongs to no member. Folding adds nodes, so the caller must hold the lock for that.
 */
struct chapter *chapter_new(struct draft *draft, const struct chapter_limits *limits,
			    struct nodes *nodes, const uint8_t *is_outside);
void chapter_free(struct chapter *chapter);

size_t chapter_bytes(const struct chapter *chapter);

/* The node of a call that started before the chapter; 0 if it encloses nothing in it. */
uint32_t chapter_find_enclosing(const struct chapter *chapter, uint32_t process, uint64_t id);

/* May the chapter have this activity? */
bool chapter_may_have(const struct chapter *chapter, uint32_t process, uint64_t id);

/* Where the calls of a row are: the first starts at or after from_ns, the last before starts_ns. */
struct row_span {
	int64_t from_ns, starts_ns, until_ns;
};
struct row_span chapter_row_span(const struct chapter *chapter, const struct chapter_row *row);

/* End of a call; that of its start if its duration is damaged. */
static inline int64_t event_end(const struct event *event)
{
	return event->start_ns + (event->duration_ns > 0 ? event->duration_ns : 0);
}

#endif
