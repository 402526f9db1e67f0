/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The thread that reads a trace once and divides it into chapters.
 */
#include "observe/window/index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "observe/chain/chain.h"
#include "observe/profile/cell.h"
#include "observe/tally/recent.h"
#include "observe/tally/summary.h"
#include "observe/tally/traffic.h"

#define BATCH 4096
/* Asynchronous operations in progress; as in observe/tally/summary.c. */
#define STARTED_MAX 65536

/* What the thread knows besides the index. */
struct pass {
	struct window_index *index;
	struct trace trace;
	struct nest nest;
	struct draft draft;
	struct recent started; /* struct event of operations in progress */
	uint64_t skip;	       /* of the draft, see struct chapter */
	uint64_t same;	       /* the latest activities that have the same start, which is */
	int64_t last_ns;
};

bool index_knows(const struct window_index *index, const struct activity *activity)
{
	const struct trace_head *head = &index->trace.head;

	return activity->call < head->call_count && activity->file < head->file_count &&
	       activity->file2 < head->file_count && activity->name < head->file_count &&
	       activity->process < head->process_count && activity->layer < LAYER_COUNT;
}

struct event index_event(const struct window_index *index, const struct activity *activity,
			 uint32_t node)
{
	const struct activity *a = activity;
	struct event event = {
		.start_ns = a->start_ns,
		.duration_ns = a->duration_ns,
		.offset = OFFSET_UNKNOWN,
		.node = node,
		.process = a->process,
		.kind = KIND_NO_TRANSFER,
	};
	struct contribution share;

	if (!node)
		return event;
	share = summary_contribution(&index->trace.head, index->ways, a);
	event.bytes =
		share.bytes_read > share.bytes_written ? share.bytes_read : share.bytes_written;
	if (share.transfer) {
		event.kind = (uint8_t)cell_bin(event.bytes);
		if (a->present & PRESENT(OFFSET) && !share.is_copy)
			event.offset = a->offset;
	}
	if (share.error)
		event.kind |= KIND_ERROR;
	return event;
}

static void add_correction(struct window_index *index, struct event correction)
{
	correction.kind |= KIND_NO_TRANSFER;
	pthread_mutex_lock(&index->lock);
	if (index->correction_count < INDEX_CORRECTIONS) {
		index->corrections =
			xgrow(index->corrections, &index->correction_cap,
			      index->correction_count + 1, sizeof(*index->corrections));
		index->corrections[index->correction_count++] = correction;
	}
	pthread_mutex_unlock(&index->lock);
}

/* An operation that completes may have transferred less than its start requested. */
static void follow_operation(struct pass *pass, const struct activity *a, const struct event *event)
{
	const struct trace_head *head = &pass->index->trace.head;
	struct call_ref self = { a->process, a->id }, start;
	struct event *op;
	uint64_t asked;

	if (head->calls[a->call].class == CLASS_START &&
	    (event->kind & KIND_SIZE) != KIND_NO_TRANSFER) {
		if (!recent_find(&pass->started, self))
			*(struct event *)recent_put(&pass->started, self) = *event;
		return;
	}
	if (head->calls[a->call].class != CLASS_WAIT)
		return;
	start = traffic_start(&pass->started, head, a);
	if (!start.id)
		return;
	op = recent_find(&pass->started, start);
	asked = op->bytes;
	op->bytes = traffic_completed(a, asked) - asked;
	if (op->bytes)
		add_correction(pass->index, *op);
	recent_drop(&pass->started, start);
}

