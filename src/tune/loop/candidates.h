/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The points that a tuning has tried, in order, with the costs of their runs.
 */
#ifndef SLUICE_TUNE_LOOP_CANDIDATES_H
#define SLUICE_TUNE_LOOP_CANDIDATES_H

#include "tune/trial/trial.h"

struct candidate {
	size_t *point;
	double *costs; /* of its good runs, corrected for drift of the machine when they were made
			*/
	double *run_s; /* run times of the same runs */
	size_t count, cap;
	enum trial_state state; /* of its last run; GOOD: of all runs */
	double cost;		/* estimate; if it is not good, the cost that the search was told */
	double rank;		/* cost, increased by what its parameters must contribute */
	bool is_rejected;	/* failed when it was run again, or was not proved */
};

struct candidates {
	struct candidate *list;
	size_t count, cap;
};

void candidates_release(struct candidates *candidates);

/* The pointer is valid until the next candidate is added. */
struct candidate *candidates_add(struct candidates *candidates, const size_t *point, size_t width);

/* NULL: the point was not tried. */
struct candidate *candidates_find(const struct candidates *candidates, const size_t *point,
				  size_t width);

/* Adds a good run and sets the cost to the median. */
void candidate_add_run(struct candidate *candidate, double cost, double run_s);
void candidate_release(struct candidate *candidate);
double candidate_median_run_s(const struct candidate *candidate); /* median run time */
double candidate_median_cost(const struct candidate *candidate);

/* The candidate of the lowest rank that is good, not rejected, and costs less than the limit; NULL:
 * there is none. */
struct candidate *candidates_best(const struct candidates *candidates, double limit);

#endif
