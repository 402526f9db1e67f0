/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The chains of calls of a run, as a tree. As in observe/profile/call_tree.h, a node stands for all
 * calls of one function on one file directly inside the calls of its parent. Here it has no sums,
 * but knows how its calls count in totals, which follows from the calls that enclose it. It has
 * room for more nodes than a report, because queries ask for single files.
 *
 * One thread adds nodes with nodes_get() and nodes_fold(). At the same time, others may look at
 * nodes that they know to exist, and may search while they hold the lock for reading.
 */
#ifndef SLUICE_OBSERVE_WINDOW_NODES_H
#define SLUICE_OBSERVE_WINDOW_NODES_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/format.h"

/*
 * Beyond NODES_MAX nodes, calls have no file any more; beyond NODES_FOLDED_MAX, they have no node.
 */
enum {
	NODES_BLOCK = 4096,
	NODES_BLOCKS = 288,
	NODES_MAX = 256 * NODES_BLOCK,
	NODES_FOLDED_MAX = NODES_BLOCKS * NODES_BLOCK,
	NODES_DEPTH_MAX = 1000, /* calls below count as made by the call above their parent */
};

/* In the place of a file: one of several. */
#define NODE_FILE_FOLDED UINT32_MAX

/* What a call is, and what encloses it: struct call_context of observe/tally/sums.h. */
enum {
	NODE_NOTICE = 1 << 0, /* not a call, see traffic_is_notice() */
	NODE_PROCESS = 1 << 1,
	NODE_IN_PROCESS = 1 << 2,
	NODE_IN_IO = 1 << 3,
	NODE_IN_STORAGE = 1 << 4,
	NODE_IN_LAYER = 1 << 5,
	NODE_IN_FUNCTION = 1 << 6,
	NODE_IN_FILE = 1 << 7,
	NODE_IN_FILE2 = 1 << 8,
};

struct window_node {
	uint32_t parent; /* 0: the root; a parent's number is lower than that of its children */
	file_id file;	 /* of an activity of the program: its name */
	file_id file2;	 /* the source of a copy, else 0 */
	uint16_t call;
	uint16_t flags;
	uint16_t depth; /* of a child of the root: 1 */
	uint8_t layer;
};

struct nodes {
	const struct trace_head *head;
	const uint8_t *ways;
	struct window_node *blocks[NODES_BLOCKS]; /* nodes do not move */
	pthread_rwlock_t lock;			  /* protects the following */
	size_t count;				  /* with node 0, the root */
	uint32_t *index;			  /* hash table of numbers */
	size_t cap;
	uint64_t lost; /* calls without a node */
};

/* head and ways (traffic_table()) must outlive the nodes. */
void nodes_init(struct nodes *nodes, const struct trace_head *head, const uint8_t *ways);
void nodes_release(struct nodes *nodes);

static inline const struct window_node *nodes_at(const struct nodes *nodes, uint32_t number)
{
	return &nodes->blocks[number / NODES_BLOCK][number % NODES_BLOCK];
}

/*
 * The node of a call inside a node. nodes_find() needs the lock, and returns 0 if the node is
 * missing; nodes_get() adds it then, and returns 0 if there is no room.
 */
uint32_t nodes_find(const struct nodes *nodes, uint32_t parent, const struct activity *activity);
uint32_t nodes_get(struct nodes *nodes, uint32_t parent, const struct activity *activity);

/*
 * The node without files that counts in the same way; adds it if it is missing. With `chain`, it is
 * a child of the root.
 */
uint32_t nodes_fold(struct nodes *nodes, uint32_t number, bool chain);

/* Number of nodes, and bytes of memory. Both take the lock. */
size_t nodes_count(struct nodes *nodes);
size_t nodes_bytes(struct nodes *nodes);

#endif
