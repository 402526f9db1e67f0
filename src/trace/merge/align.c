/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/merge/align.h"

/* Half of the range, so that the sum of two bounds cannot overflow. */
#define BOUND (INT64_MAX / 2)

struct range {
	int64_t low, high;
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
			       bounded_difference(e->a.exit_ns, e->b.enter_ns) };
}

static struct range intersect_ranges(const struct align_event *events, size_t count)
{
	struct range all = { -BOUND, BOUND };

	for (size_t i = 0; i < count; i++) {
		struct range r = event_range(&events[i]);

		if (r.low > all.low)
			all.low = r.low;
		if (r.high < all.high)
			all.high = r.high;
	}
	return all;
}

/* The largest distance of `offset` from the bounds of any event. */
static int64_t find_largest_error(const struct align_event *events, size_t count, int64_t offset)
{
	int64_t worst = 0;

	for (size_t i = 0; i < count; i++) {
		struct range r = event_range(&events[i]);

		if (offset - r.low > worst)
			worst = offset - r.low;
		if (r.high - offset > worst)
			worst = r.high - offset;
	}
	return worst;
}

bool align_clocks(const struct align_event *events, size_t count, struct align_offset *out)
{
	struct range all = intersect_ranges(events, count);
	int64_t middle = all.low + (all.high - all.low) / 2;

	if (!count)
		return false;
	*out = (struct align_offset){ middle, all.high - middle };
	if (all.low > all.high)
		out->error_ns = find_largest_error(events, count, middle);
	return true;
}
