/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The figures of a window. Sums are first made per node and per member; layers, functions and files
 * are groups of nodes.
 */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "observe/tally/names.h"
#include "observe/tally/sums.h"
#include "observe/tally/traffic.h"
#include "observe/window/view.h"

struct query {
	struct view view;
	struct window_result *result;
	struct window_bins bins;
	struct window_sum *nodes;   /* with time and bytes of all calls, however they count */
	struct window_sum *members; /* per process: of the first process of each member */
	uint32_t *first_process;    /* per process: the first one of the same member */
	struct window_sum of_others;
};

static void add_sizes(struct window_result *result, const struct item *item, unsigned ways)
{
	unsigned bin = item->kind & KIND_SIZE;

	if (bin >= CELL_SIZE_BINS || !(item->pick & PICK_FULL))
		return;
	result->sizes[READING][bin] += ways & 1u << READING ? item->calls : 0;
	result->sizes[WRITING][bin] += ways & 1u << WRITING ? item->calls : 0;
}

static void add_item(void *arg, const struct item *item)
{
	struct query *q = arg;
	const struct window_index *index = q->view.index;
	unsigned ways = index->ways[nodes_at(&index->nodes, item->node)->call];
	bool full = item->pick & PICK_FULL;

	if (q->bins.count)
		bins_add(&q->bins, q->bins.list, item, ways);
	if (!item->inside)
		return;
	window_sum_add(&q->result->total, item, ways, full);
	window_sum_add(&q->nodes[item->node], item, ways, true);
	if (item->process == PROCESS_OTHERS)
		window_sum_add(&q->of_others, item, ways, full);
	else
		window_sum_add(&q->members[q->first_process[item->process]], item, ways, full);
	add_sizes(q->result, item, ways);
}

static void add_sum(struct window_sum *to, const struct window_sum *from, bool full)
{
	to->calls += from->calls;
	to->errors += from->errors;
	if (!full)
		return;
	to->bytes[READING] += from->bytes[READING];
	to->bytes[WRITING] += from->bytes[WRITING];
	to->time_ns += from->time_ns;
}

static bool is_empty(const struct window_sum *sum)
{
	return !sum->calls && !sum->bytes[READING] && !sum->bytes[WRITING];
}

static int compare_rows(const void *a, const void *b)
{
	const struct window_row *x = a, *y = b;

	if (x->sum.time_ns != y->sum.time_ns)
		return x->sum.time_ns < y->sum.time_ns ? 1 : -1;
	if (x->sum.calls != y->sum.calls)
		return x->sum.calls < y->sum.calls ? 1 : -1;
	if (x->member != y->member)
		return x->member < y->member ? -1 : 1;
	return x->name && y->name ? strcmp(x->name, y->name) : !x->name - !y->name;
}

/* Sorts the rows and keeps the first ones. */
static void cut_rows(struct window_rows *rows, size_t limit)
{
	rows->total = rows->count;
	if (rows->count)
		qsort(rows->list, rows->count, sizeof(*rows->list), compare_rows);
	if (limit && rows->count > limit)
		rows->count = limit;
}

/* A table of rows by a number; it grows. */
struct table {
	struct window_rows *rows;
	size_t cap;
	struct map places;
};

static struct window_row *find_row(struct table *table, uint64_t key)
{
	struct window_rows *rows = table->rows;
	size_t place = (size_t)(uintptr_t)map_get(&table->places, key);

	if (place)
		return &rows->list[place - 1];
	rows->list = xgrow(rows->list, &table->cap, rows->count + 1, sizeof(*rows->list));
	rows->list[rows->count++] = (struct window_row){ .member = -1 };
	map_put(&table->places, key, (void *)(uintptr_t)rows->count);
	return &rows->list[rows->count - 1];
}

static void add_layer(struct table *table, const struct window_node *node,
		      const struct window_sum *sum, unsigned pick)
{
	struct window_row *row = find_row(table, node->layer + 1u);

	row->name = names_layer(node->layer);
	row->layer = node->layer;
	add_sum(&row->sum, sum, pick & PICK_FULL_LAYER);
}

static void add_function(struct table *table, const struct query *q, const struct window_node *node,
			 const struct window_sum *sum, unsigned pick)
{
	struct window_row *row = find_row(table, sums_function_key(node->call, node->layer));

	row->name = q->view.index->trace.head.calls[node->call].name;
	row->layer = node->layer;
	add_sum(&row->sum, sum, pick & PICK_FULL_FUNCTION);
}

static struct window_row *find_file_row(struct table *table, const struct query *q, file_id file)
{
	struct window_row *row = find_row(table, sums_file_key(file));

	if (file != NODE_FILE_FOLDED)
		row->name = q->view.index->trace.head.files[file];
	return row;
}

