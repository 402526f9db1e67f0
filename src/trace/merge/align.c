/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/merge/align.h"

/* Half of the range, so that the sum of two bounds cannot overflow. */
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

static struct range intersect_ranges(const struct align_event *events, size_t count, bool firm_only)
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

/* The largest distance of `offset` from the range of any event. */
static int64_t find_largest_error(const struct align_event *events, size_t count, bool firm_only,
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
	struct range all = intersect_ranges(events, count, false),
		     firm = intersect_ranges(events, count, true);
	struct range best = all.low <= all.high || !firm.used ? all : firm;
	int64_t middle = best.low + (best.high - best.low) / 2;

	if (!count)
		return false;
	*out = (struct align_offset){ middle, best.high - middle, best.used };
	if (best.low > best.high)
		out->error_ns = find_largest_error(events, count, firm.used != 0, middle);
	return true;
}
