/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The points that a tuning has tried, in their order, and which of them is the best.
 */
#ifndef SLUICE_TUNE_LOOP_CANDIDATES_H
#define SLUICE_TUNE_LOOP_CANDIDATES_H

#include "tune/trial/trial.h"

struct candidate {
	size_t *point;
	double *costs; /* of its good runs, as if the machine had not changed */
	double *run_s; /* likewise */
	size_t count, cap;
	enum trial_state state; /* of its last run; GOOD: all were */
	double cost;		/* median; what the search was told where it is not good */
	bool is_rejected;	/* failed when it was to be proved */
};

struct candidates {
	struct candidate *list;
	size_t count, cap;
};

void candidates_release(struct candidates *candidates);

/* The pointer holds until the next is made. */
struct candidate *candidates_add(struct candidates *candidates, const size_t *point, size_t width);

/* The one of this point; NULL: it was not tried. */
struct candidate *candidates_find(const struct candidates *candidates, const size_t *point,
				  size_t width);

/* One more good run: the median moves. */
void candidate_run(struct candidate *candidate, double cost, double run_s);
void candidate_release(struct candidate *candidate);
double candidate_run_s(const struct candidate *candidate); /* median */

/* The cheapest that is good, not rejected, and below the limit; NULL: none. */
struct candidate *candidates_best(const struct candidates *candidates, double limit);

#endif
