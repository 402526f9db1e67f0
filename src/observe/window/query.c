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
#include "observe/window/bins.h"
#include "observe/window/view.h"

/*
 * Rows of a chapter with the same part of its time and a similar average duration, which are spread
 * over bins together.
 */
struct row_group {
	struct window_sum sum;
	struct row_span span;
	bool used, inside;
};
enum { GROUPS = 64 };

struct query {
	struct view view;
	struct window_result *result;
	struct bins bins;
	struct bin_sums sums;
	struct row_group groups[CHAPTER_PARTS][GROUPS];
	struct window_sum *nodes;   /* with time and bytes of all calls, however they count */
	struct window_sum *members; /* per process: of the first process of each member */
	uint32_t *first_process;    /* per process: the first one of the same member */
	struct window_sum of_others;
};

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

static void add_sizes(struct window_result *result, const struct item *item)
{
	unsigned bin = item->kind & KIND_SIZE, ways = item_ways(item);

	if (bin >= CELL_SIZE_BINS || !(item->pick & PICK_FULL))
		return;
	result->sizes[READING][bin] += ways & 1u << READING ? item->calls : 0;
	result->sizes[WRITING][bin] += ways & 1u << WRITING ? item->calls : 0;
}

static void spread_groups(struct query *q)
{
	for (size_t i = 0; i < CHAPTER_PARTS; i++) {
		for (size_t k = 0; k < GROUPS; k++) {
			struct row_group *group = &q->groups[i][k];

			if (!group->used)
				continue;
			bins_add(&q->bins, &q->sums, 0, &group->sum, &group->span, group->inside);
			*group = (struct row_group){ 0 };
		}
	}
}

static void add_to_bins(struct query *q, const struct item *item, const struct window_sum *sum)
{
	int64_t average = item->calls ? item->time_ns / item->calls : 0;
	unsigned bits = average > 0 ? 64 - (unsigned)__builtin_clzll((uint64_t)average) : 0;
	struct row_group *group;

	if (!item->row) {
		bins_add(&q->bins, &q->sums, 0, sum, &item->span, item->inside);
		return;
	}
	group = &q->groups[item->row->part][bits < GROUPS ? bits : GROUPS - 1];
	if (group->used &&
	    (group->span.from_ns != item->span.from_ns || group->inside != item->inside))
		spread_groups(q);
	if (!group->used || item->span.until_ns > group->span.until_ns)
		group->span = item->span;
	group->used = true;
	group->inside = item->inside;
	add_sum(&group->sum, sum, true);
}

