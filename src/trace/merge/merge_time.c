/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/merge/merge_time.h"

#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"
#include "trace/merge/align.h"
#include "trace/ticks.h"

#define BATCH 4096 /* activities */
/* Ticks and time of day of one host may differ by this much, because the time of day can be set. */
#define SAME_CLOCK_NS NS_PER_S

/* Keys of calls that every rank makes once. The keys of other calls are larger. */
enum { KEY_INIT = 1, KEY_FINALIZE };

enum sync_kind { SYNC_NONE, SYNC_INIT, SYNC_FINALIZE, SYNC_OPEN };

/* A synchronizing call as seen by the processes of one clock. */
struct view {
	struct align_view view;
	struct view *next;
	uint64_t key;
};

struct views {
	struct map by_key;
	struct view *list;
	size_t count;
};

static void views_release(struct views *views)
{
	for (struct view *v = views->list, *next; v; v = next) {
		next = v->next;
		free(v);
	}
	map_release(&views->by_key);
	*views = (struct views){ 0 };
}

static void views_add(struct views *views, uint64_t key, int64_t enter_ns, int64_t exit_ns)
{
	struct view *v = map_get(&views->by_key, key);

	if (!v) {
		v = xcalloc(1, sizeof(*v));
		*v = (struct view){ { enter_ns, exit_ns }, views->list, key };
		views->list = v;
		views->count++;
		map_put(&views->by_key, key, v);
		return;
	}
	if (enter_ns > v->view.enter_ns)
		v->view.enter_ns = enter_ns;
	if (exit_ns < v->view.exit_ns)
		v->view.exit_ns = exit_ns;
}

/*
 * Only calls that wait for every rank in all versions of MPI. An open does, because all ranks agree
 * on a new communicator. Setting a view, closing a file and the like may return at once.
 */
static enum sync_kind classify_call(const struct call_info *call)
{
	const char *name = call->name[0] == 'P' ? call->name + 1 : call->name;

	if (call->layer != LAYER_MPI)
		return SYNC_NONE;
	if (!strcmp(name, "MPI_Init") || !strcmp(name, "MPI_Init_thread"))
		return SYNC_INIT;
	if (!strcmp(name, "MPI_Finalize"))
		return SYNC_FINALIZE;
	return !strcmp(name, "MPI_File_open") ? SYNC_OPEN : SYNC_NONE;
}

/* The key of a synchronizing call; 0 if the call does not synchronize or failed. */
static uint64_t make_sync_key(enum sync_kind kind, const struct activity *a)
{
	uint64_t key;

	if (a->error || kind == SYNC_NONE)
		return 0;
	if (kind != SYNC_OPEN)
		return kind == SYNC_INIT ? KEY_INIT : KEY_FINALIZE;
	if (!(a->present & PRESENT(COLLECTIVE)) || !a->collective)
		return 0;
	key = XXH64(&a->collective, sizeof(a->collective), 0);
	return key > KEY_FINALIZE ? key : KEY_FINALIZE + 1;
}

/* Reads the synchronizing calls of a part whose time 0 is at zero_ns of its clock. */
static int read_views(struct views *views, const char *path, int64_t zero_ns, struct err *err)
{
	struct trace_filter mpi = { .layers = UINT64_C(1) << LAYER_MPI };
	AUTO_FREE struct activity *batch = xcalloc(BATCH, sizeof(*batch));
	AUTO_FREE enum sync_kind *kinds = NULL;
	struct trace trace;
	ssize_t n;
	int r = trace_open(&trace, path, &mpi, err);

	if (r < 0)
		return r;
	kinds = xcalloc(trace.head.call_count + 1, sizeof(*kinds));
	for (size_t i = 0; i < trace.head.call_count; i++)
		kinds[i] = classify_call(&trace.head.calls[i]);
	while ((n = trace_next(&trace, batch, BATCH, err)) > 0)
		for (ssize_t i = 0; i < n; i++) {
			const struct activity *a = &batch[i];
			uint64_t key = make_sync_key(kinds[a->call], a);
			int64_t enter_ns = ns_add(a->start_ns, zero_ns);

			if (key)
				views_add(views, key, enter_ns, ns_add(enter_ns, a->duration_ns));
		}
	trace_close(&trace);
	return n < 0 ? (int)n : 0;
}

static int clock_read(struct views *views, const struct merge_times *times, size_t clock,
		      const char *const *paths, size_t count, struct err *err)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < count; i++)
		if (times->clock_of[i] == clock)
			r = read_views(views, paths[i], times->shift_ns[i], err);
	return r;
}

/* False if a process left the call before all processes of the same clock had entered it. */
static bool has_synchronized(const struct view *v)
{
	return v->view.enter_ns <= v->view.exit_ns;
}

static void clock_align(struct merge_clock *clock, const struct views *reference,
			const struct views *own)
{
	AUTO_FREE struct align_event *events = xcalloc(own->count + 1, sizeof(*events));
	struct align_offset found;
	size_t n = 0;

	for (const struct view *b = own->list; b; b = b->next) {
		const struct view *a = map_get(&reference->by_key, b->key);

		if (a && has_synchronized(a) && has_synchronized(b))
			events[n++] = (struct align_event){ a->view, b->view };
	}
	if (!align_clocks(events, n, &found))
		return;
	clock->offset_ns = found.offset_ns;
	clock->error_ns = found.error_ns;
	clock->method = "collective calls";
}

static int clocks_align(struct merge_times *times, const char *const *paths, size_t count,
			struct err *err)
{
	struct views reference = { 0 };
	int r = clock_read(&reference, times, times->reference, paths, count, err);

