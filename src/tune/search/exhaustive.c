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

struct exhaustive {
	const struct space *space;
	uint64_t points, next;
};

/* Is the point of this number settled and allowed? Then no other number stands for it. */
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

const struct search_ops search_exhaustive = {
	.name = "exhaustive",
	.help = "try every point, in order",
	.start = exhaustive_start,
	.ask = exhaustive_ask,
	.tell = exhaustive_tell,
	.stop = free,
};
