/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Runs a search on the toy stack and reports the best cost and the number of runs.
 */
#ifndef SLUICE_TESTS_TOY_SEARCH_H
#define SLUICE_TESTS_TOY_SEARCH_H

#include "toy_stack.h"
#include "tune/search/search.h"

struct toy_course {
	double best;
	uint64_t near; /* runs until within 5 % of the best point; 0: never */
	struct search_counts counts;
};

/* Makes up to `most` runs; near_only: stops within 5 % of the best point. */
static inline struct toy_course toy_search(const struct space *space, const char *name,
					   const char *settings, uint64_t seed, uint64_t most,
					   bool near_only)
{
	struct toy_course course = { .best = INFINITY };
	size_t point[TOY_DIMENSIONS];
	struct search *search;
	struct err err = { 0 };

	toy_require(search_new(&search, name, settings, space, seed, &err), &err);
	for (uint64_t runs = 1; runs <= most && search_ask(search, point); runs++) {
		double cost = toy_cost(point);

		course.best = fmin(course.best, cost);
		if (!course.near && cost <= 1.05 * TOY_BEST)
			course.near = runs;
		search_tell(search, point, cost);
		if (near_only && course.near)
			break;
	}
	course.counts = search_get_counts(search);
	search_free(search);
	return course;
}

#endif