	for (size_t i = 0; r >= 0 && i < times->clock_count; i++) {
		struct views own = { 0 };

		if (i == times->reference)
			continue;
		r = clock_read(&own, times, i, paths, count, err);
		if (r >= 0)
			clock_align(&times->clocks[i], &reference, &own);
		views_release(&own);
	}
	views_release(&reference);
	return r;
}

/*
 * Finds time 0 of `head` on the clock of `first`. Returns false if `head` has another clock. Ticks
 * give the exact time if both traces have them; the time of day must not contradict them.
 */
static bool find_zero(const struct trace_head *first, const struct trace_head *head,
		      int64_t *zero_ns)
{
	int64_t day_ns = ns_subtract(head->run.started_ns, first->run.started_ns), off_ns;
	struct ticks ticks;

	if (strcmp(first->run.host, head->run.host) != 0)
		return false;
	*zero_ns = day_ns;
	if (!first->clock.tick0 || !head->clock.tick0)
		return true;
	if (strcmp(first->clock.source, head->clock.source) != 0)
		return false;
	ticks_init(&ticks, &first->clock);
	*zero_ns = ticks_ns(&ticks, (int64_t)head->clock.tick0);
	off_ns = ns_subtract(*zero_ns, day_ns);
	return off_ns < SAME_CLOCK_NS && off_ns > -SAME_CLOCK_NS;
}

/* Finds or creates the clock of part i, and sets shift_ns to the part's time 0 on that clock. */
static void clock_assign(struct merge_times *times, const struct trace_head *const *heads, size_t i)
{
	struct merge_clock *c;

	for (size_t k = 0; k < times->clock_count; k++) {
		c = &times->clocks[k];
		if (find_zero(heads[c->first], heads[i], &times->shift_ns[i])) {
			times->clock_of[i] = k;
			return;
		}
	}
	times->clock_of[i] = times->clock_count;
	times->shift_ns[i] = 0;
	times->clocks[times->clock_count++] = (struct merge_clock){ .first = i };
}

static size_t find_earliest(const struct trace_head *const *heads, size_t count)
{
	size_t best = 0;

	for (size_t i = 1; i < count; i++)
		if (heads[i]->run.started_ns < heads[best]->run.started_ns)
			best = i;
	return best;
}

/* The difference of the two clocks according to the time of day. */
static int64_t compare_time_of_day_ns(const struct merge_times *times,
				      const struct trace_head *const *heads, size_t clock)
{
	return ns_subtract(heads[times->clocks[clock].first]->run.started_ns,
			   heads[times->clocks[times->reference].first]->run.started_ns);
}

/* Applies what the caller knows about clocks that were aligned by the time of day. */
static void correct_clocks(struct merge_times *times, const struct trace_head *const *heads,
			   const struct merge_corrections *corrections)
{
	for (size_t i = 0; i < times->clock_count; i++) {
		struct merge_clock *c = &times->clocks[i];

		if (i == times->reference || c->error_ns >= 0)
			continue;
		for (size_t k = 0; k < corrections->count; k++) {
			const struct merge_correction *known = &corrections->list[k];

			if (strcmp(known->host, heads[c->first]->run.host) != 0)
				continue;
			c->offset_ns = ns_add(c->offset_ns, known->offset_ns);
			c->error_ns = known->error_ns;
			c->method = "messages";
		}
	}
}

static void compute_shifts(struct merge_times *times, const struct trace_head *const *heads,
			   size_t count)
{
	const struct trace_head *reference = heads[times->clocks[times->reference].first];
	int64_t least = INT64_MAX;

	for (size_t i = 0; i < count; i++) {
		times->shift_ns[i] =
			ns_add(times->shift_ns[i], times->clocks[times->clock_of[i]].offset_ns);
		if (times->shift_ns[i] < least)
			least = times->shift_ns[i];
	}
	for (size_t i = 0; i < count; i++)
		times->shift_ns[i] = ns_subtract(times->shift_ns[i], least);
	times->started_ns = ns_add(reference->run.started_ns, least);
}

int merge_times_find(struct merge_times *times, const struct trace_head *const *heads,
		     const char *const *paths, size_t count,
		     const struct merge_corrections *corrections, struct err *err)
{
	int r = 0;

	*times = (struct merge_times){
		.clocks = xcalloc(count, sizeof(*times->clocks)),
		.clock_of = xcalloc(count, sizeof(*times->clock_of)),
		.shift_ns = xcalloc(count, sizeof(*times->shift_ns)),
	};
	for (size_t i = 0; i < count; i++)
		clock_assign(times, heads, i);
	times->reference = times->clock_of[find_earliest(heads, count)];
	for (size_t i = 0; i < times->clock_count; i++) {
		times->clocks[i].offset_ns = compare_time_of_day_ns(times, heads, i);
		times->clocks[i].error_ns = -1;
		times->clocks[i].method = "time of day";
	}
	times->clocks[times->reference].method = "reference";
	times->clocks[times->reference].error_ns = 0;
	if (times->clock_count > 1)
		r = clocks_align(times, paths, count, err);
	if (corrections)
		correct_clocks(times, heads, corrections);
	compute_shifts(times, heads, count);
	if (r < 0)
		merge_times_release(times);
	return r;
}

void merge_times_release(struct merge_times *times)
{
	free(times->clocks);
	free(times->clock_of);
	free(times->shift_ns);
	*times = (struct merge_times){ 0 };
}

int64_t merge_times_correction_ns(const struct merge_times *times,
				  const struct trace_head *const *heads, size_t clock)
{
	return ns_subtract(times->clocks[clock].offset_ns,
			   compare_time_of_day_ns(times, heads, clock));
}