static uint32_t find_node(struct pass *pass, const struct activity *a)
{
	const struct nest_call *enclosing;
	size_t depth = nest_enter(&pass->nest, a, &enclosing);
	struct nest_call *outer = nest_enclosing(&pass->nest);
	struct draft *draft = &pass->draft;
	uint32_t parent = depth ? outer->node : 0, node = 0;

	if (depth && outer->period != pass->nest.period) {
		draft->enclosing = xgrow(draft->enclosing, &draft->enclosing_cap,
					 draft->enclosing_count + 1, sizeof(*draft->enclosing));
		draft->enclosing[draft->enclosing_count++] =
			(struct chapter_call){ outer->id, a->process, parent };
		outer->period = pass->nest.period;
	}
	if (!depth || parent)
		node = nodes_get(&pass->index->nodes, parent, a);
	nest_mark(&pass->nest, node);
	return node;
}

static size_t max_size(size_t a, size_t b)
{
	return a > b ? a : b;
}

static struct chapter_limits find_limits(const struct window_index *index)
{
	const struct index_tuning *tuning = &index->tuning;
	size_t chapters = max_size(index->expected, index->chapter_count + 1);
	size_t rows = (tuning->rows ? tuning->rows : INDEX_ROWS) / chapters;
	size_t least = tuning->chapter_rows ? tuning->chapter_rows : INDEX_CHAPTER_ROWS;

	return (struct chapter_limits){
		.rows = max_size(rows, least),
		.longs = max_size(INDEX_LONGS / chapters, INDEX_CHAPTER_LONGS),
		.threads = max_size(rows, least) / 2,
		.tops = index->chapter_tops,
	};
}

/* Only this thread changes the chapters, so it may look at their number without the lock. */
static void finish_chapter(struct pass *pass)
{
	struct window_index *index = pass->index;
	struct chapter_limits limits = find_limits(index);
	struct chapter *chapter;

	if (!pass->draft.count)
		return;
	chapter = chapter_new(&pass->draft, &limits, &index->nodes, index->is_outside);
	chapter->skip = pass->skip;
	pthread_mutex_lock(&index->lock);
	index->chapters = xgrow(index->chapters, &index->chapter_cap, index->chapter_count + 1,
				sizeof(*index->chapters));
	index->chapters[index->chapter_count++] = chapter;
	/* A query reads this before it takes the lock and then sees the chapter. */
	atomic_fetch_add(&index->indexed, chapter->count);
	pthread_cond_broadcast(&index->changed);
	pthread_mutex_unlock(&index->lock);
	pass->nest.period = (uint32_t)index->chapter_count;
}

static void add_activity(struct pass *pass, const struct activity *a)
{
	struct draft *draft = &pass->draft;
	bool known = index_knows(pass->index, a);
	struct event event;

	if (draft->count == pass->index->chapter_size)
		finish_chapter(pass);
	if (a->start_ns != pass->last_ns)
		pass->same = 0;
	if (!draft->count)
		pass->skip = pass->same;
	pass->same++;
	pass->last_ns = a->start_ns;
	event = index_event(pass->index, a, known ? find_node(pass, a) : 0);
	draft->events = xgrow(draft->events, &draft->cap, draft->count + 1, sizeof(event));
	draft->events[draft->count++] = event;
	draft_add_id(draft, a->process, a->id);
	tops_add(&draft->tops, pass->index->chapter_tops, a, event.node);
	if (event.node)
		follow_operation(pass, a, &event);
}

/* For tests of what queries answer in the meantime. */
static void pause_pass(struct pass *pass)
{
	struct window_index *index = pass->index;

	finish_chapter(pass);
	pthread_mutex_lock(&index->lock);
	pthread_cond_broadcast(&index->changed);
	while (!atomic_load(&index->stop))
		pthread_cond_wait(&index->changed, &index->lock);
	pthread_mutex_unlock(&index->lock);
}

static int read_all(struct pass *pass, struct err *err)
{
	struct window_index *index = pass->index;
	AUTO_FREE struct activity *batch = xcalloc(BATCH, sizeof(*batch));
	uint64_t seen = 0;
	ssize_t n = 0;

	while (!atomic_load(&index->stop)) {
		n = trace_next(&pass->trace, batch, BATCH, err);
		if (n <= 0)
			break;
		for (ssize_t i = 0; i < n && !atomic_load(&index->stop); i++) {
			add_activity(pass, &batch[i]);
			if (++seen == index->tuning.pause_after)
				pause_pass(pass);
		}
	}
	finish_chapter(pass);
	return n < 0 ? (int)n : 0;
}

