/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/merge/align.h"

/* Half the range: sums of two bounds cannot overflow, and no span of time comes near. */
#define BOUND (INT64_MAX / 2)

struct range {
	int64_t low, high;
	size_t used;
};

static int64_t bounded_difference(int64_t a, int64_t b)
{
	int64_t d;

	if (__builtin_sub_overflow(a, b, &d))
		d = a < b ? -BOUND : BOUND;
	return d < -BOUND ? -BOUND : d > BOUND ? BOUND : d;
}

static struct range event_range(const struct align_event *e)
{
	return (struct range){ bounded_difference(e->a.enter_ns, e->b.exit_ns),
			       bounded_difference(e->a.exit_ns, e->b.enter_ns), 1 };
}

static struct range intersect(const struct align_event *events, size_t count, bool firm_only)
{
	struct range all = { -BOUND, BOUND, 0 };

	for (size_t i = 0; i < count; i++) {
		struct range r = event_range(&events[i]);

		if (firm_only && !events[i].firm)
			continue;
		if (r.low > all.low)
			all.low = r.low;
		if (r.high < all.high)
			all.high = r.high;
		all.used++;
	}
	return all;
}

/* How far the true offset may have been from this one at the worst of the events. */
static int64_t farthest(const struct align_event *events, size_t count, bool firm_only,
			int64_t offset)
{
	int64_t worst = 0;

	for (size_t i = 0; i < count; i++) {
		struct range r = event_range(&events[i]);

		if (firm_only && !events[i].firm)
			continue;
		if (offset - r.low > worst)
			worst = offset - r.low;
		if (r.high - offset > worst)
			worst = r.high - offset;
	}
	return worst;
}

bool align_clocks(const struct align_event *events, size_t count, struct align_offset *out)
{
	struct range all = intersect(events, count, false), firm = intersect(events, count, true);
	struct range best = all.low <= all.high || !firm.used ? all : firm;
	int64_t middle = best.low + (best.high - best.low) / 2;

	if (!count)
		return false;
	*out = (struct align_offset){ middle, best.high - middle, best.used };
	if (best.low > best.high)
		out->error_ns = farthest(events, count, firm.used != 0, middle);
	return true;
}
