/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Random points: without replacement, by a seeded permutation of the numbers of the space that
 * needs no memory, or with replacement, as papers do for comparison.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "learn/math/random.h"
#include "params/space.h"
#include "tune/search/draw.h"
#include "tune/search/search.h"

enum { DRAWS, REPLACEMENT };

static const struct search_setting random_settings[] = {
	[DRAWS] = { "draws", 600, 1, 1e15, true, "most points to try" },
	[REPLACEMENT] = { "replacement", 0, 0, 1, true, "1: a point may be drawn again" },
	{ 0 }
};

struct draws {
	const struct space *space;
	struct random random;
	uint64_t left;
	uint64_t points;     /* of the space; 0: uncountable, or drawn with replacement */
	uint64_t next;	     /* index in the permutation */
	uint64_t half, mask; /* of the Feistel network: bits of one side, and their mask */
	uint64_t keys[6];
};

/* A permutation of 4^half numbers; each side has `half` bits (Luby and Rackoff 1988). */
static uint64_t feistel(const struct draws *draws, uint64_t number)
{
	uint64_t left = number >> draws->half, right = number & draws->mask;

	for (size_t i = 0; i < sizeof(draws->keys) / sizeof(draws->keys[0]); i++) {
		uint64_t mixed = (right ^ draws->keys[i]) * UINT64_C(0xbf58476d1ce4e5b9),
			 old = left;

		mixed = (mixed ^ mixed >> 29) * UINT64_C(0x94d049bb133111eb);
		left = right;
		right = old ^ ((mixed ^ mixed >> 32) & draws->mask);
	}
	return left << draws->half | right;
}

/* Repeats the permutation until the number is inside the space: at most four times on average. */
static uint64_t permute_number(const struct draws *draws, uint64_t number)
{
	do
		number = feistel(draws, number);
	while (number >= draws->points);
	return number;
}

static int draws_start(void **state, const struct space *space, const struct search_prior *prior,
		       const double *settings, uint64_t seed, struct err *err)
{
	struct draws *draws = xcalloc(1, sizeof(*draws));

	(void)prior;
	(void)err;
	draws->space = space;
	random_init(&draws->random, seed);
	draws->left = (uint64_t)settings[DRAWS];
	*state = draws;
	if (settings[REPLACEMENT] != 0)
		return 0;
	draws->points = space_points(space);
	while (draws->half < 31 && UINT64_C(1) << 2 * draws->half < draws->points)
		draws->half++;
	draws->mask = (UINT64_C(1) << draws->half) - 1;
	/* Among 2^62 points hardly any is drawn twice. */
	if (draws->points > UINT64_C(1) << 62)
		draws->points = 0;
	for (size_t i = 0; i < sizeof(draws->keys) / sizeof(draws->keys[0]); i++)
		draws->keys[i] = random_u64(&draws->random);
	return 0;
}

static int draws_ask(void *state, size_t *point)
{
	struct draws *draws = state;

	if (!draws->left)
		return 0;
	draws->left--;
	if (!draws->points) {
		draw_point(draws->space, &draws->random, point);
		return 1;
	}
	while (draws->next < draws->points) {
		uint64_t number = permute_number(draws, draws->next++);

		/* Of equivalent points only the settled one is used. */
		space_point(draws->space, number, point);
		space_settle(draws->space, point);
		if (space_number(draws->space, point) == number &&
		    space_allows(draws->space, point))
			return 1;
	}
	draws->left = 0;
	return 0;
}

static void draws_tell(void *state, const size_t *point, double cost)
{
	(void)state;
	(void)point;
	(void)cost;
}

const struct search_ops search_random = {
	.name = "random",
	.help = "random points, none twice",
	.settings = random_settings,
	.start = draws_start,
	.ask = draws_ask,
	.tell = draws_tell,
	.stop = free,
};