static void *run_pass(void *arg)
{
	struct window_index *index = arg;
	struct pass pass = { .index = index, .last_ns = INT64_MIN };
	struct err err = { 0 };
	int r = trace_reopen(&pass.trace, &index->trace, index->path, NULL, &err);

	draft_init(&pass.draft);
	recent_init(&pass.started, STARTED_MAX, sizeof(struct event));
	if (r >= 0)
		r = read_all(&pass, &err);
	trace_close(&pass.trace);
	recent_release(&pass.started);
	nest_release(&pass.nest);
	draft_release(&pass.draft);
	pthread_mutex_lock(&index->lock);
	if (r < 0)
		index->failed = err;
	atomic_store(&index->finished, true);
	pthread_cond_broadcast(&index->changed);
	pthread_mutex_unlock(&index->lock);
	return NULL;
}

static void find_members(struct window_index *index)
{
	const struct trace_head *head = &index->trace.head;

	ranks_init(&index->ranks, head);
	index->member_of = xcalloc(head->process_count + 1, sizeof(*index->member_of));
	index->is_outside = xcalloc(head->process_count + 1, sizeof(*index->is_outside));
	for (uint32_t i = 0; i < head->process_count; i++) {
		int32_t rank = ranks_of_process(&index->ranks, i);

		index->member_of[i] = !index->ranks.count ? (int32_t)i
				      : rank < 0	  ? -1
							  : index->ranks.list[rank].number;
		index->is_outside[i] = index->member_of[i] < 0;
	}
}

static void choose_chapters(struct window_index *index)
{
	uint64_t activities = index->trace.head.activities;

	index->chapter_size = index->tuning.chapter ? index->tuning.chapter : INDEX_CHAPTER;
	while (activities / index->chapter_size > INDEX_CHAPTERS)
		index->chapter_size *= 2;
	index->expected = activities / index->chapter_size + 1;
	index->chapter_tops = INDEX_TOPS / index->expected;
	if (index->chapter_tops > INDEX_CHAPTER_TOPS_MAX)
		index->chapter_tops = INDEX_CHAPTER_TOPS_MAX;
	if (index->chapter_tops < INDEX_CHAPTER_TOPS_MIN)
		index->chapter_tops = INDEX_CHAPTER_TOPS_MIN;
	if (index->tuning.chapter_tops)
		index->chapter_tops = index->tuning.chapter_tops;
}

int index_open(struct window_index **index, const char *path, const struct index_tuning *tuning,
	       struct err *err)
{
	struct window_index *made = xcalloc(1, sizeof(*made));
	int r = trace_open(&made->trace, path, NULL, err);

	if (r < 0) {
		free(made);
		return r;
	}
	if (tuning)
		made->tuning = *tuning;
	made->path = xstrdup(path);
	made->ways = traffic_table(&made->trace.head);
	find_members(made);
	choose_chapters(made);
	nodes_init(&made->nodes, &made->trace.head, made->ways);
	pthread_mutex_init(&made->lock, NULL);
	pthread_mutex_init(&made->chain_lock, NULL);
	pthread_cond_init(&made->changed, NULL);
	r = pthread_create(&made->thread, NULL, run_pass, made);
	made->running = !r;
	if (r) {
		window_index_close(made);
		return err_set(err, r, "%s: cannot start a thread: %s", path, strerror(r));
	}
	*index = made;
	return 0;
}

int window_index_open(struct window_index **index, const char *path, struct err *err)
{
	return index_open(index, path, NULL, err);
}

