/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/window/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "observe/tally/names.h"
#include "observe/tally/traffic.h"

/* Times of a window are within these, so that their difference does not overflow. */
#define TIME_MAX ((INT64_C(1) << 62) - 1)

static int64_t clamp_time(int64_t ns)
{
	return ns < -TIME_MAX ? -TIME_MAX : ns > TIME_MAX ? TIME_MAX : ns;
}

/* The whole run, as far as it is known. */
static void find_whole(struct view *s)
{
	const struct trace_head *head = &s->index->trace.head;
	struct window_frame *frame = &s->frame;

	frame->from_ns = 0;
	frame->to_ns = head->end.duration_ns > 0 ? clamp_time(head->end.duration_ns) : 0;
	for (size_t i = 0; i < s->chapter_count; i++) {
		const struct chapter *c = s->chapters[i];
		int64_t until = head->end.duration_ns > 0 ? c->last_ns + 1 : c->end_ns + 1;

		if (c->first_ns < frame->from_ns)
			frame->from_ns = c->first_ns;
		if (until > frame->to_ns)
			frame->to_ns = until;
	}
}

static void find_chapters(struct view *s)
{
	s->first = s->end = 0;
	if (s->frame.from_ns >= s->frame.to_ns)
		return;
	while (s->first < s->chapter_count && s->chapters[s->first]->last_ns < s->frame.from_ns)
		s->first++;
	s->end = s->first;
	while (s->end < s->chapter_count && s->chapters[s->end]->first_ns < s->frame.to_ns)
		s->end++;
}

/* What is resolved of a filter once. */
struct wanted {
	const struct window_filter *filter;
	int layer;	    /* -1: all */
	uint8_t *functions; /* per call: has the name; NULL: all */
	const struct view *view;
};

static bool has_file(const struct view *s, const struct window_node *node)
{
	return !s->has_file || (node->layer != LAYER_APPLICATION &&
				(node->file == s->file || (node->file2 && node->file2 == s->file)));
}

static bool is_at_level(enum window_level level, const struct window_node *node)
{
	unsigned flags = node->flags;

	if (level == WINDOW_ALL)
		return true;
	if (!names_layer_is_io(node->layer) ||
	    flags & (NODE_NOTICE | NODE_PROCESS | NODE_IN_PROCESS))
		return false;
	if (level == WINDOW_PROGRAM)
		return !(flags & NODE_IN_IO);
	return (node->layer == LAYER_POSIX || node->layer == LAYER_STDIO) &&
	       !(flags & NODE_IN_STORAGE);
}

/* The calls that have a place in the tables of observe/tally/sums.h. */
static bool is_counted(const struct window_node *node)
{
	return !(node->flags & NODE_NOTICE) &&
	       (node->layer == LAYER_NETWORK || node->flags & NODE_PROCESS ||
		!(node->flags & NODE_IN_PROCESS));
}

static uint16_t pick_node(const struct wanted *w, const struct window_node *node)
{
	bool all = w->filter->level == WINDOW_ALL;
	unsigned flags = node->flags, pick = PICK_SELECTED;

	if (!is_at_level(w->filter->level, node) || (w->layer >= 0 && node->layer != w->layer) ||
	    (w->functions && !w->functions[node->call]) || !has_file(w->view, node))
		return 0;
	if (is_counted(node))
		pick |= PICK_COUNTED;
	if (!all || !(flags & (NODE_IN_LAYER | NODE_PROCESS)))
		pick |= PICK_FULL_LAYER;
	if (!all || !(flags & NODE_IN_FUNCTION))
		pick |= PICK_FULL_FUNCTION;
	if (!all || !(flags & (NODE_IN_FILE | NODE_PROCESS)))
		pick |= PICK_FULL_FILE;
	if (!all || !(flags & NODE_IN_FILE2))
		pick |= PICK_FULL_FILE2;
	if (pick & (w->functions ? PICK_FULL_FUNCTION : PICK_FULL_LAYER))
		pick |= PICK_FULL;
	return (uint16_t)(pick | (unsigned)w->view->index->ways[node->call] << PICK_WAYS_SHIFT);
}

static void find_file(struct view *s, const char *path)
{
	const struct trace_head *head = &s->index->trace.head;

	s->has_file = true;
	s->file = NODE_FILE_FOLDED - 1;
	for (size_t i = 1; i < head->file_count; i++) {
		if (strcmp(head->files[i], path) == 0) {
			s->file = (file_id)i;
			return;
		}
	}
}

