/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One activity with its causal chain. Chapters know which ids their threads have, so that few of
 * them must be read to find an activity.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/integer.h"
#include "base/mem.h"
#include "observe/chain/chain.h"
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
	const struct chain *chain;
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

static int find_transfer(const struct search *s, const struct chain_transfer *t,
			 struct activity *found, struct err *err)
{
	return find_between(s, t->start_ns, t->start_ns, t->process, t->id, found, err);
}

/* Finds the enclosing call or, if there is none, the cause across a connection. Returns 1 if there
 * is one. */
static int find_cause(struct search *s, const struct activity *a, struct activity *cause,
		      struct err *err)
{
	const struct chain_transfer *t;
	int r;

	if (!a->parent) {
		t = chain_cause(s->chain, a);
		return t ? find_transfer(s, t, cause, err) : 0;
	}
	r = find_activity(s, a->start_ns, a->process, a->parent, cause, err);
	/* A damaged trace may have a cycle. */
	return r > 0 && (cause->start_ns > a->start_ns || cause->id == a->id) ? 0 : r;
}

static int find_ancestors(struct search *s, struct window_activity *result, struct err *err)
{
	struct activity at = result->self, outer;
	size_t cap = 0;
	int r = 1;

	while (result->ancestor_count < ANCESTORS_MAX) {
		r = find_cause(s, &at, &outer, err);
		if (r <= 0)
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

static void add_child(struct window_activity *result, const struct activity *child)
{
	if (result->child_count == WINDOW_CHILDREN_MAX)
		result->children_cut = true;
	else
		result->children[result->child_count++] = *child;
}

/* Was the call made for the request that this one has received? */
static bool is_served(const struct search *s, const struct activity *self, const struct activity *a)
{
	const struct chain_transfer *request = chain_request(s->chain, a);

	return request && request->process == self->process && request->id == self->id;
}

/* Adds the children of a batch. */
static void add_children(const struct search *s, struct window_activity *result, size_t n)
{
	const struct activity *self = &result->self, *batch = s->batch;

	for (size_t i = 0; i < n; i++) {
		bool is_enclosed = batch[i].parent == self->id && batch[i].id != self->id &&
				   id_thread(batch[i].id) == id_thread(self->id);

		if (is_enclosed || is_served(s, self, &batch[i]))
			add_child(result, &batch[i]);
	}
}

/* The time after which no call of the same process is a child. */
static int64_t last_child_ns(const struct search *s, const struct activity *self)
{
	const struct chain_transfer *t = chain_find(s->chain, self->process, self->id);
	int64_t stop_ns = self->start_ns + i64_max(self->duration_ns, 0);

	if (t && t->is_request && t->count)
		stop_ns = i64_max(stop_ns,
				  i64_min(chain_request_end(s->chain, t), ACTIVITY_TIME_MAX));
	return stop_ns;
}

static int find_children(const struct search *s, struct window_activity *result, struct err *err)
{
	const struct activity *self = &result->self;
	const struct trace_filter filter = { .from_ns = self->start_ns,
					     .to_ns = last_child_ns(s, self) + 1,
					     .process = (int32_t)self->process + 1,
					     .min_duration_ns = INT64_MIN };
	size_t read = 0;
	struct trace trace;
	ssize_t n = trace_reopen(&trace, &s->index->trace, s->index->path, &filter, err);

	if (n < 0)
		return (int)n;
	result->children = xcalloc(WINDOW_CHILDREN_MAX, sizeof(*result->children));
	while (!result->children_cut && (n = trace_next(&trace, s->batch, BATCH, err)) > 0) {
		add_children(s, result, (size_t)n);
		read += (size_t)n;
		result->children_cut |= read >= WINDOW_CHILDREN_READ;
	}
	trace_close(&trace);
	return n < 0 ? (int)n : 0;
}

/* The other ends of a transfer; those that received what it has sent are its children, too. */
static int find_remote(const struct search *s, struct window_activity *result, struct err *err)
{
	const struct chain_transfer *t =
		chain_find(s->chain, result->self.process, result->self.id);
	struct activity found;
	int r = 0;

	if (!t || !t->count)
		return 0;
	result->remote = xcalloc(t->count, sizeof(*result->remote));
	for (uint32_t i = 0; i < t->count && r >= 0; i++) {
		const struct chain_transfer *partner = chain_partner(s->chain, t, i);

		result->remote[result->remote_count++] =
			(struct window_key){ partner->process, partner->id };
		if (t->is_sent && !result->children_cut)
			r = find_transfer(s, partner, &found, err);
		if (t->is_sent && r > 0)
			add_child(result, &found);
	}
	return r < 0 ? r : 0;
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
		r = index_chain(index, &s.chain, err);
	if (r >= 0)
		r = find_ancestors(&s, &made, err);
	if (r >= 0)
		r = find_children(&s, &made, err);
	if (r >= 0)
		r = find_remote(&s, &made, err);
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
	free(result->remote);
	*result = (struct window_activity){ 0 };
}
