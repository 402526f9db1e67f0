/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tries only the few points to which the prior gives the lowest expected cost, the best first. Of
 * points with the same expected cost (the prior does not know all parameters) it tries the one that
 * changes fewest parameters. If the space is too large to evaluate every point, it climbs from
 * many random points to better neighbors.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "learn/math/random.h"
#include "params/space.h"
#include "tune/search/draw.h"
#include "tune/search/search.h"

enum { TOP };

static const struct search_setting model_settings[] = {
	[TOP] = { "top", 5, 1, 1000, true, "points to measure" }, { 0 }
};

/* In larger spaces not all points are evaluated. */
enum { LOOK_MOST = 1000000, LOOK_RANDOM = 20000, CLIMB_MOST = 200 };

struct model_entry {
	double cost;	/* expected cost */
	size_t changes; /* dimensions that differ from the default */
	size_t *point;
};

struct model_search {
	const struct space *space;
	const struct search_prior *prior;
	struct model_entry *top; /* best first */
	size_t count, most, next;
};

static size_t count_changes(const struct space *space, const size_t *point)
{
	size_t changes = 0;

	for (size_t d = 0; d < space->count; d++)
		changes += point[d] != space->dimensions[d].initial &&
			   space_is_active(space, point, d);
	return changes;
}

/* Is there an entry of the same cost? It is replaced if the new point changes fewer dimensions. */
static bool join_equal_entry(struct model_search *m, double cost, size_t changes,
			     const size_t *point)
{
	for (size_t i = 0; i < m->count; i++) {
		if (m->top[i].cost != cost)
			continue;
		if (changes < m->top[i].changes) {
			m->top[i].changes = changes;
			memcpy(m->top[i].point, point, m->space->count * sizeof(*point));
		}
		return true;
	}
	return false;
}

static void add_entry(struct model_search *m, double cost, const size_t *point)
{
	size_t at = m->count, changes;

	if (m->count == m->most && cost > m->top[m->count - 1].cost)
		return;
	changes = count_changes(m->space, point);
	if (join_equal_entry(m, cost, changes, point))
		return;
	if (m->count < m->most)
		m->top[m->count++].point = xcalloc(m->space->count + 1, sizeof(*point));
	else
		at--;
	m->top[at].cost = cost;
	m->top[at].changes = changes;
	memcpy(m->top[at].point, point, m->space->count * sizeof(*point));
	for (; at && m->top[at - 1].cost > cost; at--) {
		struct model_entry entry = m->top[at];

		m->top[at] = m->top[at - 1];
		m->top[at - 1] = entry;
	}
}

/* Evaluates the prior at a settled point and adds it to the list; NAN: it has no estimate. */
static double evaluate_point(struct model_search *m, const size_t *point)
{
	double cost;

	if (!space_allows(m->space, point))
		return NAN;
	cost = m->prior->cost(m->prior->arg, point);
	if (!isfinite(cost) || !(cost > 0))
		return NAN;
	add_entry(m, cost, point);
	return cost;
}

static void evaluate_all(struct model_search *m, uint64_t points)
{
	size_t point[SPACE_DIMENSIONS];

	for (uint64_t i = 0; i < points; i++) {
		space_point(m->space, i, point);
		space_settle(m->space, point);
		if (space_number(m->space, point) == i)
			evaluate_point(m, point);
	}
}

/* Moves to the best neighbor, which differs in one value. False: no neighbor is better. */
static bool climb_once(struct model_search *m, size_t *point, double *cost)
{
	size_t best[SPACE_DIMENSIONS], near[SPACE_DIMENSIONS];
	size_t bytes = m->space->count * sizeof(*point);
	bool is_better = false;

	for (size_t d = 0; d < m->space->count; d++) {
		for (size_t v = 0; v < m->space->dimensions[d].count; v++) {
			double expected;

			memcpy(near, point, bytes);
			near[d] = v;
			space_settle(m->space, near);
			expected = evaluate_point(m, near);
			if (!(expected < *cost))
				continue;
			*cost = expected;
			memcpy(best, near, bytes);
			is_better = true;
		}
	}
	if (is_better)
		memcpy(point, best, bytes);
	return is_better;
}

static void climb_from_random_points(struct model_search *m, uint64_t seed)
{
	size_t point[SPACE_DIMENSIONS];
	struct random random;

	random_init(&random, seed);
	space_default(m->space, point);
	space_settle(m->space, point);
	evaluate_point(m, point);
	for (size_t i = 0; i < LOOK_RANDOM; i++) {
		draw_point(m->space, &random, point);
		evaluate_point(m, point);
	}
	/* The list improves during the climb, so a start may be visited again or skipped. */
	for (size_t i = 0; i < m->count; i++) {
		double cost = m->top[i].cost;

		memcpy(point, m->top[i].point, m->space->count * sizeof(*point));
		for (int step = 0; step < CLIMB_MOST && climb_once(m, point, &cost); step++)
			;
	}
}

static void model_stop(void *state)
{
	struct model_search *m = state;

	for (size_t i = 0; i < m->count; i++)
		free(m->top[i].point);
	free(m->top);
	free(m);
}

static int model_start(void **state, const struct space *space, const struct search_prior *prior,
		       const double *settings, uint64_t seed, struct err *err)
{
	struct model_search *m;
	uint64_t points = space_points(space);

	if (!prior)
		return err_set(
			err, ENODATA,
			"--search model needs a model of this machine; make one with 'sluice "
			"model measure' and 'sluice model fit', and name it with --model");
	m = xcalloc(1, sizeof(*m));
	m->space = space;
	m->prior = prior;
	m->most = (size_t)settings[TOP];
	m->top = xcalloc(m->most, sizeof(*m->top));
	if (points && points <= LOOK_MOST)
		evaluate_all(m, points);
	else
		climb_from_random_points(m, seed);
	if (!m->count) {
		model_stop(m);
		return err_set(err, ENODATA,
			       "the model has no estimate for any point of the space");
	}
	*state = m;
	return 0;
}

static int model_ask(void *state, size_t *point)
{
	struct model_search *m = state;

	if (m->next == m->count)
		return 0;
	memcpy(point, m->top[m->next++].point, m->space->count * sizeof(*point));
	return 1;
}

static void model_tell(void *state, const size_t *point, double cost)
{
	(void)state;
	(void)point;
	(void)cost;
}

const struct search_ops search_model = {
	.name = "model",
	.help = "only the few points that a model of the machine predicts to be fastest",
	.settings = model_settings,
	.takes_prior = true,
	.start = model_start,
	.ask = model_ask,
	.tell = model_tell,
	.stop = model_stop,
};