void window_index_close(struct window_index *index)
{
	if (!index)
		return;
	pthread_mutex_lock(&index->lock);
	atomic_store(&index->stop, true);
	pthread_cond_broadcast(&index->changed);
	pthread_mutex_unlock(&index->lock);
	if (index->running)
		pthread_join(index->thread, NULL);
	for (size_t i = 0; i < INDEX_CACHE; i++)
		index_unload(index, index->cache[i]);
	for (size_t i = 0; i < index->chapter_count; i++)
		chapter_free(index->chapters[i]);
	pthread_cond_destroy(&index->changed);
	pthread_mutex_destroy(&index->lock);
	pthread_mutex_destroy(&index->chain_lock);
	chain_free(index->chain);
	nodes_release(&index->nodes);
	ranks_release(&index->ranks);
	trace_close(&index->trace);
	free(index->chapters);
	free(index->corrections);
	free(index->member_of);
	free(index->is_outside);
	free(index->ways);
	free(index->path);
	free(index);
}

double window_index_covered(const struct window_index *index)
{
	double total = (double)index->trace.head.activities;
	double done = (double)atomic_load(&index->indexed);

	if (atomic_load(&index->finished))
		return 1;
	return done < total ? done / total : total > 0 ? 0.999 : 0;
}

int window_index_wait(struct window_index *index, struct err *err)
{
	int r;

	pthread_mutex_lock(&index->lock);
	while (!atomic_load(&index->finished))
		pthread_cond_wait(&index->changed, &index->lock);
	r = index->failed.code ? err_set(err, index->failed.code, "%s", index->failed.text) : 0;
	pthread_mutex_unlock(&index->lock);
	return r;
}

void window_index_wait_first(struct window_index *index, int64_t patience_ns)
{
	struct timespec until;
	int64_t end_ns;
	int r = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	end_ns = until.tv_nsec + patience_ns;
	until.tv_sec += end_ns / NS_PER_S;
	until.tv_nsec = end_ns % NS_PER_S;
	pthread_mutex_lock(&index->lock);
	while (!r && !index->chapter_count && !atomic_load(&index->finished))
		r = pthread_cond_clockwait(&index->changed, &index->lock, CLOCK_MONOTONIC, &until);
	pthread_mutex_unlock(&index->lock);
}

const struct trace_head *window_index_head(const struct window_index *index)
{
	return &index->trace.head;
}

size_t window_index_bytes(struct window_index *index)
{
	size_t bytes = nodes_bytes(&index->nodes);

	pthread_mutex_lock(&index->lock);
	for (size_t i = 0; i < index->chapter_count; i++)
		bytes += chapter_bytes(index->chapters[i]);
	for (size_t i = 0; i < INDEX_CACHE; i++) {
		if (index->cache[i])
			bytes += index->cache[i]->count * sizeof(struct event);
	}
	bytes += index->correction_cap * sizeof(*index->corrections);
	pthread_mutex_unlock(&index->lock);
	return bytes;
}

int index_chapters(struct window_index *index, struct chapter *const **chapters, size_t *count,
		   struct err *err)
{
	struct chapter **copy;

	pthread_mutex_lock(&index->lock);
	if (index->failed.code) {
		int r = err_set(err, index->failed.code, "%s", index->failed.text);

		pthread_mutex_unlock(&index->lock);
		return r;
	}
	*count = index->chapter_count;
	copy = xcalloc(*count + 1, sizeof(*copy));
	for (size_t i = 0; i < *count; i++)
		copy[i] = index->chapters[i];
	pthread_mutex_unlock(&index->lock);
	*chapters = copy;
	return 0;
}

int index_chain(struct window_index *index, const struct chain **chain, struct err *err)
{
	int r = 0;

	pthread_mutex_lock(&index->chain_lock);
	if (!index->has_read_chain)
		r = chain_read(&index->chain, index->path, err);
	index->has_read_chain |= r >= 0;
	*chain = index->chain;
	pthread_mutex_unlock(&index->chain_lock);
	return r;
}
