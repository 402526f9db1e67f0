/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/tally/access_pattern.h"

#include <stdlib.h>

#include "base/mem.h"
#include "trace/format.h"

/* The last access of a process to a file. */
struct position {
	int64_t end, stride;
	int64_t start;
};

const char *access_pattern_name(enum access_pattern pattern)
{
	static const char *const names[PATTERNS] = { "other", "sequential", "strided", "random" };

	return names[pattern];
}

void access_tracker_release(struct access_tracker *tracker)
{
	for (size_t i = 0; i < tracker->positions.cap; i++)
		free(tracker->positions.entries[i].key ? tracker->positions.entries[i].value
						       : NULL);
	map_release(&tracker->positions);
}

enum access_pattern access_tracker_add(struct access_tracker *tracker, const struct activity *a,
				       uint64_t bytes)
{
	uint64_t key = ((uint64_t)a->process << 32 | a->file) + 1;
	enum access_pattern pattern;
	struct position *p;
	int64_t stride;

	if (!(a->present & PRESENT(OFFSET)) || !a->file)
		return PATTERN_OTHER;
	p = map_get(&tracker->positions, key);
	if (!p && tracker->limit && tracker->positions.count >= tracker->limit)
		return PATTERN_OTHER;
	if (!p) {
		p = xcalloc(1, sizeof(*p));
		map_put(&tracker->positions, key, p);
		*p = (struct position){ (int64_t)((uint64_t)a->offset + bytes), 0, a->offset };
		return PATTERN_OTHER;
	}
	stride = (int64_t)((uint64_t)a->offset - (uint64_t)p->start);
	pattern = a->offset == p->end	? PATTERN_SEQUENTIAL
		  : stride == p->stride ? PATTERN_STRIDED
					: PATTERN_RANDOM;
	*p = (struct position){ (int64_t)((uint64_t)a->offset + bytes), stride, a->offset };
	return pattern;
}
