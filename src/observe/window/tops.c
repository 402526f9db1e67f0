/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/window/tops.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void tops_init(struct tops *tops)
{
	*tops = (struct tops){ .least_ns = INT64_MIN };
}

void tops_release(struct tops *tops)
{
	free(tops->list);
	*tops = (struct tops){ 0 };
}

static int compare_times(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? 1 : x > y ? -1 : 0;
}

/* Drops all but the longest ones. Of those of equal length, all are kept or none. */
static void cut(struct tops *tops, size_t limit)
{
	AUTO_FREE int64_t *times = NULL;
	size_t kept = 0;

	if (tops->count <= limit)
		return;
	times = xcalloc(tops->count, sizeof(*times));
	for (size_t i = 0; i < tops->count; i++)
		times[i] = tops->list[i].activity.duration_ns;
	qsort(times, tops->count, sizeof(*times), compare_times);
	/* Times are far from the limits of their type: ACTIVITY_TIME_MAX. */
	tops->least_ns = times[limit] + 1;
	for (size_t i = 0; i < tops->count; i++) {
		if (tops->list[i].activity.duration_ns >= tops->least_ns)
			tops->list[kept++] = tops->list[i];
	}
	tops->count = kept;
}

void tops_add(struct tops *tops, size_t limit, const struct activity *activity, uint32_t node)
{
	if (activity->duration_ns < tops->least_ns)
		return;
	tops->list = xgrow(tops->list, &tops->cap, tops->count + 1, sizeof(*tops->list));
	tops->list[tops->count++] = (struct top){ *activity, node };
	if (tops->count >= 2 * limit)
		cut(tops, limit);
}

void tops_take(struct tops *tops, size_t limit, struct tops *to)
{
	cut(tops, limit);
	*to = (struct tops){ .count = tops->count, .cap = tops->count, .least_ns = tops->least_ns };
	if (tops->count) {
		to->list = xcalloc(tops->count, sizeof(*to->list));
		memcpy(to->list, tops->list, tops->count * sizeof(*to->list));
	}
	tops->count = 0;
	tops->least_ns = INT64_MIN;
}
