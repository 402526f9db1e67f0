/* SPDX-License-Identifier: BSD-3-Clause */
#include "predict/model/stripes.h"

#include <math.h>
#include <string.h>

#include "base/integer.h"

/* The precision of targets, so that equal spreads that were computed in different ways are equal.
 */
#define STEPS 64

static uint64_t bytes_before(const struct stripes *s, uint64_t object, uint64_t end)
{
	uint64_t set = s->unit * s->count, rest = end % set, first = object * s->unit;

	return end / set * s->unit + (rest > first ? u64_min(rest - first, s->unit) : 0);
}

uint64_t stripes_bytes(const struct stripes *stripes, uint64_t object, struct range range)
{
	if (range.from >= range.to)
		return 0;
	return bytes_before(stripes, object, range.to) - bytes_before(stripes, object, range.from);
}

uint64_t stripes_pieces(const struct stripes *stripes, struct range range)
{
	if (range.from >= range.to)
		return 0;
	/* With one object, units are adjacent. */
	if (stripes->count == 1)
		return 1;
	return (range.to - 1) / stripes->unit - range.from / stripes->unit + 1;
}

uint64_t stripes_objects(const struct stripes *stripes, struct range range)
{
	return u64_min(stripes_pieces(stripes, range), stripes->count);
}

double stripes_targets(double targets)
{
	return rint(targets * STEPS) / STEPS;
}

struct stripes_spread stripes_spread_find(const struct stripes *stripes, const struct range *ranges,
					  size_t count)
{
	uint64_t loads[STRIPES_MOST], sum = 0, most = 0;
	struct stripes_spread spread = { 0 };

	if (!stripes->count || !stripes->unit || stripes->count > STRIPES_MOST)
		return spread;
	memset(loads, 0, stripes->count * sizeof(*loads));
	for (size_t i = 0; i < count; i++) {
		uint64_t objects = stripes_objects(stripes, ranges[i]);

		spread.pieces += (double)stripes_pieces(stripes, ranges[i]);
		for (uint64_t k = 0; k < objects; k++) {
			uint64_t object = (ranges[i].from / stripes->unit + k) % stripes->count;
			uint64_t bytes = stripes_bytes(stripes, object, ranges[i]);

			loads[object] += bytes;
			sum += bytes;
			most = u64_max(most, loads[object]);
		}
	}
	if (most)
		spread.targets = stripes_targets((double)sum / (double)most);
	return spread;
}
