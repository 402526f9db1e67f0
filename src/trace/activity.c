/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/activity.h"

int activity_compare(const void *a, const void *b)
{
	const struct activity *x = a, *y = b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

/* An absent field is ignored: activity_equal() compares the present bits as well. */
#define SAME(name, member) (!(a->present & PRESENT(name)) || a->member == b->member)

bool activity_equal(const struct activity *a, const struct activity *b)
{
	return a->start_ns == b->start_ns && a->duration_ns == b->duration_ns && a->id == b->id &&
	       a->parent == b->parent && a->result == b->result && a->process == b->process &&
	       a->file == b->file && a->file2 == b->file2 && a->name == b->name &&
	       a->hints == b->hints && a->error == b->error && a->call == b->call &&
	       a->present == b->present && a->layer == b->layer && SAME(LINK, link) &&
	       SAME(LINK2, link2) && SAME(HANDLE, handle) && SAME(SIZE, size) &&
	       SAME(OFFSET, offset) && SAME(FLAGS, flags) && SAME(MODE, mode) && SAME(SPAN, span) &&
	       SAME(VARIABLE, variable) && SAME(COLLECTIVE, collective);
}
