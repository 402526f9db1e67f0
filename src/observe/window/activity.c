/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One activity with its causal chain. Chapters know which ids their threads have, so that few of
 * them must be read to find an activity.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "observe/window/index.h"

#define BATCH 4096
/* Of a chain; only a damaged trace has longer ones. */
#define ANCESTORS_MAX 64
/* Chapters that are read to find the calls that an activity refers to. */
#define CHAPTERS_MAX 128

struct search {
	struct window_index *index;
	struct chapter *const *chapters;
	size_t count;
	struct activity *batch;
	size_t budget; /* chapters that may still be read */
};

/* Returns 1 if the trace has the activity in this time. */
static int find_between(const struct search *s, int64_t from_ns, int64_t last_ns, uint32_t process,
			uint64_t id, struct activity *found, struct err *err)
{
	const struct trace_filter filter = { .from_ns = from_ns,
					     .to_ns = last_ns + 1,
					     .process = (int32_t)process + 1,
					     .min_duration_ns = INT64_MIN };
	struct trace trace;
	ssize_t n = trace_reopen(&trace, &s->index->trace, s->index->path, &filter, err);
	int r = 0;

	if (n < 0)
		return (int)n;
	while (!r && (n = trace_next(&trace, s->batch, BATCH, err)) > 0) {
		for (ssize_t i = 0; i < n && !r; i++) {
			if (s->batch[i].id != id)
				continue;
			*found = s->batch[i];
			r = 1;
		}
	}
	trace_close(&trace);
	return n < 0 ? (int)n : r;
}

/* Searches from the last chapter that starts before a time. Returns 1 if it was found. */
static int find_activity(struct search *s, int64_t before_ns, uint32_t process, uint64_t id,
			 struct activity *found, struct err *err)
{
	size_t i = s->count;
	int r = 0;

	while (i && s->chapters[i - 1]->first_ns > before_ns)
		i--;
	while (i-- && !r && s->budget) {
		const struct chapter *c = s->chapters[i];

		if (!chapter_may_have(c, process, id))
			continue;
		r = find_between(s, c->first_ns, c->last_ns, process, id, found, err);
		s->budget--;
	}
	return r;
}

static int find_ancestors(struct search *s, struct window_activity *result, struct err *err)
{
	struct activity at = result->self, outer;
	size_t cap = 0;
	int r = 1;

	while (at.parent && result->ancestor_count < ANCESTORS_MAX) {
		r = find_activity(s, at.start_ns, at.process, at.parent, &outer, err);
		/* A damaged trace may have a cycle. */
		if (r <= 0 || outer.start_ns > at.start_ns || outer.id == at.id)
			break;
		at = outer;
		result->ancestors = xgrow(result->ancestors, &cap, result->ancestor_count + 1,
					  sizeof(*result->ancestors));
		result->ancestors[result->ancestor_count++] = at;
	}
	for (size_t i = 0; i < result->ancestor_count / 2; i++) {
		struct activity *low = &result->ancestors[i];
		struct activity *high = &result->ancestors[result->ancestor_count - 1 - i];
		struct activity moved = *low;

		*low = *high;
		*high = moved;
	}
	return r < 0 ? r : 0;
}

/* Adds the children of a batch. */
static void add_children(struct window_activity *result, const struct activity *batch, size_t n)
{
	const struct activity *self = &result->self;

	for (size_t i = 0; i < n; i++) {
		if (batch[i].parent != self->id || batch[i].id == self->id ||
		    id_thread(batch[i].id) != id_thread(self->id))
			continue;
		if (result->child_count == WINDOW_CHILDREN_MAX)
			result->children_cut = true;
		else
			result->children[result->child_count++] = batch[i];
	}
}

static int find_children(const struct search *s, struct window_activity *result, struct err *err)
{
	const struct activity *self = &result->self;
	int64_t duration = self->duration_ns > 0 ? self->duration_ns : 0;
	const struct trace_filter filter = { .from_ns = self->start_ns,
					     .to_ns = self->start_ns + duration + 1,
					     .process = (int32_t)self->process + 1,
					     .min_duration_ns = INT64_MIN };
	size_t read = 0;
	struct trace trace;
	ssize_t n = trace_reopen(&trace, &s->index->trace, s->index->path, &filter, err);

	if (n < 0)
		return (int)n;
	result->children = xcalloc(WINDOW_CHILDREN_MAX, sizeof(*result->children));
	while (!result->children_cut && (n = trace_next(&trace, s->batch, BATCH, err)) > 0) {
		add_children(result, s->batch, (size_t)n);
		read += (size_t)n;
		result->children_cut |= read >= WINDOW_CHILDREN_READ;
	}
	trace_close(&trace);
	return n < 0 ? (int)n : 0;
}

static int find_opener(struct search *s, struct window_activity *result, struct err *err)
{
	const struct activity *self = &result->self;
	uint64_t id = self->link & ID_MASK;
	int r;

	if (!(self->present & PRESENT(LINK)) || !id)
		return 0;
	r = find_activity(s, self->start_ns,
			  trace_find_owner(&s->index->trace.head, self->process, id), id,
			  &result->opener, err);
	result->has_opener = r > 0;
	return r < 0 ? r : 0;
}

int window_activity(struct window_index *index, uint32_t process, uint64_t id,
		    struct window_activity *result, struct err *err)
{
	struct window_activity made = { 0 };
	struct search s = { .index = index, .budget = SIZE_MAX };
	int r = index_chapters(index, &s.chapters, &s.count, err);

	if (r < 0)
		return r;
	s.batch = xcalloc(BATCH, sizeof(*s.batch));
	r = process < index->trace.head.process_count
		    ? find_activity(&s, INT64_MAX, process, id, &made.self, err)
		    : 0;
	if (!r)
		r = err_set(err, ENOENT, "the run has no activity %" PRIu32 ".%" PRIu64, process,
			    id);
	s.budget = CHAPTERS_MAX;
	if (r >= 0)
		r = find_ancestors(&s, &made, err);
	if (r >= 0)
		r = find_children(&s, &made, err);
	if (r >= 0)
		r = find_opener(&s, &made, err);
	if (r < 0)
		window_activity_release(&made);
	else
		*result = made;
	free(s.batch);
	free((void *)s.chapters);
	return r;
}

void window_activity_release(struct window_activity *result)
{
	free(result->ancestors);
	free(result->children);
	*result = (struct window_activity){ 0 };
}
