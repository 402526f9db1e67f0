/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads chapters of a trace again, and keeps what was read last.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "observe/window/index.h"

#define BATCH 4096

int reader_open(struct chapter_reader *reader, struct window_index *index,
		struct chapter *const *chapters, size_t first, size_t last, struct err *err)
{
	/* Also calls with a negative duration, which only a damaged trace has. */
	struct trace_filter filter = { .from_ns = chapters[first]->first_ns,
				       .to_ns = chapters[last]->last_ns + 1,
				       .min_duration_ns = INT64_MIN };
	int r;

	*reader = (struct chapter_reader){ .index = index, .skip = chapters[first]->skip };
	r = trace_reopen(&reader->trace, &index->trace, index->path, &filter, err);
	if (r < 0)
		return r;
	if (reader->trace.head.call_count != index->trace.head.call_count ||
	    reader->trace.head.file_count < index->trace.head.file_count ||
	    reader->trace.head.process_count < index->trace.head.process_count) {
		trace_close(&reader->trace);
		return err_set(err, ESTALE, "%s: the trace was replaced; open it again",
			       index->path);
	}
	reader->batch = xcalloc(BATCH, sizeof(*reader->batch));
	return 0;
}

void reader_close(struct chapter_reader *reader)
{
	trace_close(&reader->trace);
	nest_release(&reader->nest);
	free(reader->batch);
	*reader = (struct chapter_reader){ 0 };
}

/* The lock of the nodes must be held. */
static uint32_t find_node(struct chapter_reader *reader, const struct chapter *chapter,
			  const struct activity *a)
{
	const struct nest_call *enclosing;
	uint32_t parent = 0, node;
	size_t depth;

	if (!index_knows(reader->index, a))
		return 0;
	depth = nest_enter(&reader->nest, a, &enclosing);
	if (depth)
		parent = enclosing[depth - 1].node;
	else if (a->parent)
		parent = chapter_find_enclosing(chapter, a->process, a->parent);
	/* Below a call without a node, nothing has one. */
	node = depth && !parent ? 0 : nodes_find(&reader->index->nodes, parent, a);
	nest_mark(&reader->nest, node);
	return node;
}

static int fill_batch(struct chapter_reader *reader, struct err *err)
{
	ssize_t n = trace_next(&reader->trace, reader->batch, BATCH, err);

	if (n < 0)
		return (int)n;
	if (!n)
		return err_set(err, ESTALE,
			       "%s: the trace has changed or is damaged; open it again",
			       reader->index->path);
	reader->count = (size_t)n;
	reader->next = 0;
	return 0;
}

int reader_read(struct chapter_reader *reader, const struct chapter *chapter, reader_visit *visit,
		void *arg, struct err *err)
{
	uint64_t left = chapter->count;

	while (left) {
		pthread_rwlock_t *lock = &reader->index->nodes.lock;
		int r = reader->next == reader->count ? fill_batch(reader, err) : 0;
		bool goes_on = true;

		if (r < 0)
			return r;
		for (; reader->skip && reader->next < reader->count; reader->skip--)
			reader->next++;
		pthread_rwlock_rdlock(lock);
		for (; goes_on && left && reader->next < reader->count; left--) {
			const struct activity *a = &reader->batch[reader->next++];

			goes_on = visit(arg, a, find_node(reader, chapter, a));
		}
		pthread_rwlock_unlock(lock);
		if (!goes_on)
			return 0;
	}
	return 1;
}

static bool add_event(void *arg, const struct activity *activity, uint32_t node)
{
	struct loaded *loaded = ((void **)arg)[0];
	const struct window_index *index = ((void **)arg)[1];

	loaded->events[loaded->count++] = index_event(index, activity, node);
	return true;
}

static void loaded_free(struct loaded *loaded)
{
	if (loaded)
		free(loaded->events);
	free(loaded);
}

static struct loaded *find_cached(struct window_index *index, size_t chapter)
{
	struct loaded *found = NULL;

	pthread_mutex_lock(&index->lock);
	for (size_t i = 0; i < INDEX_CACHE && !found; i++) {
		if (index->cache[i] && index->cache[i]->chapter == chapter)
			found = index->cache[i];
	}
	if (found) {
		found->users++;
		found->used = ++index->uses;
	}
	pthread_mutex_unlock(&index->lock);
	return found;
}

/* The place in the cache that is empty, or was not used for the longest time. */
static size_t find_place(const struct window_index *index)
{
	/* Of very long runs, chapters are larger. */
	size_t size = index->chapter_size > INDEX_CHAPTER ? index->chapter_size : INDEX_CHAPTER;
	size_t places = (size_t)INDEX_CACHE * INDEX_CHAPTER / size, place = 0;

	for (size_t i = 0; i < places && index->cache[place]; i++) {
		if (!index->cache[i] || index->cache[i]->used < index->cache[place]->used)
			place = i;
	}
	return place;
}

/* The cache is a user, too. */
static void put_into_cache(struct window_index *index, struct loaded *loaded)
{
	struct loaded *old;
	size_t place;

	pthread_mutex_lock(&index->lock);
	place = find_place(index);
	old = index->cache[place];
	index->cache[place] = loaded;
	loaded->users = 2;
	loaded->used = ++index->uses;
	pthread_mutex_unlock(&index->lock);
	if (old)
		index_unload(index, old);
}

void index_unload(struct window_index *index, struct loaded *loaded)
{
	bool is_last;

	if (!loaded)
		return;
	pthread_mutex_lock(&index->lock);
	is_last = --loaded->users == 0;
	pthread_mutex_unlock(&index->lock);
	if (is_last)
		loaded_free(loaded);
}

/* Reads consecutive chapters that are not in the cache. */
static int load_missing(struct window_index *index, struct chapter *const *chapters, size_t first,
			size_t count, struct loaded **list, struct err *err)
{
	struct chapter_reader reader;
	int r = reader_open(&reader, index, chapters, first, first + count - 1, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < count && r >= 0; i++) {
		struct loaded *loaded = xcalloc(1, sizeof(*loaded));
		void *arg[] = { loaded, index };

		loaded->chapter = first + i;
		loaded->events = xcalloc(chapters[first + i]->count, sizeof(*loaded->events));
		r = reader_read(&reader, chapters[first + i], add_event, arg, err);
		if (r < 0) {
			loaded_free(loaded);
			break;
		}
		put_into_cache(index, loaded);
		list[i] = loaded;
	}
	reader_close(&reader);
	return r < 0 ? r : 0;
}

int index_load(struct window_index *index, struct chapter *const *chapters, size_t first,
	       size_t count, struct loaded **list, struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < count; i++)
		list[i] = find_cached(index, first + i);
	for (size_t i = 0, n; i < count && r >= 0; i += n) {
		for (n = 0; i + n < count && !list[i + n];)
			n++;
		if (n)
			r = load_missing(index, chapters, first + i, n, list + i, err);
		else
			n = 1;
	}
	for (size_t i = 0; r < 0 && i < count; i++) {
		index_unload(index, list[i]);
		list[i] = NULL;
	}
	return r;
}
