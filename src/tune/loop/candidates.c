/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/loop/candidates.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "learn/math/vector.h"

void candidate_release(struct candidate *candidate)
{
	free(candidate->point);
	free(candidate->costs);
	free(candidate->run_s);
	*candidate = (struct candidate){ 0 };
}

void candidates_release(struct candidates *candidates)
{
	for (size_t i = 0; i < candidates->count; i++)
		candidate_release(&candidates->list[i]);
	free(candidates->list);
	*candidates = (struct candidates){ 0 };
}

struct candidate *candidates_add(struct candidates *candidates, const size_t *point, size_t width)
{
	struct candidate *made;

	candidates->list = xgrow(candidates->list, &candidates->cap, candidates->count + 1,
				 sizeof(*candidates->list));
	made = &candidates->list[candidates->count++];
	*made = (struct candidate){ .cost = INFINITY, .rank = INFINITY };
	made->point = xcalloc(width + 1, sizeof(*point));
	memcpy(made->point, point, width * sizeof(*point));
	return made;
}

struct candidate *candidates_find(const struct candidates *candidates, const size_t *point,
				  size_t width)
{
	for (size_t i = 0; i < candidates->count; i++)
		if (memcmp(candidates->list[i].point, point, width * sizeof(*point)) == 0)
			return &candidates->list[i];
	return NULL;
}

static double median_of(const double *values, size_t count)
{
	AUTO_FREE double *copy = NULL;

	if (!count)
		return NAN;
	copy = xcalloc(count, sizeof(*copy));
	memcpy(copy, values, count * sizeof(*copy));
	return vector_median(copy, count);
}

void candidate_add_run(struct candidate *candidate, double cost, double run_s)
{
	size_t cap = candidate->cap;

	candidate->costs = xgrow(candidate->costs, &candidate->cap, candidate->count + 1,
				 sizeof(*candidate->costs));
	candidate->run_s =
		xgrow(candidate->run_s, &cap, candidate->count + 1, sizeof(*candidate->run_s));
	candidate->costs[candidate->count] = cost;
	candidate->run_s[candidate->count++] = run_s;
	candidate->cost = candidate->rank = median_of(candidate->costs, candidate->count);
}

double candidate_median_cost(const struct candidate *candidate)
{
	return median_of(candidate->costs, candidate->count);
}

double candidate_median_run_s(const struct candidate *candidate)
{
	return median_of(candidate->run_s, candidate->count);
}

struct candidate *candidates_best(const struct candidates *candidates, double limit)
{
	struct candidate *best = NULL;

	for (size_t i = 0; i < candidates->count; i++) {
		struct candidate *c = &candidates->list[i];

		if (c->state != TRIAL_GOOD || c->is_rejected || !(c->cost < limit) ||
		    (best && !(c->rank < best->rank)))
			continue;
		best = c;
	}
	return best;
}