static void add_item(void *arg, const struct item *item)
{
	struct query *q = arg;
	bool full = item->pick & PICK_FULL;
	struct window_sum sum = { 0 };

	window_sum_add(&sum, item, full);
	if (q->bins.count)
		add_to_bins(q, item, &sum);
	if (!item->inside)
		return;
	add_sum(&q->result->total, &sum, true);
	if (full)
		add_sum(&q->nodes[item->node], &sum, true);
	else
		window_sum_add(&q->nodes[item->node], item, true);
	add_sum(item->process == PROCESS_OTHERS ? &q->of_others
						: &q->members[q->first_process[item->process]],
		&sum, true);
	add_sizes(q->result, item);
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

/* Rows of which the first ones in the order of compare_rows() are kept. */
struct ranking {
	struct window_rows *rows;
	size_t cap, limit;	 /* limit 0: all */
	struct window_row worst; /* of the best `limit` ones so far, if it is known */
	bool has_worst;
};

/* Sorts the rows and drops those beyond the limit. */
static void ranking_cut(struct ranking *ranking)
{
	struct window_rows *rows = ranking->rows;

	if (rows->count)
		qsort(rows->list, rows->count, sizeof(*rows->list), compare_rows);
	if (ranking->limit && rows->count > ranking->limit)
		rows->count = ranking->limit;
}

static void ranking_add(struct ranking *ranking, const struct window_row *row)
{
	struct window_rows *rows = ranking->rows;
	size_t limit = ranking->limit;

	rows->total++;
	if (ranking->has_worst && compare_rows(row, &ranking->worst) >= 0)
		return;
	rows->list = xgrow(rows->list, &ranking->cap, rows->count + 1, sizeof(*rows->list));
	rows->list[rows->count++] = *row;
	if (!limit || rows->count < 2 * limit)
		return;
	ranking_cut(ranking);
	ranking->worst = rows->list[limit - 1];
	ranking->has_worst = true;
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

static size_t place_of_file(const struct query *q, file_id file)
{
	size_t count = q->view.index->trace.head.file_count;

	return file < count ? file : count;
}

/* The bytes of a copy are read from its second file and written to the first. */
static void add_file(struct window_sum *files, const struct query *q,
		     const struct window_node *node, const struct window_sum *sum, unsigned pick)
{
	struct window_sum first = *sum;

	if (node->layer == LAYER_APPLICATION)
		return;
	if (node->file2) {
		struct window_sum *source = &files[place_of_file(q, node->file2)];

		source->calls += sum->calls;
		if (pick & PICK_FULL_FILE2)
			source->bytes[READING] += sum->bytes[READING];
		first.bytes[READING] = 0;
	}
	if (node->file)
		add_sum(&files[place_of_file(q, node->file)], &first, pick & PICK_FULL_FILE);
}

static void rank_files(const struct query *q, const struct window_sum *files, size_t limit)
{
	const struct trace_head *head = &q->view.index->trace.head;
	struct ranking ranking = { .rows = &q->result->files, .limit = limit };

	for (size_t i = 1; i <= head->file_count; i++) {
		struct window_row row = { .member = -1, .sum = files[i] };

		if (is_empty(&files[i]))
			continue;
		row.name = i < head->file_count ? head->files[i] : NULL;
		ranking_add(&ranking, &row);
	}
	ranking_cut(&ranking);
}

/* Few rows, which are in a table by their number. */
static void rank_table(struct table *table, size_t limit)
{
	struct ranking ranking = { .rows = table->rows, .limit = limit };

	table->rows->total = table->rows->count;
	ranking_cut(&ranking);
	map_release(&table->places);
}

static void group_nodes(struct query *q, const struct window_limits *limits)
{
	struct window_result *result = q->result;
	struct table layers = { .rows = &result->layers };
	struct table functions = { .rows = &result->functions };
	AUTO_FREE struct window_sum *files =
		xcalloc_large(q->view.index->trace.head.file_count + 1, sizeof(*files));

	for (uint32_t i = 1; i < q->view.node_count; i++) {
		const struct window_node *node = nodes_at(&q->view.index->nodes, i);
		unsigned pick = q->view.picks[i];

		if (is_empty(&q->nodes[i]))
			continue;
		add_layer(&layers, node, &q->nodes[i], pick);
		add_function(&functions, q, node, &q->nodes[i], pick);
		add_file(files, q, node, &q->nodes[i], pick);
		result->frame.folded |= node->file == NODE_FILE_FOLDED;
	}
	rank_table(&layers, 0);
	rank_table(&functions, limits->functions);
	rank_files(q, files, limits->files);
}

static void group_members(struct query *q, const struct window_limits *limits)
{
	const struct window_index *index = q->view.index;
	const struct trace_head *head = &index->trace.head;
	struct ranking ranking = { .rows = &q->result->members, .limit = limits->members };

	for (uint32_t i = 0; i < head->process_count; i++) {
		struct window_row row = {
			.name = head->processes[i].program,
			.host = head->processes[i].host,
			.member = index->member_of[i],
			.sum = q->members[i],
		};

		if (!is_empty(&row.sum))
			ranking_add(&ranking, &row);
	}
	if (!is_empty(&q->of_others)) {
		q->result->frame.folded = true;
		ranking_add(&ranking, &(struct window_row){ .member = -1, .sum = q->of_others });
	}
	ranking_cut(&ranking);
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
	AUTO_FREE struct query *q = xcalloc(1, sizeof(*q));
	int r = view_init(&q->view, index, filter, err);

	if (r < 0)
		return r;
	q->result = &made;
	q->bins = bins_divide(&q->view.frame, limits->bins);
	bin_sums_init(&q->sums, &q->bins, 1);
	made.bins = xcalloc(q->bins.count + 1, sizeof(*made.bins));
	made.bin_count = q->bins.count;
	made.bin_ns = q->bins.bin_ns;
	q->nodes = xcalloc_large(q->view.node_count, sizeof(*q->nodes));
	q->members = xcalloc(index->trace.head.process_count + 1, sizeof(*q->members));
	find_first_processes(q);
	r = view_visit(&q->view, q->bins.count > 0, add_item, q, err);
	made.frame = q->view.frame;
	if (r >= 0) {
		spread_groups(q);
		bins_finish(&q->bins, &q->sums, 0, made.bins);
		group_nodes(q, limits);
		group_members(q, limits);
		*result = made;
	} else {
		window_result_release(&made);
	}
	view_release(&q->view);
	bin_sums_release(&q->sums);
	free(q->nodes);
	free(q->members);
	free(q->first_process);
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
