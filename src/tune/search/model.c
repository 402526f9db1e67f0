/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the prior thinks best, and nothing else: the few points of least expected cost, the best
 * first. Points of which it expects the same are one to it (it does not know all parameters); the
 * one that changes least stands for them. Where the space is too large to look at every point, it
 * starts from many by chance and goes on to better neighbours.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "learn/maths/random.h"
#include "params/space.h"
#include "tune/search/draw.h"
#include "tune/search/search.h"

enum { TOP };

static const struct search_setting model_settings[] = {
	[TOP] = { "top", 5, 1, 1000, true, "points that are measured" }, { 0 }
};

/* More points than that are not all looked at. */
enum { LOOK_MOST = 1000000, LOOK_RANDOM = 20000, CLIMB_MOST = 200 };

struct model_entry {
	double cost;	/* expected */
	size_t changes; /* dimensions that are not the default's */
	size_t *point;
};

struct model_search {
	const struct space *space;
	const struct search_prior *prior;
	struct model_entry *top; /* best first */
	size_t count, most, next;
};

/* ---- the list of the best ---- */

static size_t changes_of(const struct space *space, const size_t *point)
{
	size_t changes = 0;

	for (size_t d = 0; d < space->count; d++)
		changes +=
			point[d] != space->dimensions[d].initial && space_counts(space, point, d);
	return changes;
}

/* An entry of the same cost gives way to one that changes less, and to nothing else. */
static bool entry_joins(struct model_search *m, double cost, size_t changes, const size_t *point)
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

static void entry_add(struct model_search *m, double cost, const size_t *point)
{
	size_t at = m->count, changes;

	if (m->count == m->most && cost > m->top[m->count - 1].cost)
		return;
	changes = changes_of(m->space, point);
	if (entry_joins(m, cost, changes, point))
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

/* What is expected of a settled point, which is noted; NAN: nothing. */
static double look(struct model_search *m, const size_t *point)
{
	double cost;

	if (!space_allows(m->space, point))
		return NAN;
	cost = m->prior->cost(m->prior->arg, point);
	if (!isfinite(cost) || !(cost > 0))
		return NAN;
	entry_add(m, cost, point);
	return cost;
}

/* ---- where it looks ---- */

static void look_everywhere(struct model_search *m, uint64_t points)
{
	size_t point[SPACE_DIMENSIONS];

	for (uint64_t i = 0; i < points; i++) {
		space_point(m->space, i, point);
		space_settle(m->space, point);
		if (space_number(m->space, point) == i)
			look(m, point);
	}
}

/* The best of those one value away, in place of point; false: none is better. */
static bool climb(struct model_search *m, size_t *point, double *cost)
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
			expected = look(m, near);
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

static void look_around(struct model_search *m, uint64_t seed)
{
	size_t point[SPACE_DIMENSIONS];
	struct random random;

	random_init(&random, seed);
	space_default(m->space, point);
	space_settle(m->space, point);
	look(m, point);
	for (size_t i = 0; i < LOOK_RANDOM; i++) {
		draw_point(m->space, &random, point);
		look(m, point);
	}
	/* The list gets better on the way, so that a place may be looked at anew or passed over. */
	for (size_t i = 0; i < m->count; i++) {
		double cost = m->top[i].cost;

		memcpy(point, m->top[i].point, m->space->count * sizeof(*point));
		for (int step = 0; step < CLIMB_MOST && climb(m, point, &cost); step++)
			;
	}
}

/* ---- the search ---- */

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
		return err_set(err, ENODATA,
			       "the model search needs a model of this machine: 'sluice bench' "
			       "measures what one is made of, 'sluice model fit' makes it, and "
			       "--model names it");
	m = xcalloc(1, sizeof(*m));
	m->space = space;
	m->prior = prior;
	m->most = (size_t)settings[TOP];
	m->top = xcalloc(m->most, sizeof(*m->top));
	if (points && points <= LOOK_MOST)
		look_everywhere(m, points);
	else
		look_around(m, seed);
	if (!m->count) {
		model_stop(m);
		return err_set(err, ENODATA,
			       "the model can tell nothing about any point of the space");
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

static uint64_t model_planned(const void *state)
{
	return ((const struct model_search *)state)->count;
}

const struct search_ops search_model = {
	.name = "model",
	.help = "only the few points that a model of the machine expects most of",
	.settings = model_settings,
	.takes_prior = true,
	.start = model_start,
	.ask = model_ask,
	.tell = model_tell,
	.planned = model_planned,
	.stop = model_stop,
};
