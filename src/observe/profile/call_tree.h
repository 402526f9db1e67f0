/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Causal chains: which calls the libraries made inside which calls, as a tree. A node stands for
 * all calls of one function on one file that were made directly inside the calls of its parent
 * node; the children of node 0, the root, are the calls that no recorded call encloses. Example:
 *
 *   H5Dwrite out.h5 -> MPI_File_write_at_all out.h5 -> pwrite out.h5
 *
 * The bytes of a node divided by those of its parent are the amplification of this edge. The time
 * of a node minus that of its children is the time in the function itself, such as compression.
 * The tree includes calls that start processes, and sockets and pipes.
 *
 * The number of nodes is limited. Beyond the limit, calls on further files share a node with file
 * 0; if there is no room for that either, the call is counted in `lost` and has no node.
 */
#ifndef SLUICE_OBSERVE_PROFILE_CALL_TREE_H
#define SLUICE_OBSERVE_PROFILE_CALL_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "trace/activity.h"

struct call_node {
	uint32_t parent; /* index of the node; 0: root */
	file_id file;	 /* 0: no file, or several */
	uint16_t call;
	uint8_t layer;
	uint64_t calls, errors;
	uint64_t bytes[2]; /* by READING and WRITING */
	int64_t time_ns;   /* summed over threads */
};

/* A child's index is higher than its parent's. nodes[0] is the root, with zeros. */
struct call_tree {
	struct call_node *nodes;
	size_t count, cap, limit;
	struct map index; /* node number by parent, call, layer and file */
	uint64_t lost;	  /* calls without a node */
	uint64_t folded;  /* calls in nodes of file 0 because of the limit, at least */
};

void call_tree_init(struct call_tree *tree, size_t limit);
void call_tree_release(struct call_tree *tree);

/*
 * Finds the node of a call inside `parent`; adds it if it is missing. Returns its index, or 0 if
 * there is no room; the call is then counted as lost.
 */
uint32_t call_tree_get(struct call_tree *tree, uint32_t parent, unsigned call, unsigned layer,
		       file_id file);

/*
 * Adds a node that was saved, and returns its index. 0: there is no room, or it exists already.
 */
uint32_t call_tree_put(struct call_tree *tree, const struct call_node *node);

/*
 * Returns a copy of the nodes in an order that depends on the tree only: by depth, then by parent,
 * call, layer and file. The caller frees it.
 */
struct call_node *call_tree_list(const struct call_tree *tree);

/* Adds another tree; calls and files give the numbers in this one for those of the other. */
void call_tree_merge(struct call_tree *tree, const struct call_tree *other, const uint16_t *calls,
		     const file_id *files);

#endif
