/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tries all allowed points in the order of their numbers.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "params/space.h"
#include "tune/search/search.h"

/* Larger spaces are not counted before the first point. */
static const uint64_t count_most = 1000000;

struct exhaustive {
	const struct space *space;
	uint64_t points, next, planned;
};

static bool is_own_point(const struct space *space, uint64_t number, size_t *point)
{
	space_point(space, number, point);
	space_settle(space, point);
	return space_number(space, point) == number && space_allows(space, point);
}

static int exhaustive_start(void **state, const struct space *space,
			    const struct search_prior *prior, const double *settings, uint64_t seed,
			    struct err *err)
{
	uint64_t points = space_points(space);
	size_t point[SPACE_DIMENSIONS];
	struct exhaustive *exhaustive;

	(void)prior;
	(void)settings;
	(void)seed;
	if (!points)
		return err_set(
			err, E2BIG,
			"the space has too many points to try them all; use another --search "
			"or fewer values");
	exhaustive = xcalloc(1, sizeof(*exhaustive));
	exhaustive->space = space;
	exhaustive->points = points;
	for (uint64_t i = 0; i < points && points <= count_most; i++)
		exhaustive->planned += is_own_point(space, i, point);
	if (points > count_most)
		exhaustive->planned = points;
	*state = exhaustive;
	return 0;
}

static int exhaustive_ask(void *state, size_t *point)
{
	struct exhaustive *exhaustive = state;

	while (exhaustive->next < exhaustive->points)
		if (is_own_point(exhaustive->space, exhaustive->next++, point))
			return 1;
	return 0;
}

static void exhaustive_tell(void *state, const size_t *point, double cost)
{
	(void)state;
	(void)point;
	(void)cost;
}

static uint64_t exhaustive_planned(const void *state)
{
	return ((const struct exhaustive *)state)->planned;
}

const struct search_ops search_exhaustive = {
	.name = "exhaustive",
	.help = "try every point, in order",
	.start = exhaustive_start,
	.ask = exhaustive_ask,
	.tell = exhaustive_tell,
	.planned = exhaustive_planned,
	.stop = free,
};
