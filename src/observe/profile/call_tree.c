/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/profile/call_tree.h"

#include <stdlib.h>

#include "base/mem.h"

/* A key has 15 bits for the parent, 16 for the call, 4 for the layer + 1 and 29 for the file. */
#define NODES_MAX ((size_t)1 << 15)
#define FILES_MAX ((file_id)1 << 29)
_Static_assert(LAYER_COUNT < 16, "a layer has four bits in the key");

void call_tree_init(struct call_tree *tree, size_t limit)
{
	*tree = (struct call_tree){ .limit = limit < NODES_MAX / 2 ? limit : NODES_MAX / 2 };
	tree->nodes = xgrow(NULL, &tree->cap, 1, sizeof(*tree->nodes));
	tree->nodes[tree->count++] = (struct call_node){ 0 };
}

void call_tree_release(struct call_tree *tree)
{
	map_release(&tree->index);
	free(tree->nodes);
	*tree = (struct call_tree){ 0 };
}

static uint64_t key_make(const struct call_node *node)
{
	return (((uint64_t)node->parent << 16 | node->call) << 4 | (node->layer + 1u)) << 29 |
	       node->file;
}

static uint32_t find_node(const struct call_tree *tree, const struct call_node *node)
{
	return (uint32_t)(uintptr_t)map_get(&tree->index, key_make(node));
}

static uint32_t add_node(struct call_tree *tree, const struct call_node *node)
{
	uint32_t number = (uint32_t)tree->count;

	tree->nodes = xgrow(tree->nodes, &tree->cap, tree->count + 1, sizeof(*tree->nodes));
	tree->nodes[tree->count++] = *node;
	map_put(&tree->index, key_make(node), (void *)(uintptr_t)number);
	return number;
}

/* As many nodes again as the limit are for calls whose files are folded. */
uint32_t call_tree_get(struct call_tree *tree, uint32_t parent, unsigned call, unsigned layer,
		       file_id file)
{
	struct call_node node = {
		.parent = parent,
		.file = file < FILES_MAX ? file : 0,
		.call = (uint16_t)call,
		.layer = (uint8_t)layer,
	};
	uint32_t found = find_node(tree, &node);

	if (found)
		return found;
	if (tree->count < tree->limit)
		return add_node(tree, &node);
	tree->folded += node.file != 0;
	node.file = 0;
	found = find_node(tree, &node);
	if (found)
		return found;
	if (tree->count < 2 * tree->limit)
		return add_node(tree, &node);
	tree->lost++;
	return 0;
}

uint32_t call_tree_put(struct call_tree *tree, const struct call_node *node)
{
	if (tree->count >= 2 * tree->limit || node->file >= FILES_MAX || find_node(tree, node))
		return 0;
	return add_node(tree, node);
}

struct listed {
	struct call_node node; /* its parent has the number in the list */
	uint32_t number;       /* in the tree */
	uint32_t depth;
};

static int compare_depths(const void *a, const void *b)
{
	const struct listed *x = a, *y = b;

	return x->depth < y->depth ? -1 : x->depth > y->depth;
}

/* Of nodes at the same depth. */
static int compare_nodes(const void *a, const void *b)
{
	uint64_t x = key_make(&((const struct listed *)a)->node);
	uint64_t y = key_make(&((const struct listed *)b)->node);

	return x < y ? -1 : x > y;
}

struct call_node *call_tree_list(const struct call_tree *tree)
{
	struct call_node *nodes = xcalloc(tree->count + 1, sizeof(*nodes));
	AUTO_FREE struct listed *list = xcalloc(tree->count + 1, sizeof(*list));
	AUTO_FREE uint32_t *depths = xcalloc(tree->count + 1, sizeof(*depths));
	AUTO_FREE uint32_t *places = xcalloc(tree->count + 1, sizeof(*places));

	for (uint32_t i = 0; i < tree->count; i++) {
		depths[i] = i ? depths[tree->nodes[i].parent] + 1 : 0;
		list[i] = (struct listed){ tree->nodes[i], i, depths[i] };
	}
	qsort(list, tree->count, sizeof(*list), compare_depths);
	for (size_t i = 0, end; i < tree->count; i = end) {
		for (end = i; end < tree->count && list[end].depth == list[i].depth; end++)
			list[end].node.parent = places[list[end].node.parent];
		qsort(list + i, end - i, sizeof(*list), compare_nodes);
		for (size_t k = i; k < end; k++) {
			places[list[k].number] = (uint32_t)k;
			nodes[k] = list[k].node;
		}
	}
	return nodes;
}

static uint32_t merge_node(struct call_tree *tree, uint32_t parent, const struct call_node *from,
			   unsigned call, file_id file)
{
	uint32_t number = call_tree_get(tree, parent, call, from->layer, file);
	struct call_node *to = &tree->nodes[number];

	if (!number)
		return 0;
	to->calls += from->calls;
	to->errors += from->errors;
	to->bytes[0] += from->bytes[0];
	to->bytes[1] += from->bytes[1];
	to->time_ns += from->time_ns;
	return number;
}

void call_tree_merge(struct call_tree *tree, const struct call_tree *other, const uint16_t *calls,
		     const file_id *files)
{
	AUTO_FREE uint32_t *places = xcalloc(other->count + 1, sizeof(*places));

	tree->lost += other->lost;
	tree->folded += other->folded;
	/* A parent precedes its children. Below a node that was lost, nothing is kept. */
	for (size_t i = 1; i < other->count; i++) {
		const struct call_node *node = &other->nodes[i];

		if (!node->parent || places[node->parent])
			places[i] = merge_node(tree, places[node->parent], node, calls[node->call],
					       files[node->file]);
		else
			tree->lost += node->calls;
	}
}
