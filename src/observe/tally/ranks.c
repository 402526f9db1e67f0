/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/tally/ranks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "trace/format.h"

static int compare_numbers(const void *a, const void *b)
{
	const struct rank_info *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

static int compare_hosts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static size_t count_hosts(const struct ranks *ranks, const struct trace_head *head)
{
	AUTO_FREE const char **hosts = xcalloc(head->process_count + 1, sizeof(*hosts));
	size_t n = 0, different = 0;

	for (size_t i = 0; i < head->process_count; i++) {
		const char *host = head->processes[i].host;

		if (ranks->of_process[i] >= 0 && host && *host)
			hosts[n++] = host;
	}
	qsort(hosts, n, sizeof(*hosts), compare_hosts);
	for (size_t i = 0; i < n; i++)
		different += !i || strcmp(hosts[i], hosts[i - 1]) != 0;
	return different;
}

/* Lists each rank once, sorted by number, with the host of one of its processes. */
static void list_ranks(struct ranks *ranks, const struct trace_head *head)
{
	size_t n = 0;

	ranks->list = xcalloc(head->process_count + 1, sizeof(*ranks->list));
	for (size_t i = 0; i < head->process_count; i++) {
		const struct process_info *p = &head->processes[i];

		if (p->rank >= 0)
			ranks->list[n++] = (struct rank_info){ p->rank, p->host ? p->host : "" };
		if (p->ranks > 0 && (size_t)p->ranks > ranks->world)
			ranks->world = (size_t)p->ranks;
	}
	qsort(ranks->list, n, sizeof(*ranks->list), compare_numbers);
	for (size_t i = 0; i < n; i++) {
		if (!i || ranks->list[i].number != ranks->list[ranks->count - 1].number)
			ranks->list[ranks->count++] = ranks->list[i];
	}
}

static int32_t find_rank(const struct ranks *ranks, int32_t number)
{
	const struct rank_info wanted = { .number = number };
	const struct rank_info *found =
		bsearch(&wanted, ranks->list, ranks->count, sizeof(*ranks->list), compare_numbers);

	return found ? (int32_t)(found - ranks->list) : -1;
}

static void assign_processes(struct ranks *ranks, const struct trace_head *head)
{
	for (size_t i = 0; i < head->process_count; i++) {
		const struct process_info *p = &head->processes[i];
		bool forked = p->parent >= 0 && (size_t)p->parent < i;

		ranks->of_process[i] = p->rank >= 0 ? find_rank(ranks, p->rank)
				       : forked	    ? ranks->of_process[p->parent]
						    : -1;
	}
}

void ranks_init(struct ranks *ranks, const struct trace_head *head)
{
	*ranks = (struct ranks){ .process_count = head->process_count };
	list_ranks(ranks, head);
	ranks->of_process = xcalloc(head->process_count + 1, sizeof(*ranks->of_process));
	assign_processes(ranks, head);
	ranks->hosts = count_hosts(ranks, head);
}

void ranks_replace(struct ranks *ranks, const struct trace_head *head, struct rank_info *list,
		   size_t count, char **names, size_t name_count)
{
	free(ranks->list);
	ranks->list = list;
	ranks->count = count;
	ranks->names = names;
	ranks->name_count = name_count;
	assign_processes(ranks, head);
}

void ranks_release(struct ranks *ranks)
{
	for (size_t i = 0; i < ranks->name_count; i++)
		free(ranks->names[i]);
	free(ranks->names);
	free(ranks->list);
	free(ranks->of_process);
	*ranks = (struct ranks){ 0 };
}

/* Merges the sorted lists and sets where each rank went. */
static struct ranks_union merge_lists(struct ranks *ranks, const struct ranks *other)
{
	size_t total = ranks->count + other->count, i = 0, k = 0, n = 0;
	struct rank_info *list = xcalloc(total + 1, sizeof(*list));
	struct ranks_union where = { xcalloc(ranks->count + 1, sizeof(*where.first)),
				     xcalloc(other->count + 1, sizeof(*where.second)), 0 };

	while (i < ranks->count || k < other->count) {
		bool left = i < ranks->count &&
			    (k == other->count || ranks->list[i].number <= other->list[k].number);
		bool right = k < other->count &&
			     (!left || ranks->list[i].number == other->list[k].number);

		list[n] = left ? ranks->list[i] : other->list[k];
		if (left)
			where.first[i++] = n;
		if (right)
			where.second[k++] = n;
		where.common += left && right;
		n++;
	}
	free(ranks->list);
	ranks->list = list;
	ranks->count = n;
	return where;
}

struct ranks_union ranks_merge(struct ranks *ranks, const struct ranks *other, size_t process_base,
			       size_t process_count)
{
	struct ranks_union where = merge_lists(ranks, other);

	for (size_t i = 0; i < ranks->process_count; i++) {
		if (ranks->of_process[i] >= 0)
			ranks->of_process[i] = (int32_t)where.first[ranks->of_process[i]];
	}
	ranks->of_process =
		xrealloc(ranks->of_process, process_count + 1, sizeof(*ranks->of_process));
	for (size_t i = ranks->process_count; i < process_count; i++) {
		size_t index = i - process_base;
		int32_t rank = i >= process_base && index < other->process_count
				       ? other->of_process[index]
				       : -1;

		ranks->of_process[i] = rank < 0 ? -1 : (int32_t)where.second[rank];
	}
	ranks->process_count = process_count;
	ranks->hosts += other->hosts;
	if (other->world > ranks->world)
		ranks->world = other->world;
	return where;
}

int32_t ranks_of_process(const struct ranks *ranks, uint32_t process)
{
	return process < ranks->process_count ? ranks->of_process[process] : -1;
}

void spread_add(struct spread *spread, int32_t rank, double value)
{
	if (isnan(value))
		return;
	if (!spread->count || value < spread->minimum) {
		spread->minimum = value;
		spread->minimum_rank = rank;
	}
	if (!spread->count || value > spread->maximum) {
		spread->maximum = value;
		spread->maximum_rank = rank;
	}
	spread->sum += value;
	spread->count++;
}

void spread_merge(struct spread *spread, const struct spread *other)
{
	if (!other->count)
		return;
	if (!spread->count || other->minimum < spread->minimum ||
	    (other->minimum == spread->minimum && other->minimum_rank < spread->minimum_rank)) {
		spread->minimum = other->minimum;
		spread->minimum_rank = other->minimum_rank;
	}
	if (!spread->count || other->maximum > spread->maximum ||
	    (other->maximum == spread->maximum && other->maximum_rank < spread->maximum_rank)) {
		spread->maximum = other->maximum;
		spread->maximum_rank = other->maximum_rank;
	}
	spread->sum += other->sum;
	spread->count += other->count;
}

double spread_average(const struct spread *spread)
{
	return spread->count ? spread->sum / (double)spread->count : NAN;
}

void spread_format(struct buf *out, const struct spread *spread)
{
	if (spread->count)
		buf_printf(out, "(%g,%g,%g)", spread_average(spread), spread->minimum,
			   spread->maximum);
	else
		buf_puts(out, "(-,-,-)");
}

void spread_json(struct json *json, const char *key, const struct spread *spread)
{
	json_open(json, key, '{');
	json_double(json, "average", spread_average(spread));
	if (spread->count) {
		json_double(json, "minimum", spread->minimum);
		json_number(json, "minimum_rank", spread->minimum_rank);
		json_double(json, "maximum", spread->maximum);
		json_number(json, "maximum_rank", spread->maximum_rank);
	}
	json_close(json);
}
