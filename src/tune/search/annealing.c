/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Simulated annealing (Kirkpatrick et al. 1983). Each step goes to a neighbor: always if it is
 * better, and with a probability that falls with the temperature if it is worse. Costs are compared
 * by their logarithms, so that a temperature means the same for runs of a second and of an hour: at
 * temperature 0.1, a neighbor that takes 10 % longer is accepted with a probability of about 1/e.
 *
 * The search starts at the best point that is known before, or at a random one.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "learn/math/random.h"
#include "params/space.h"
#include "tune/search/draw.h"
#include "tune/search/search.h"

enum { STEPS, HOT, COLD, FAR };

static const struct search_setting annealing_settings[] = {
	[STEPS] = { "steps", 600, 1, 1e9, true, "steps, including repeated points" },
	[HOT] = { "hot", 0.3, 1e-6, 100, false,
		  "first temperature, in units of the logarithm of the cost" },
	[COLD] = { "cold", 0.01, 1e-6, 100, false, "last temperature" },
	[FAR] = { "far", 0.2, 0, 1, false,
		  "probability that a step goes to any value, not to one of the nearest two" },
	{ 0 }
};

struct annealing {
	const struct space *space;
	struct random random;
	uint64_t steps, step;
	double hot, cold, far;
	size_t here[SPACE_DIMENSIONS];
	double cost; /* logarithm of the cost of the current point */
	bool is_placed;
};

static int annealing_start(void **state, const struct space *space,
			   const struct search_prior *prior, const double *settings, uint64_t seed,
			   struct err *err)
{
	struct annealing *annealing = xcalloc(1, sizeof(*annealing));

	(void)prior;
	(void)err;
	annealing->space = space;
	annealing->steps = (uint64_t)settings[STEPS];
	annealing->hot = settings[HOT];
	annealing->cold = settings[COLD];
	annealing->far = settings[FAR];
	annealing->cost = INFINITY;
	random_init(&annealing->random, seed);
	*state = annealing;
	return 0;
}

static int annealing_ask(void *state, size_t *point)
{
	struct annealing *annealing = state;
	bool near;

	if (annealing->step >= annealing->steps)
		return 0;
	if (!annealing->is_placed) {
		draw_point(annealing->space, &annealing->random, point);
		return 1;
	}
	memcpy(point, annealing->here, annealing->space->count * sizeof(*point));
	near = random_real(&annealing->random) >= annealing->far;
	return draw_change(annealing->space, &annealing->random, near, point);
}

static double temperature(const struct annealing *annealing)
{
	double done = (double)annealing->step / (double)annealing->steps;

	return annealing->hot * pow(annealing->cold / annealing->hot, done);
}

static void annealing_move(struct annealing *annealing, const size_t *point, double cost)
{
	memcpy(annealing->here, point, annealing->space->count * sizeof(*point));
	annealing->cost = cost;
	annealing->is_placed = true;
}

static void annealing_tell(void *state, const size_t *point, double cost)
{
	struct annealing *annealing = state;
	double worse = draw_log(cost) - annealing->cost;
	/* Always drawn, so that the sequence of random numbers does not depend on the cost. */
	double chance = random_real(&annealing->random);

	annealing->step++;
	/* Both points failed: move on. */
	if (isnan(worse) || worse <= 0 || chance < exp(-worse / temperature(annealing)))
		annealing_move(annealing, point, draw_log(cost));
}

static void annealing_know(void *state, const size_t *point, double cost)
{
	struct annealing *annealing = state;

	if (isfinite(cost) && draw_log(cost) < annealing->cost)
		annealing_move(annealing, point, draw_log(cost));
}

const struct search_ops search_annealing = {
	.name = "annealing",
	.help = "simulated annealing: steps to neighbors, ever less often to worse ones",
	.settings = annealing_settings,
	.start = annealing_start,
	.ask = annealing_ask,
	.tell = annealing_tell,
	.know = annealing_know,
	.stop = free,
};
