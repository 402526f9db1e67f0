/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/export/longest.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/integer.h"
#include "base/mem.h"

void longest_release(struct longest *longest)
{
	free(longest->list);
	*longest = (struct longest){ 0 };
}

static bool is_less(const struct activity *a, const struct activity *b)
{
	if (a->duration_ns != b->duration_ns)
		return a->duration_ns < b->duration_ns;
	return activity_compare(a, b) > 0;
}

static void swap(struct activity *a, struct activity *b)
{
	struct activity saved = *a;

	*a = *b;
	*b = saved;
}

static void sift_up(struct activity *heap, size_t i)
{
	for (; i && is_less(&heap[i], &heap[(i - 1) / 2]); i = (i - 1) / 2)
		swap(&heap[i], &heap[(i - 1) / 2]);
}

static void sift_down(struct activity *heap, size_t count)
{
	size_t i = 0, child;

	while ((child = 2 * i + 1) < count) {
		if (child + 1 < count && is_less(&heap[child + 1], &heap[child]))
			child++;
		if (!is_less(&heap[child], &heap[i]))
			return;
		swap(&heap[i], &heap[child]);
		i = child;
	}
}

static void note_dropped(struct longest *longest, const struct activity *a)
{
	longest->dropped++;
	longest->dropped_ns = i64_max(longest->dropped_ns, a->duration_ns);
}

void longest_add(struct longest *longest, const struct activity *activity)
{
	if (longest->count < longest->max) {
		longest->list = xgrow(longest->list, &longest->cap, longest->count + 1,
				      sizeof(*longest->list));
		longest->list[longest->count] = *activity;
		sift_up(longest->list, longest->count++);
		return;
	}
	if (!longest->count || !is_less(&longest->list[0], activity)) {
		note_dropped(longest, activity);
		return;
	}
	note_dropped(longest, &longest->list[0]);
	longest->list[0] = *activity;
	sift_down(longest->list, longest->count);
}

void longest_sort(struct longest *longest)
{
	if (longest->count)
		qsort(longest->list, longest->count, sizeof(*longest->list), activity_compare);
}
