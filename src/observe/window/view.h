/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Goes over all calls of a window that a filter selects: one by one where they were read from the
 * trace, else added up by the rows of chapters.
 */
#ifndef SLUICE_OBSERVE_WINDOW_VIEW_H
#define SLUICE_OBSERVE_WINDOW_VIEW_H

#include "observe/window/index.h"

/* How calls of a node count. */
enum {
	PICK_SELECTED = 1 << 0,	     /* by the filter */
	PICK_COUNTED = 1 << 1,	     /* in figures; without it, only in lists of activities */
	PICK_FULL = 1 << 2,	     /* time and bytes count in totals, not only the number, */
	PICK_FULL_LAYER = 1 << 3,    /* in the layer, */
	PICK_FULL_FUNCTION = 1 << 4, /* in the function, */
	PICK_FULL_FILE = 1 << 5,     /* in the file, */
	PICK_FULL_FILE2 = 1 << 6,    /* and in the file that a copy reads */
	PICK_WAYS_SHIFT = 7,	     /* two more bits: in which ways the call transfers bytes */
};

/* A filter, prepared for one state of the index. */
struct view {
	struct window_index *index;
	struct chapter *const *chapters;
	size_t chapter_count;
	struct window_frame frame;
	uint16_t *picks; /* per node */
	size_t node_count;
	bool errors, has_member;
	int32_t member;
	bool has_file;	   /* the filter has a file; */
	file_id file;	   /* no node has this number if the run has no such file */
	size_t first, end; /* chapters with activities in the window */
};

int view_init(struct view *view, struct window_index *index, const struct window_filter *filter,
	      struct err *err);
void view_release(struct view *view);

static inline bool view_is_inside(const struct view *s, int64_t start_ns)
{
	return start_ns >= s->frame.from_ns && start_ns < s->frame.to_ns;
}

/* The member of a process, or -1: several, or none. */
int32_t view_member(const struct view *view, uint32_t process);

/* Do calls of this node, process and kind pass the filter? With `counted`: are they in figures? */
bool view_has(const struct view *view, uint32_t node, uint32_t process, unsigned kind,
	      bool counted);

/* Calls of the same node, process and kind. */
struct item {
	uint32_t node, process;
	uint16_t pick;
	uint8_t kind;
	bool inside;		       /* they start in the window */
	uint32_t calls;		       /* 0: a correction of bytes */
	int64_t bytes, time_ns;	       /* bytes in each way of the call */
	struct row_span span;	       /* a single call starts at from_ns and ends at until_ns */
	const struct chapter_row *row; /* NULL: a single call */
};

typedef void visit_item(void *arg, const struct item *item);

/*
 * earlier: also visits calls that start before the window and last into it. Folded chapters are
 * read from the trace if they are few; else frame.folded is set.
 */
int view_visit(struct view *view, bool earlier, visit_item *visit, void *arg, struct err *err);

/* Number of activities of a chapter that are selected, wherever the window is. */
uint64_t view_count(const struct view *view, const struct chapter *chapter);

/* Bits READING and WRITING of observe/tally/traffic.h. */
static inline unsigned item_ways(const struct item *item)
{
	return item->pick >> PICK_WAYS_SHIFT;
}

/* The sum that an item adds. full: with time and bytes. */
void window_sum_add(struct window_sum *sum, const struct item *item, bool full);

#endif
