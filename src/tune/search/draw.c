/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/search/draw.h"

#include <math.h>
#include <string.h>

#include "learn/math/random.h"
#include "params/space.h"

/* Attempts to draw an allowed point. A space that allows fewer should be searched exhaustively. */
enum { TRIES = 1000 };

void draw_point(const struct space *space, struct random *random, size_t *point)
{
	for (int i = 0; i < TRIES; i++) {
		for (size_t d = 0; d < space->count; d++)
			point[d] = random_below(random, space->dimensions[d].count);
		space_settle(space, point);
		if (space_allows(space, point))
			return;
	}
}

static size_t draw_near_value(struct random *random, size_t count, size_t from)
{
	size_t low = from < 2 ? 0 : from - 2, high = from + 2 < count ? from + 2 : count - 1;
	size_t value = low + random_below(random, high - low);

	return value + (value >= from);
}

void draw_value(const struct space *space, struct random *random, bool near, size_t dimension,
		size_t *point)
{
	const struct space_dimension *d = &space->dimensions[dimension];

	if (d->count < 2)
		return;
	if (near && d->is_ordered) {
		point[dimension] = draw_near_value(random, d->count, point[dimension]);
	} else {
		size_t value = random_below(random, d->count - 1);

		point[dimension] = value + (value >= point[dimension]);
	}
}

/* The index of the n-th dimension that can be changed; space->count: there are fewer. */
static size_t find_changeable(const struct space *space, const size_t *point, size_t n)
{
	for (size_t d = 0; d < space->count; d++)
		if (space->dimensions[d].count > 1 && space_is_active(space, point, d) && n-- == 0)
			return d;
	return space->count;
}

bool draw_change(const struct space *space, struct random *random, bool near, size_t *point)
{
	size_t from[SPACE_DIMENSIONS], count = 0;

	while (find_changeable(space, point, count) < space->count)
		count++;
	if (!count)
		return false;
	memcpy(from, point, space->count * sizeof(*from));
	for (int i = 0; i < TRIES; i++) {
		size_t d = find_changeable(space, from, random_below(random, count));

		memcpy(point, from, space->count * sizeof(*from));
		draw_value(space, random, near, d, point);
		space_settle(space, point);
		if (space_allows(space, point))
			break;
	}
	return true;
}

double draw_log(double cost)
{
	return isfinite(cost) ? log(fmax(cost, 1e-12)) : INFINITY;
}
