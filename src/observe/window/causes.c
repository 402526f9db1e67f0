/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which calls caused which, in a window.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "observe/tally/names.h"
#include "observe/window/view.h"

struct causes {
	struct view view;
	struct window_sum *nodes;
	bool *shown; /* per node */
};

static void add_item(void *arg, const struct item *item)
{
	struct causes *c = arg;

	if (item->inside)
		window_sum_add(&c->nodes[item->node], item, true);
}

/* The calls of the program that other figures of the level count, or what these caused. */
static bool is_in_tree(const struct window_node *node, enum window_level level)
{
	if (level == WINDOW_ALL)
		return !(node->flags & NODE_NOTICE);
	return !(node->flags & (NODE_NOTICE | NODE_PROCESS | NODE_IN_PROCESS)) &&
	       (names_layer_is_io(node->layer) || node->flags & NODE_IN_IO);
}

/* The view is one of all calls. */
static void pick_calls(struct view *view, enum window_level level)
{
	for (uint32_t i = 1; i < view->node_count; i++) {
		if (!is_in_tree(nodes_at(&view->index->nodes, i), level))
			view->picks[i] = 0;
		else if (view->picks[i])
			view->picks[i] |= PICK_COUNTED;
	}
}

/* The value that has `rank` others before it in descending order; byte by byte, in linear time. */
static int64_t select_time(const int64_t *times, size_t count, size_t rank)
{
	const uint64_t sign = UINT64_C(1) << 63;
	uint64_t found = 0;

	for (int shift = 56; shift >= 0; shift -= 8) {
		size_t counts[256] = { 0 };
		unsigned byte = 255;

		for (size_t i = 0; i < count; i++) {
			uint64_t key = (uint64_t)times[i] ^ sign;

			if (shift == 56 || key >> (shift + 8) == found)
				counts[key >> shift & 255]++;
		}
		while (rank >= counts[byte])
			rank -= counts[byte--];
		found = found << 8 | byte;
	}
	return (int64_t)(found ^ sign);
}

/* The time that a node must have to be one of the first `limit`. */
static int64_t find_least_time(const struct causes *c, size_t total, size_t limit)
{
	AUTO_FREE int64_t *times = NULL;
	size_t n = 0;

	if (!limit || limit >= total)
		return INT64_MIN;
	times = xcalloc_large(total, sizeof(*times));
	for (size_t i = 1; i < c->view.node_count; i++) {
		if (c->nodes[i].calls)
			times[n++] = c->nodes[i].time_ns;
	}
	return select_time(times, n, limit - 1);
}

/* Marks nodes and their parents. Returns how many there are. */
static size_t mark_shown(struct causes *c, size_t limit, size_t *total)
{
	size_t marked = 0, shown = 0;
	int64_t least;

	*total = 0;
	for (size_t i = 1; i < c->view.node_count; i++)
		*total += c->nodes[i].calls != 0;
	least = find_least_time(c, *total, limit);
	for (uint32_t i = (uint32_t)c->view.node_count - 1; i; i--) {
		if (c->nodes[i].calls && c->nodes[i].time_ns >= least &&
		    (!limit || marked < limit)) {
			c->shown[i] = true;
			marked++;
		}
		if (!c->shown[i])
			continue;
		c->shown[nodes_at(&c->view.index->nodes, i)->parent] = true;
		shown++;
	}
	return shown;
}

static void list_nodes(const struct causes *c, struct window_causes *result)
{
	const struct trace_head *head = &c->view.index->trace.head;
	AUTO_FREE uint32_t *ids = xcalloc(c->view.node_count, sizeof(*ids));

	for (uint32_t i = 1; i < c->view.node_count; i++) {
		const struct window_node *node = nodes_at(&c->view.index->nodes, i);
		bool folded = node->file == NODE_FILE_FOLDED;

		if (!c->shown[i])
			continue;
		ids[i] = (uint32_t)result->count + 1;
		result->frame.folded |= folded;
		result->list[result->count++] = (struct window_cause){
			.id = ids[i],
			.parent = ids[node->parent],
			.function = head->calls[node->call].name,
			.file = folded ? NULL : head->files[node->file],
			.layer = node->layer,
			.sum = c->nodes[i],
		};
	}
}

int window_causes(struct window_index *index, const struct window_filter *filter, size_t limit,
		  struct window_causes *result, struct err *err)
{
	struct window_filter every = *filter;
	struct window_causes made = { 0 };
	struct causes c = { 0 };
	int r;

	every.level = WINDOW_ALL;
	r = view_init(&c.view, index, &every, err);
	if (r < 0)
		return r;
	pick_calls(&c.view, filter->level);
	c.nodes = xcalloc_large(c.view.node_count, sizeof(*c.nodes));
	c.shown = xcalloc(c.view.node_count, sizeof(*c.shown));
	r = view_visit(&c.view, false, add_item, &c, err);
	if (r >= 0) {
		size_t shown = mark_shown(&c, limit, &made.total);

		made.frame = c.view.frame;
		made.list = xcalloc(shown + 1, sizeof(*made.list));
		list_nodes(&c, &made);
		*result = made;
	}
	free(c.nodes);
	free(c.shown);
	view_release(&c.view);
	return r < 0 ? r : 0;
}

void window_causes_release(struct window_causes *result)
{
	free(result->list);
	*result = (struct window_causes){ 0 };
}
