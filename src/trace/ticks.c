/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Division by an invariant: the quotient is estimated with a precomputed reciprocal, is at most one
 * too low, and is corrected with the exact remainder. A 128-bit division would take ten times as
 * long.
 */
#include "trace/ticks.h"

#include "base/integer.h"
#include "trace/format.h"

typedef unsigned __int128 u128;

bool ticks_init(struct ticks *ticks, const struct run_clock *clock)
{
	uint64_t divisor;

	*ticks = (struct ticks){ .num = 1, .den = 1, .whole = 1, .identity = true };
	if (!clock->num || !clock->den)
		return false;
	divisor = u64_gcd(clock->num, clock->den);
	ticks->tick0 = clock->tick0;
	ticks->num = clock->num / divisor;
	ticks->den = clock->den / divisor;
	ticks->whole = ticks->num / ticks->den;
	ticks->part = (uint64_t)(((u128)(ticks->num % ticks->den) << 64) / ticks->den);
	ticks->identity = !ticks->tick0 && ticks->num == 1 && ticks->den == 1;
	return true;
}

static int64_t before_start_ns(const struct ticks *ticks, uint64_t behind)
{
	u128 ns = ((u128)behind * ticks->num + (ticks->den - 1)) / ticks->den;

	return ns > (u128)INT64_MAX ? INT64_MIN : -(int64_t)ns;
}

int64_t ticks_ns(const struct ticks *ticks, int64_t at)
{
	uint64_t since = (uint64_t)at - ticks->tick0;
	u128 ns, rest;

	if (ticks->identity)
		return at;
	if ((int64_t)since < 0)
		return before_start_ns(ticks, 0 - since);
	ns = (u128)since * ticks->whole + (uint64_t)((u128)since * ticks->part >> 64);
	rest = (u128)since * ticks->num - ns * ticks->den;
	if (rest >= ticks->den)
		ns++;
	return ns > (u128)INT64_MAX ? INT64_MAX : (int64_t)ns;
}

int64_t ticks_span_ns(const struct ticks *ticks, int64_t start, int64_t start_ns, int64_t duration)
{
	int64_t end, span;

	if (ticks->identity)
		return duration;
	if (__builtin_add_overflow(start, duration, &end))
		end = duration < 0 ? INT64_MIN : INT64_MAX;
	if (__builtin_sub_overflow(ticks_ns(ticks, end), start_ns, &span))
		span = duration < 0 ? INT64_MIN : INT64_MAX;
	return span;
}
