/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Single activities of a window. The sums of chapters tell how many activities a chapter adds to a
 * list, so that only the chapters of the requested page are read. Long activities are in the index.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "observe/window/view.h"

struct page {
	struct view view;
	struct window_activities *result;
	int64_t min_ns;
	size_t limit;
	uint64_t skip; /* activities before the page that have not been passed yet */
	uint64_t read;
};

static bool passes(const struct page *p, const struct event *event)
{
	return view_is_inside(&p->view, event->start_ns) && event->duration_ns >= p->min_ns &&
	       event->node < p->view.node_count &&
	       view_has(&p->view, event->node, event->process, event->kind, false);
}

/* Returns false if the page is full. */
static bool add_activity(void *arg, const struct activity *activity, uint32_t node)
{
	struct page *p = arg;
	struct event event = index_event(p->view.index, activity, node);

	if (!passes(p, &event))
		return true;
	if (p->skip) {
		p->skip--;
		return true;
	}
	p->result->list[p->result->count++] = *activity;
	return p->result->count < p->limit;
}

/* Does the chapter keep all its activities that are long enough? */
static bool has_tops(const struct page *p, const struct chapter *c)
{
	return p->min_ns > 0 && p->min_ns >= c->tops.least_ns;
}

static uint64_t count_tops(const struct page *p, const struct chapter *c)
{
	uint64_t count = 0;

	for (size_t i = 0; i < c->tops.count; i++) {
		const struct top *top = &c->tops.list[i];
		struct event event = index_event(p->view.index, &top->activity, top->node);

		count += passes(p, &event);
	}
	return count;
}

/* Do the sums of the chapter suffice to count? */
static bool has_sums(const struct page *p, const struct chapter *c)
{
	const struct view *view = &p->view;

	return !p->min_ns && view_is_inside(view, c->first_ns) &&
	       view_is_inside(view, c->last_ns) &&
	       !(c->folded && (view->has_file || view->has_member));
}

/* As the following function, without reading the trace. Returns false if that is impossible. */
static bool count_known(const struct page *p, const struct chapter *c, uint64_t *count)
{
	*count = 0;
	if (c->longest_ns < p->min_ns)
		return true;
	if (has_tops(p, c))
		*count = count_tops(p, c);
	else if (has_sums(p, c))
		*count = view_count(&p->view, c);
	else
		return false;
	return true;
}

static int count_chapter(struct page *p, size_t number, uint64_t *count, struct err *err)
{
	const struct chapter *c = p->view.chapters[number];
	struct loaded *loaded;
	int r;

	*count = 0;
	p->read += c->count;
	r = index_load(p->view.index, p->view.chapters, number, 1, &loaded, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < loaded->count; i++)
		*count += passes(p, &loaded->events[i]);
	index_unload(p->view.index, loaded);
	return 0;
}

static int read_page(struct page *p, size_t number, struct err *err)
{
	const struct chapter *c = p->view.chapters[number];
	struct chapter_reader reader;
	int r;

	if (has_tops(p, c)) {
		for (size_t i = 0; i < c->tops.count; i++) {
			if (!add_activity(p, &c->tops.list[i].activity, c->tops.list[i].node))
				break;
		}
		return 0;
	}
	r = reader_open(&reader, p->view.index, p->view.chapters, number, number, err);
	if (r < 0)
		return r;
	r = reader_read(&reader, c, add_activity, p, err);
	reader_close(&reader);
	return r < 0 ? r : 0;
}

static int fill_page(struct page *p, struct err *err)
{
	for (size_t i = p->view.first; i < p->view.end; i++) {
		bool is_full = p->result->count == p->limit;
		uint64_t count;
		int r = 0;

		if (!count_known(p, p->view.chapters[i], &count)) {
			/* The number of activities after the page is not worth much time. */
			if (p->read >= (is_full ? WINDOW_COUNT_READ : WINDOW_ACTIVITIES_READ)) {
				p->result->total_is_low = true;
				if (is_full)
					continue;
				return 0;
			}
			r = count_chapter(p, i, &count, err);
		}
		if (r < 0)
			return r;
		p->result->total += count;
		if (p->skip >= count)
			p->skip -= count;
		else if (p->result->count < p->limit)
			r = read_page(p, i, err);
		if (r < 0)
			return r;
	}
	return 0;
}

int window_activities(struct window_index *index, const struct window_filter *filter, size_t limit,
		      uint64_t offset, struct window_activities *result, struct err *err)
{
	struct window_activities made = { 0 };
	struct page p = { .result = &made, .min_ns = filter->min_ns, .skip = offset };
	int r = view_init(&p.view, index, filter, err);

	if (r < 0)
		return r;
	p.limit = limit < WINDOW_ACTIVITIES_READ ? limit : WINDOW_ACTIVITIES_READ;
	made.list = xcalloc(p.limit + 1, sizeof(*made.list));
	r = fill_page(&p, err);
	made.frame = p.view.frame;
	if (r < 0)
		window_activities_release(&made);
	else
		*result = made;
	view_release(&p.view);
	return r;
}

void window_activities_release(struct window_activities *result)
{
	free(result->list);
	*result = (struct window_activities){ 0 };
}
