/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/chain/clocks.h"

#include <stdlib.h>
#include <string.h>

#include "base/integer.h"
#include "base/mem.h"
#include "observe/chain/chain.h"
#include "trace/format.h"
#include "trace/merge/merge.h"
#include "trace/merge/merge_time.h"

/* What is to be added to the times of a host: at least low_ns, at most high_ns. */
struct bounds {
	int64_t low_ns, high_ns;
};

/* The number of a host's clock; host_count if it is unknown or has several. */
static size_t find_clock(const struct trace_head *head, const char *host)
{
	size_t found = head->host_count;

	for (size_t i = 0; i < head->host_count; i++) {
		if (strcmp(head->hosts[i].host, host) != 0)
			continue;
		if (found != head->host_count)
			return head->host_count;
		found = i;
	}
	return found;
}

static bool is_reference(const struct trace_head *head, size_t clock)
{
	return clock < head->host_count && !strcmp(head->hosts[clock].method, "reference");
}

static bool is_by_day(const struct trace_head *head, size_t clock)
{
	return clock < head->host_count && !strcmp(head->hosts[clock].method, "time of day");
}

static bool has_clocks_by_day(const struct trace_head *head)
{
	for (size_t i = 0; i < head->host_count; i++)
		if (is_by_day(head, i))
			return true;
	return false;
}

/* clocks: by process. */
static void bound_pair(struct bounds *bounds, const struct trace_head *head, const size_t *clocks,
		       const struct chain_transfer *sent, const struct chain_transfer *received)
{
	size_t from = clocks[sent->process], to = clocks[received->process];

	if (is_reference(head, from) && is_by_day(head, to))
		bounds[to].low_ns =
			i64_max(bounds[to].low_ns, ns_subtract(sent->start_ns, received->stop_ns));
	else if (is_by_day(head, from) && is_reference(head, to))
		bounds[from].high_ns = i64_min(bounds[from].high_ns,
					       ns_subtract(received->stop_ns, sent->start_ns));
}

static void bound_clocks(struct bounds *bounds, const struct trace_head *head,
			 const struct chain *chain)
{
	AUTO_FREE size_t *clocks = xcalloc(head->process_count, sizeof(*clocks));

	for (size_t i = 0; i < head->process_count; i++)
		clocks[i] = find_clock(head, head->processes[i].host);
	for (size_t i = 0; i < chain_size(chain); i++) {
		const struct chain_transfer *t = chain_at(chain, i);

		for (uint32_t k = 0; t->is_sent && k < t->count; k++)
			bound_pair(bounds, head, clocks, t, chain_partner(chain, t, k));
	}
}

static size_t list_corrections(struct merge_correction *list, const struct bounds *bounds,
			       const struct trace_head *head)
{
	size_t count = 0;

	for (size_t i = 0; i < head->host_count; i++) {
		int64_t low_ns = bounds[i].low_ns, high_ns = bounds[i].high_ns;
		int64_t half_ns = ns_subtract(high_ns, low_ns) / 2;

		if (low_ns == INT64_MIN || high_ns == INT64_MAX || low_ns > high_ns)
			continue;
		list[count++] = (struct merge_correction){
			.host = xstrdup(head->hosts[i].host),
			.offset_ns = ns_add(low_ns, half_ns),
			.error_ns = ns_add(half_ns, 1),
		};
	}
	return count;
}

int clocks_read(struct merge_correction **list, size_t *count, const char *path, struct err *err)
{
	AUTO_FREE struct bounds *bounds = NULL;
	struct chain *chain = NULL;
	struct trace trace;
	int r = trace_open(&trace, path, NULL, err);

	if (r < 0)
		return r;
	if (has_clocks_by_day(&trace.head))
		r = chain_read(&chain, path, err);
	if (r >= 0) {
		bounds = xcalloc(trace.head.host_count, sizeof(*bounds));
		for (size_t i = 0; i < trace.head.host_count; i++)
			bounds[i] = (struct bounds){ INT64_MIN, INT64_MAX };
		bound_clocks(bounds, &trace.head, chain);
		*list = xcalloc(trace.head.host_count, sizeof(**list));
		*count = list_corrections(*list, bounds, &trace.head);
	}
	chain_free(chain);
	trace_close(&trace);
	return r < 0 ? r : 0;
}

void clocks_free(struct merge_correction *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(list[i].host);
	free(list);
}
