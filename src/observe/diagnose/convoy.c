/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/diagnose/convoy.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"
#include "observe/profile/raster.h"
#include "observe/tally/layouts.h"
#include "observe/tally/traffic.h"

/* More than any file system has. */
#define STRIPES_MAX 65536
/* Of times, offsets and sizes; a saved profile may hold anything. */
#define LIMIT (INT64_C(1) << 61)

/* A write starts or ends. */
struct event {
	int64_t time_ns;
	const struct raster_point *write;
	bool is_end;
};

struct sweep {
	const struct layout *layout;
	uint32_t *writes;	      /* under way, per stripe */
	uint64_t stripes, everywhere; /* stripes with writes; writes to all of them */
	uint64_t under_way;
	double together_ns; /* time with several writes */
	struct convoy sums; /* in units of writes or stripes times ns */
};

static int compare_events(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return y->is_end - x->is_end;
}

static bool is_write(const struct raster_point *p)
{
	return p->way == WRITING && p->bytes && p->bytes <= (uint64_t)LIMIT && p->offset >= 0 &&
	       p->offset <= LIMIT && p->start_ns >= -LIMIT && p->start_ns <= LIMIT &&
	       p->duration_ns > 0 && p->duration_ns <= LIMIT;
}

static struct event *list_events(const struct raster *raster, size_t *count)
{
	struct event *events = xcalloc(2 * raster->point_count + 1, sizeof(*events));

	*count = 0;
	for (size_t i = 0; i < raster->point_count; i++) {
		const struct raster_point *p = &raster->points[i];

		if (!is_write(p))
			continue;
		events[(*count)++] = (struct event){ p->start_ns, p, false };
		events[(*count)++] = (struct event){ p->start_ns + p->duration_ns, p, true };
	}
	qsort(events, *count, sizeof(*events), compare_events);
	return events;
}

static void count_on_stripe(struct sweep *s, uint64_t stripe, bool is_end)
{
	if (is_end)
		s->stripes -= --s->writes[stripe] == 0;
	else
		s->stripes += s->writes[stripe]++ == 0;
}

static void count_write(struct sweep *s, const struct event *e)
{
	uint64_t unit = s->layout->unit, from = (uint64_t)e->write->offset / unit;
	uint64_t until = ((uint64_t)e->write->offset + e->write->bytes - 1) / unit;

	s->under_way += e->is_end ? -UINT64_C(1) : 1;
	if (until - from + 1 >= s->layout->stripes)
		s->everywhere += e->is_end ? -UINT64_C(1) : 1;
	else
		for (uint64_t i = from; i <= until; i++)
			count_on_stripe(s, layout_stripe(s->layout, i * unit), e->is_end);
}

static void add_time(struct sweep *s, double time_ns)
{
	double writes = (double)s->under_way, all = (double)s->layout->stripes;
	double stripes = s->everywhere ? all : (double)s->stripes;
	double could = writes < all ? writes : all;

	if (s->under_way < 2)
		return;
	s->together_ns += time_ns;
	s->sums.writes += writes * time_ns;
	s->sums.stripes += stripes * time_ns;
	s->sums.could += (stripes > could ? stripes : could) * time_ns;
}

struct convoy convoy_measure(const struct raster *raster, const struct layout *layout)
{
	struct sweep s = { .layout = layout };
	AUTO_FREE struct event *events = NULL;
	size_t count;

	if (!raster->points || !layout->unit || !layout->stripes || layout->stripes > STRIPES_MAX)
		return s.sums;
	s.writes = xcalloc(layout->stripes, sizeof(*s.writes));
	events = list_events(raster, &count);
	for (size_t i = 0; i < count; i++) {
		if (i)
			add_time(&s, (double)(events[i].time_ns - events[i - 1].time_ns));
		count_write(&s, &events[i]);
	}
	free(s.writes);
	if (s.together_ns > 0)
		s.sums = (struct convoy){ .time_ns = s.sums.writes,
					  .writes = s.sums.writes / s.together_ns,
					  .stripes = s.sums.stripes / s.together_ns,
					  .could = s.sums.could / s.together_ns };
	return s.sums;
}
