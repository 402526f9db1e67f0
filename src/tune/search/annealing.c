/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Simulated annealing (Kirkpatrick et al. 1983): from a point to a neighbour, always where that is
 * better, and by a chance that falls as it cools where it is worse. Costs count by their logarithm,
 * so that temperatures mean the same for runs of a second and of an hour: at temperature 0.1 a
 * neighbour that takes 10 % longer is taken with a chance of about 1/e.
 *
 * It starts at the best of what is known before, or anywhere.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "learn/maths/random.h"
#include "params/space.h"
#include "tune/search/draw.h"
#include "tune/search/search.h"

enum { STEPS, HOT, COLD, FAR };

static const struct search_setting annealing_settings[] = {
	[STEPS] = { "steps", 600, 1, 1e9, true, "questions, repeated ones included" },
	[HOT] = { "hot", 0.3, 1e-6, 100, false, "temperature at first, in logarithms of cost" },
	[COLD] = { "cold", 0.01, 1e-6, 100, false, "temperature at last" },
	[FAR] = { "far", 0.2, 0, 1, false,
		  "chance that a step goes to any value, not to one of the next two" },
	{ 0 }
};

struct annealing {
	const struct space *space;
	struct random random;
	uint64_t steps, step;
	double hot, cold, far;
	size_t here[SPACE_DIMENSIONS];
	double cost; /* of here, logarithm */
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
	/* Drawn in any case, so that the course depends on less. */
	double chance = random_real(&annealing->random);

	annealing->step++;
	/* Not better and not worse than nothing: two failures. */
	if (isnan(worse) || worse <= 0 || chance < exp(-worse / temperature(annealing)))
		annealing_move(annealing, point, draw_log(cost));
}

static void annealing_know(void *state, const size_t *point, double cost)
{
	struct annealing *annealing = state;

	if (isfinite(cost) && draw_log(cost) < annealing->cost)
		annealing_move(annealing, point, draw_log(cost));
}

static uint64_t annealing_planned(const void *state)
{
	return ((const struct annealing *)state)->steps;
}

const struct search_ops search_annealing = {
	.name = "annealing",
	.help = "steps to neighbours, bold at first and careful later",
	.settings = annealing_settings,
	.start = annealing_start,
	.ask = annealing_ask,
	.tell = annealing_tell,
	.know = annealing_know,
	.planned = annealing_planned,
	.stop = free,
};
