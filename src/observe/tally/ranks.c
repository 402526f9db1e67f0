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
		if (ranks->of_process[i] >= 0)
			hosts[n++] = head->processes[i].host ? head->processes[i].host : "";
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
		if (p->rank >= 0 && p->ranks > 0 && (size_t)p->ranks > ranks->world)
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

void ranks_init(struct ranks *ranks, const struct trace_head *head)
{
	*ranks = (struct ranks){ .process_count = head->process_count };
	list_ranks(ranks, head);
	ranks->of_process = xcalloc(head->process_count + 1, sizeof(*ranks->of_process));
	for (size_t i = 0; i < head->process_count; i++) {
		const struct process_info *p = &head->processes[i];
		bool forked = p->parent >= 0 && (size_t)p->parent < i;

		ranks->of_process[i] = p->rank >= 0 ? find_rank(ranks, p->rank)
				       : forked	    ? ranks->of_process[p->parent]
						    : -1;
	}
	ranks->hosts = count_hosts(ranks, head);
}

void ranks_release(struct ranks *ranks)
{
	free(ranks->list);
	free(ranks->of_process);
	*ranks = (struct ranks){ 0 };
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
	json_real(json, "average", spread_average(spread));
	if (spread->count) {
		json_real(json, "minimum", spread->minimum);
		json_number(json, "minimum_rank", spread->minimum_rank);
		json_real(json, "maximum", spread->maximum);
		json_number(json, "maximum_rank", spread->maximum_rank);
	}
	json_close(json);
}
