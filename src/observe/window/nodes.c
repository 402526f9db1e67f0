/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/window/nodes.h"

#include <stdlib.h>

#include "base/mem.h"
#include "observe/tally/summary.h"
#include "observe/tally/traffic.h"

#define INDEX_FIRST 4096

static void append(struct nodes *nodes, const struct window_node *node)
{
	struct window_node **block = &nodes->blocks[nodes->count / NODES_BLOCK];

	if (!*block)
		*block = xcalloc(NODES_BLOCK, sizeof(**block));
	(*block)[nodes->count++ % NODES_BLOCK] = *node;
}

void nodes_init(struct nodes *nodes, const struct trace_head *head, const uint8_t *ways)
{
	*nodes = (struct nodes){ .head = head, .ways = ways, .cap = INDEX_FIRST };
	nodes->index = xcalloc(nodes->cap, sizeof(*nodes->index));
	pthread_rwlock_init(&nodes->lock, NULL);
	append(nodes, &(struct window_node){ 0 });
}

void nodes_release(struct nodes *nodes)
{
	for (size_t i = 0; i < NODES_BLOCKS; i++)
		free(nodes->blocks[i]);
	free(nodes->index);
	if (nodes->cap)
		pthread_rwlock_destroy(&nodes->lock);
	*nodes = (struct nodes){ 0 };
}

/* Of a node without its file, the flags are part of its identity, because they need that file. */
static bool is_same(const struct window_node *a, const struct window_node *b)
{
	return a->parent == b->parent && a->file == b->file && a->file2 == b->file2 &&
	       a->call == b->call && a->layer == b->layer &&
	       (a->file != NODE_FILE_FOLDED || a->flags == b->flags);
}

static size_t slot_of(const struct nodes *nodes, const struct window_node *node)
{
	uint64_t hash = (uint64_t)node->parent << 32 | node->file;

	hash = (hash ^ (uint64_t)node->call << 8 ^ node->layer) * UINT64_C(0x9e3779b97f4a7c15);
	hash = (hash ^ hash >> 29 ^ node->file2) * UINT64_C(0xc2b2ae3d27d4eb4f);
	return hash >> 32 & (nodes->cap - 1);
}

static uint32_t *find_slot(const struct nodes *nodes, const struct window_node *node)
{
	size_t slot = slot_of(nodes, node);

	while (nodes->index[slot] && !is_same(nodes_at(nodes, nodes->index[slot]), node))
		slot = (slot + 1) & (nodes->cap - 1);
	return &nodes->index[slot];
}

static void grow_index(struct nodes *nodes)
{
	free(nodes->index);
	nodes->cap *= 2;
	nodes->index = xcalloc(nodes->cap, sizeof(*nodes->index));
	for (uint32_t i = 1; i < nodes->count; i++)
		*find_slot(nodes, nodes_at(nodes, i)) = i;
}

static uint32_t add_node(struct nodes *nodes, const struct window_node *node)
{
	uint32_t number = (uint32_t)nodes->count;

	pthread_rwlock_wrlock(&nodes->lock);
	if (nodes->count * 2 >= nodes->cap)
		grow_index(nodes);
	*find_slot(nodes, node) = number;
	append(nodes, node);
	pthread_rwlock_unlock(&nodes->lock);
	return number;
}

static uint16_t flags_of(const struct call_context *at)
{
	return (uint16_t)((at->in_process ? NODE_IN_PROCESS : 0) | (at->in_io ? NODE_IN_IO : 0) |
			  (at->in_storage ? NODE_IN_STORAGE : 0) |
			  (at->in_layer ? NODE_IN_LAYER : 0) |
			  (at->in_function ? NODE_IN_FUNCTION : 0) |
			  (at->in_file ? NODE_IN_FILE : 0) | (at->in_file2 ? NODE_IN_FILE2 : 0));
}