static int pick_nodes(struct view *s, const struct window_filter *filter, struct err *err)
{
	const struct trace_head *head = &s->index->trace.head;
	struct wanted w = { .filter = filter, .layer = -1, .view = s };

	if (filter->layer) {
		w.layer = names_find_layer(filter->layer, strlen(filter->layer));
		if (w.layer < 0)
			return err_set(err, EINVAL,
				       "unknown layer \"%s\"; the report lists those of the run",
				       filter->layer);
	}
	if (filter->file)
		find_file(s, filter->file);
	if (filter->function) {
		w.functions = xcalloc(head->call_count + 1, sizeof(*w.functions));
		for (size_t i = 0; i < head->call_count; i++)
			w.functions[i] = strcmp(head->calls[i].name, filter->function) == 0;
	}
	s->picks = xcalloc(s->node_count, sizeof(*s->picks));
	for (uint32_t i = 1; i < s->node_count; i++)
		s->picks[i] = pick_node(&w, nodes_at(&s->index->nodes, i));
	free(w.functions);
	return 0;
}

int view_init(struct view *view, struct window_index *index, const struct window_filter *filter,
	      struct err *err)
{
	struct view *s = view;
	double covered = window_index_covered(index); /* before the chapters: never too much */
	int r;

	*s = (struct view){ .index = index,
			    .errors = filter->errors,
			    .has_member = filter->has_member,
			    .member = filter->member };
	r = index_chapters(index, &s->chapters, &s->chapter_count, err);
	if (r < 0)
		return r;
	s->node_count = nodes_count(&index->nodes);
	s->frame = (struct window_frame){ .from_ns = clamp_time(filter->from_ns),
					  .to_ns = clamp_time(filter->to_ns) };
	if (!filter->from_ns && !filter->to_ns)
		find_whole(s);
	s->frame.covered = covered;
	find_chapters(s);
	r = pick_nodes(s, filter, err);
	if (r < 0)
		view_release(s);
	else
		s->frame.folded = s->has_file && s->node_count >= NODES_MAX;
	return r;
}

void view_release(struct view *view)
{
	free((void *)view->chapters);
	free(view->picks);
	*view = (struct view){ 0 };
}

int32_t view_member(const struct view *view, uint32_t process)
{
	const struct window_index *index = view->index;

	return process < index->trace.head.process_count ? index->member_of[process] : -1;
}

bool view_has(const struct view *view, uint32_t node, uint32_t process, unsigned kind, bool counted)
{
	const struct view *s = view;
	unsigned needed = counted ? PICK_SELECTED | PICK_COUNTED : PICK_SELECTED;

	if ((s->picks[node] & needed) != needed || (s->errors && !(kind & KIND_ERROR)))
		return false;
	if (s->has_member && (s->member < 0 || view_member(s, process) != s->member))
		return false;
	return !counted || process == PROCESS_OTHERS || view_member(s, process) >= 0;
}

struct visitor {
	struct view *view;
	visit_item *visit;
	void *arg;
	bool earlier;
};

static void visit_event(const struct visitor *v, const struct event *event, uint32_t calls)
{
	const struct view *s = v->view;
	bool inside = view_is_inside(s, event->start_ns);
	struct item item;

	if (!inside && (!v->earlier || event->start_ns >= s->frame.to_ns ||
			event_end(event) <= s->frame.from_ns))
		return;
	if (event->node >= s->node_count ||
	    !view_has(s, event->node, event->process, event->kind, true))
		return;
	item = (struct item){
		.node = event->node,
		.process = event->process,
		.kind = event->kind,
		.pick = s->picks[event->node],
		.inside = inside,
		.calls = calls,
		.bytes = (int64_t)event->bytes,
		.time_ns = calls ? event->duration_ns : 0,
		.span = { event->start_ns, event->start_ns, event_end(event) },
	};
	v->visit(v->arg, &item);
}

static void visit_events(const struct visitor *v, const struct event *events, size_t count)
{
	for (size_t i = 0; i < count; i++)
		visit_event(v, &events[i], 1);
}

