/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/apply/apportion.h"

#include <string.h>

#define TAKEN (-1.0)

/* The destination with the largest remainder; `count` if there is none. */
static unsigned find_largest(const struct apportionment *a)
{
	unsigned best = a->count;

	for (unsigned i = 0; i < a->count; i++)
		if (a->rests[i] > 0 && (best == a->count || a->rests[i] > a->rests[best]))
			best = i;
	return best;
}

/* Destinations that may get a stripe but have none. */
static unsigned count_empty(const struct apportionment *a)
{
	unsigned n = 0;

	for (unsigned i = 0; i < a->count; i++)
		n += a->weights[i] > 0 && !a->parts[i];
	return n;
}

/* If `left` is enough for all destinations without a stripe, they get one each. */
static unsigned fill_empty(struct apportionment *a, unsigned left)
{
	if (left < count_empty(a))
		return left;
	for (unsigned i = 0; i < a->count; i++)
		a->parts[i] += a->weights[i] > 0 && !a->parts[i];
	return 0;
}

/* Rounds all quotas down. Returns the number of stripes that remain. */
static unsigned round_down(struct apportionment *a, unsigned stripes)
{
	unsigned left = stripes;
	double sum = 0;

	for (unsigned i = 0; i < a->count; i++)
		sum += a->weights[i];
	for (unsigned i = 0; i < a->count; i++) {
		double quota = sum > 0 ? stripes * a->weights[i] / sum : 0;

		a->parts[i] = (uint16_t)quota;
		a->rests[i] = quota - a->parts[i];
		left -= a->parts[i];
	}
	return left;
}

unsigned apportion_divide(struct apportionment *a, unsigned stripes)
{
	unsigned left = round_down(a, stripes), open = 0;

	for (unsigned chosen; left && (chosen = find_largest(a)) < a->count; left--) {
		a->rests[chosen] = TAKEN;
		if (a->parts[chosen])
			a->parts[chosen]++;
		else
			open++;
	}
	return fill_empty(a, open);
}

unsigned apportion_divide_once(struct apportionment *a, unsigned stripes)
{
	unsigned empty;

	memset(a->parts, 0, sizeof(a->parts));
	empty = count_empty(a);
	return fill_empty(a, stripes < empty ? stripes : empty);
}

bool apportion_repeats(const struct apportionment *a)
{
	for (unsigned i = 0; i < a->count; i++)
		if (a->parts[i] > 1)
			return true;
	return false;
}

/*
 * Spreads the stripes of each destination evenly: with n of them, its k-th stripe is due after
 * (k + 1/2) / n of the file. The destination whose stripe is due first is next.
 */
static unsigned spread_evenly(struct apportionment *a, uint16_t *order, unsigned most)
{
	uint16_t *had = a->had;
	unsigned n = 0;

	memset(a->had, 0, sizeof(a->had));
	for (unsigned best; n < most; n++) {
		best = a->count;
		for (unsigned i = 0; i < a->count; i++)
			if (had[i] < a->parts[i] &&
			    (best == a->count || (2u * had[i] + 1) * a->parts[best] <
							 (2u * had[best] + 1) * a->parts[i]))
				best = i;
		if (best == a->count)
			break;
		had[best]++;
		order[n] = (uint16_t)best;
	}
	return n;
}

/*
 * Moves the stripe at `from`, which equals the one before it, between two others; to the nearest
 * place after it. The stripes between move up. False: there is no such place, because a destination
 * has more than half of the stripes.
 */
static bool move_apart(uint16_t *order, unsigned n, unsigned from)
{
	uint16_t moved = order[from];
	unsigned steps = 1;

	while (steps < n &&
	       (order[(from + steps) % n] == moved || order[(from + steps + 1) % n] == moved))
		steps++;
	if (steps == n)
		return false;
	for (unsigned i = from; steps; steps--, i = (i + 1) % n) {
		order[i] = order[(i + 1) % n];
		order[(i + 1) % n] = moved;
	}
	return true;
}

unsigned apportion_order(struct apportionment *a, uint16_t *order, unsigned most)
{
	unsigned n = spread_evenly(a, order, most);

	for (unsigned i = 0; n > 1 && i < n; i++)
		while (order[i] == order[(i + n - 1) % n] && move_apart(order, n, i))
			;
	return n;
}