/* The flags follow from the chain above the node, so that they are the same whoever asks. */
static uint16_t find_flags(const struct nodes *nodes, const struct window_node *node)
{
	const struct call_info *info = &nodes->head->calls[node->call];
	AUTO_FREE struct nest_call *enclosing = NULL;
	struct activity activity = {
		.call = node->call, .layer = node->layer, .file = node->file, .file2 = node->file2
	};
	struct call_context at;
	size_t depth = 0, cap = 0;
	uint16_t flags = 0;

	for (uint32_t i = node->parent; i; i = nodes_at(nodes, i)->parent) {
		const struct window_node *outer = nodes_at(nodes, i);

		enclosing = xgrow(enclosing, &cap, depth + 1, sizeof(*enclosing));
		enclosing[depth++] = (struct nest_call){ .file = outer->file,
							 .call = outer->call,
							 .layer = outer->layer };
	}
	at = summary_context(nodes->head, nodes->ways, &activity, enclosing, depth);
	flags |= info->class == CLASS_PROCESS ? NODE_PROCESS : 0;
	flags |= traffic_is_notice(info) ? NODE_NOTICE : 0;
	return flags | flags_of(&at);
}

static struct window_node node_of(const struct nodes *nodes, uint32_t parent,
				  const struct activity *a)
{
	if (nodes_at(nodes, parent)->depth >= NODES_DEPTH_MAX)
		parent = nodes_at(nodes, parent)->parent;
	return (struct window_node){
		.parent = parent,
		.depth = (uint16_t)(nodes_at(nodes, parent)->depth + 1),
		.file = a->layer == LAYER_APPLICATION ? a->name : a->file,
		.file2 = nodes->head->calls[a->call].class == CLASS_COPY ? a->file2 : 0,
		.call = a->call,
		.layer = a->layer,
	};
}

static struct window_node without_file(const struct nodes *nodes, struct window_node node)
{
	node.file = NODE_FILE_FOLDED;
	node.file2 = 0;
	node.flags = find_flags(nodes, &node);
	return node;
}

uint32_t nodes_find(const struct nodes *nodes, uint32_t parent, const struct activity *activity)
{
	struct window_node node = node_of(nodes, parent, activity);
	uint32_t found = *find_slot(nodes, &node);

	if (found || nodes->count < NODES_MAX)
		return found;
	node = without_file(nodes, node);
	return *find_slot(nodes, &node);
}

uint32_t nodes_get(struct nodes *nodes, uint32_t parent, const struct activity *activity)
{
	uint32_t found = nodes_find(nodes, parent, activity);
	struct window_node node;

	if (found)
		return found;
	node = node_of(nodes, parent, activity);
	if (nodes->count < NODES_MAX) {
		node.flags = find_flags(nodes, &node);
		return add_node(nodes, &node);
	}
	node = without_file(nodes, node);
	found = *find_slot(nodes, &node);
	if (found)
		return found;
	if (nodes->count < NODES_FOLDED_MAX)
		return add_node(nodes, &node);
	pthread_rwlock_wrlock(&nodes->lock);
	nodes->lost++;
	pthread_rwlock_unlock(&nodes->lock);
	return 0;
}

uint32_t nodes_fold(struct nodes *nodes, uint32_t number, bool chain)
{
	struct window_node node = *nodes_at(nodes, number);
	uint32_t found;

	if (!number)
		return 0;
	node.parent = chain ? 0 : nodes_fold(nodes, node.parent, false);
	node.depth = chain ? 1 : node.depth;
	node.file = NODE_FILE_FOLDED;
	node.file2 = 0;
	found = *find_slot(nodes, &node);
	if (found)
		return found;
	/* If there is no room, it stays what it is. */
	return nodes->count < NODES_FOLDED_MAX ? add_node(nodes, &node) : number;
}

size_t nodes_count(struct nodes *nodes)
{
	size_t count;

	pthread_rwlock_rdlock(&nodes->lock);
	count = nodes->count;
	pthread_rwlock_unlock(&nodes->lock);
	return count;
}

size_t nodes_bytes(struct nodes *nodes)
{
	size_t bytes;

	pthread_rwlock_rdlock(&nodes->lock);
	bytes = (nodes->count / NODES_BLOCK + 1) * NODES_BLOCK * sizeof(struct window_node) +
		nodes->cap * sizeof(*nodes->index);
	pthread_rwlock_unlock(&nodes->lock);
	return bytes;
}