static void visit_rows(const struct visitor *v, const struct chapter *c, bool inside)
{
	const struct view *s = v->view;

	for (size_t i = 0; i < c->row_count; i++) {
		const struct chapter_row *row = &c->rows[i];
		struct row_span span;
		struct item item;

		if (!view_has(s, row->node, row->process, row->kind, true))
			continue;
		span = chapter_row_span(c, row);
		if (!inside && span.until_ns <= s->frame.from_ns)
			continue;
		item = (struct item){
			.node = row->node,
			.process = row->process,
			.kind = row->kind,
			.pick = s->picks[row->node],
			.inside = inside,
			.calls = row->calls,
			.bytes = (int64_t)row->bytes,
			.time_ns = row->time_ns,
			.span = span,
			.row = row,
		};
		v->visit(v->arg, &item);
	}
}

/* Calls of earlier chapters that last into the window. */
static void visit_earlier(const struct visitor *v)
{
	const struct view *s = v->view;

	if (s->frame.from_ns >= s->frame.to_ns)
		return;
	for (size_t i = 0; i < s->first; i++) {
		const struct chapter *c = s->chapters[i];

		if (c->end_ns <= s->frame.from_ns)
			continue;
		visit_events(v, c->longs, c->long_count);
		if (c->capped)
			visit_rows(v, c, false);
	}
}

static void visit_corrections(const struct visitor *v)
{
	struct window_index *index = v->view->index;

	pthread_mutex_lock(&index->lock);
	for (size_t i = 0; i < index->correction_count; i++)
		visit_event(v, &index->corrections[i], 0);
	pthread_mutex_unlock(&index->lock);
}

static int read_chapters(const struct visitor *v, size_t first, size_t count, struct err *err)
{
	const struct view *s = v->view;
	struct loaded *list[WINDOW_READ_CHAPTERS];
	int r;

	for (size_t n; count; first += n, count -= n) {
		n = count < WINDOW_READ_CHAPTERS ? count : WINDOW_READ_CHAPTERS;
		r = index_load(s->index, s->chapters, first, n, list, err);
		if (r < 0)
			return r;
		for (size_t i = 0; i < n; i++) {
			visit_events(v, list[i]->events, list[i]->count);
			index_unload(s->index, list[i]);
		}
	}
	return 0;
}

static bool is_complete(const struct view *s, const struct chapter *c)
{
	return view_is_inside(s, c->first_ns) && view_is_inside(s, c->last_ns);
}

/* Which folded chapters are read: none if there are too many. */
static bool reads_folded(struct view *s)
{
	size_t folded = 0;

	for (size_t i = s->first; i < s->end; i++)
		folded += s->chapters[i]->folded && is_complete(s, s->chapters[i]);
	s->frame.folded |= folded > WINDOW_READ_CHAPTERS;
	return folded <= WINDOW_READ_CHAPTERS;
}

int view_visit(struct view *view, bool earlier, visit_item *visit, void *arg, struct err *err)
{
	struct view *s = view;
	struct visitor v = { s, visit, arg, earlier };
	bool few = s->end - s->first <= WINDOW_READ_CHAPTERS;
	bool folded_too = !few && reads_folded(s);
	int r = few ? read_chapters(&v, s->first, s->end - s->first, err) : 0;

	for (size_t i = s->first; !few && i < s->end && !r; i++) {
		const struct chapter *c = s->chapters[i];

		if (!is_complete(s, c) || (c->folded && folded_too)) {
			r = read_chapters(&v, i, 1, err);
			continue;
		}
		visit_rows(&v, c, true);
		visit_events(&v, c->longs, c->long_count);
	}
	if (r < 0)
		return r;
	if (v.earlier)
		visit_earlier(&v);
	visit_corrections(&v);
	return 0;
}

uint64_t view_count(const struct view *view, const struct chapter *chapter)
{
	const struct view *s = view;
	uint64_t count = 0;

	for (size_t i = 0; i < chapter->row_count; i++) {
		const struct chapter_row *row = &chapter->rows[i];

		if (view_has(s, row->node, row->process, row->kind, false))
			count += row->calls;
	}
	for (size_t i = 0; i < chapter->long_count; i++) {
		const struct event *e = &chapter->longs[i];

		count += view_has(s, e->node, e->process, e->kind, false);
	}
	return count;
}

void window_sum_add(struct window_sum *sum, const struct item *item, bool full)
{
	unsigned ways = item_ways(item);

	sum->calls += item->calls;
	sum->errors += item->kind & KIND_ERROR ? item->calls : 0;
	if (!full)
		return;
	sum->bytes[READING] += ways & 1u << READING ? (uint64_t)item->bytes : 0;
	sum->bytes[WRITING] += ways & 1u << WRITING ? (uint64_t)item->bytes : 0;
	sum->time_ns += item->time_ns;
}