/* The bytes of a copy are read from its second file and written to the first. */
static void add_file(struct table *table, const struct query *q, const struct window_node *node,
		     const struct window_sum *sum, unsigned pick)
{
	struct window_sum first = *sum;

	if (node->layer == LAYER_APPLICATION)
		return;
	if (node->file2) {
		struct window_row *source = find_file_row(table, q, node->file2);

		source->sum.calls += sum->calls;
		if (pick & PICK_FULL_FILE2)
			source->sum.bytes[READING] += sum->bytes[READING];
		first.bytes[READING] = 0;
	}
	if (node->file)
		add_sum(&find_file_row(table, q, node->file)->sum, &first, pick & PICK_FULL_FILE);
}

static void group_nodes(struct query *q, const struct window_limits *limits)
{
	struct window_result *result = q->result;
	struct table layers = { .rows = &result->layers },
		     functions = { .rows = &result->functions }, files = { .rows = &result->files };

	for (uint32_t i = 1; i < q->view.node_count; i++) {
		const struct window_node *node = nodes_at(&q->view.index->nodes, i);
		unsigned pick = q->view.picks[i];

		if (is_empty(&q->nodes[i]))
			continue;
		add_layer(&layers, node, &q->nodes[i], pick);
		add_function(&functions, q, node, &q->nodes[i], pick);
		add_file(&files, q, node, &q->nodes[i], pick);
		result->frame.folded |= node->file == NODE_FILE_FOLDED;
	}
	map_release(&layers.places);
	map_release(&functions.places);
	map_release(&files.places);
	cut_rows(&result->layers, 0);
	cut_rows(&result->functions, limits->functions);
	cut_rows(&result->files, limits->files);
}

static void group_members(struct query *q, const struct window_limits *limits)
{
	const struct window_index *index = q->view.index;
	const struct trace_head *head = &index->trace.head;
	struct window_rows *rows = &q->result->members;
	size_t cap = 0;

	for (uint32_t i = 0; i <= head->process_count; i++) {
		bool is_other = i == head->process_count;
		const struct window_sum *sum = is_other ? &q->of_others : &q->members[i];

		if (is_empty(sum))
			continue;
		rows->list = xgrow(rows->list, &cap, rows->count + 1, sizeof(*rows->list));
		rows->list[rows->count] = (struct window_row){ .member = -1, .sum = *sum };
		if (!is_other) {
			rows->list[rows->count].member = index->member_of[i];
			rows->list[rows->count].name = head->processes[i].program;
			rows->list[rows->count].host = head->processes[i].host;
		}
		q->result->frame.folded |= is_other;
		rows->count++;
	}
	cut_rows(rows, limits->members);
}

static void find_first_processes(struct query *q)
{
	const struct window_index *index = q->view.index;
	size_t count = index->trace.head.process_count;
	struct map firsts = { 0 };

	q->first_process = xcalloc(count + 1, sizeof(*q->first_process));
	for (uint32_t i = 0; i < count; i++) {
		uint64_t key = (uint64_t)(uint32_t)index->member_of[i] + 1;

		q->first_process[i] = i;
		if (index->member_of[i] < 0)
			continue;
		if (map_get(&firsts, key))
			q->first_process[i] = (uint32_t)(uintptr_t)map_get(&firsts, key) - 1;
		else
			map_put(&firsts, key, (void *)(uintptr_t)(i + 1));
	}
	map_release(&firsts);
}

int window_query(struct window_index *index, const struct window_filter *filter,
		 const struct window_limits *limits, struct window_result *result, struct err *err)
{
	struct window_result made = { 0 };
	struct query q = { .result = &made };
	int r = view_init(&q.view, index, filter, err);

	if (r < 0)
		return r;
	q.bins = bins_new(&q.view.frame, limits->bins);
	q.bins.list = xcalloc(q.bins.count + 1, sizeof(*q.bins.list));
	made.bins = q.bins.list;
	made.bin_count = q.bins.count;
	made.bin_ns = q.bins.bin_ns;
	q.nodes = xcalloc(q.view.node_count, sizeof(*q.nodes));
	q.members = xcalloc(index->trace.head.process_count + 1, sizeof(*q.members));
	find_first_processes(&q);
	r = view_visit(&q.view, VISIT_DETAIL | (q.bins.count ? VISIT_EARLIER : 0), add_item, &q,
		       err);
	made.frame = q.view.frame;
	if (r >= 0) {
		group_nodes(&q, limits);
		group_members(&q, limits);
		*result = made;
	} else {
		window_result_release(&made);
	}
	view_release(&q.view);
	free(q.nodes);
	free(q.members);
	free(q.first_process);
	return r < 0 ? r : 0;
}

void window_result_release(struct window_result *result)
{
	free(result->bins);
	free(result->layers.list);
	free(result->functions.list);
	free(result->files.list);
	free(result->members.list);
	*result = (struct window_result){ 0 };
}
