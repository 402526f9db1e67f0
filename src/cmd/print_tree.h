/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The lines of `sluice print --tree`: each call is indented below the call that caused it, in its
 * own thread or at the other end of a connection (observe/chain/chain.h).
 *
 * A receive that waits begins before the bytes are sent. It is held until the call that sent them
 * was printed, so that causes come first.
 */
#ifndef SLUICE_CMD_PRINT_TREE_H
#define SLUICE_CMD_PRINT_TREE_H

#include "observe/tally/nest.h"
#include "trace/format.h"

struct buf;
struct chain;

struct print_tree {
	const struct trace_head *head;
	const struct chain *chain; /* NULL: no connection has both ends in the trace */
	struct nest nest;
	uint16_t *depths;      /* by number of the transfer: depth + 1 if it was printed */
	struct activity *held; /* receives, with the time at which they are released */
	int64_t *held_until_ns;
	size_t held_count, held_cap, until_cap;
	struct map *selected; /* per process: calls that the root has caused; NULL: all calls */
	uint32_t root_process;
	uint64_t root;
};

/* head and chain must outlive the tree. root 0: all calls, else only that one and its effects. */
void print_tree_init(struct print_tree *tree, const struct trace_head *head,
		     const struct chain *chain, uint32_t root_process, uint64_t root);
void print_tree_release(struct print_tree *tree);

/* Appends the lines that the call completes and returns their number. Calls come in the order of
 * their start. */
size_t print_tree_add(struct print_tree *tree, struct buf *out, const struct activity *a);

/* Appends the calls that are still held. */
size_t print_tree_finish(struct print_tree *tree, struct buf *out);

/* Reads "ID[PROCESS:][THREAD.]NUMBER", as lines have it. Returns false if it is something else. */
bool print_tree_parse_id(const char *text, uint32_t *process, uint64_t *id);

#endif
