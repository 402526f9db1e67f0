/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where in a file a window's transfers were.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "observe/tally/traffic.h"
#include "observe/window/view.h"

struct offsets {
	struct view view;
	struct window_offsets *result;
	size_t cap;
};

static void add_events(struct offsets *o, const struct event *events, size_t count)
{
	const struct window_index *index = o->view.index;
	struct window_offsets *result = o->result;

	for (size_t i = 0; i < count; i++) {
		const struct event *e = &events[i];

		if (e->offset == OFFSET_UNKNOWN || !view_is_inside(&o->view, e->start_ns) ||
		    !view_has(&o->view, e->node, e->process, e->kind, true))
			continue;
		result->list =
			xgrow(result->list, &o->cap, result->count + 1, sizeof(*result->list));
		result->list[result->count++] = (struct window_access){
			.start_ns = e->start_ns,
			.duration_ns = e->duration_ns,
			.offset = e->offset,
			.bytes = e->bytes,
			.member = view_member(&o->view, e->process),
			.way = index->ways[nodes_at(&index->nodes, e->node)->call] & 1u << READING
				       ? READING
				       : WRITING,
		};
	}
}

static int read_chapter(struct offsets *o, size_t chapter, struct err *err)
{
	struct loaded *loaded;
	int r = index_load(o->view.index, o->view.chapters, chapter, 1, &loaded, err);

	if (r < 0)
		return r;
	add_events(o, loaded->events, loaded->count);
	index_unload(o->view.index, loaded);
	return 0;
}

/* Chapters with the file are read if they are few. */
static int add_chapters(struct offsets *o, struct err *err)
{
	const struct view *view = &o->view;
	AUTO_FREE bool *wanted = xcalloc(view->end - view->first + 1, sizeof(*wanted));
	size_t count = 0;
	int r = 0;

	for (size_t i = view->first; i < view->end; i++) {
		const struct chapter *c = view->chapters[i];

		wanted[i - view->first] = c->folded || view_count(view, c);
		count += wanted[i - view->first] && c->sample_step > 1;
	}
	for (size_t i = view->first; i < view->end && !r; i++) {
		const struct chapter *c = view->chapters[i];

		if (!wanted[i - view->first])
			continue;
		if (c->sample_step > 1 && count <= WINDOW_READ_CHAPTERS) {
			r = read_chapter(o, i, err);
			continue;
		}
		o->result->sampled |= c->sample_step > 1;
		add_events(o, c->samples, c->sample_count);
	}
	return r;
}

/* Keeps every n-th. */
static void thin_out(struct window_offsets *result, size_t limit)
{
	size_t step = limit ? (result->count + limit - 1) / limit : 1, kept = 0;

	if (step <= 1)
		return;
	for (size_t i = 0; i < result->count; i += step)
		result->list[kept++] = result->list[i];
	result->count = kept;
	result->sampled = true;
}

int window_offsets(struct window_index *index, const struct window_filter *filter, size_t limit,
		   struct window_offsets *result, struct err *err)
{
	struct window_offsets made = { 0 };
	struct offsets o = { .result = &made };
	int r;

	if (!filter->file)
		return err_set(err, EINVAL, "offsets are those of one file; name it");
	r = view_init(&o.view, index, filter, err);
	if (r < 0)
		return r;
	r = add_chapters(&o, err);
	made.frame = o.view.frame;
	if (r >= 0) {
		thin_out(&made, limit);
		*result = made;
	} else {
		window_offsets_release(&made);
	}
	view_release(&o.view);
	return r < 0 ? r : 0;
}

void window_offsets_release(struct window_offsets *result)
{
	free(result->list);
	*result = (struct window_offsets){ 0 };
}
