/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How much to write where, when all is to be done soonest (WAN-35, WAN-L-11). Every rule answers
 * with shares that sum to 1; time to write is volume times the target's seconds per unit.
 */
#ifndef SLUICE_PREDICT_FORECAST_PLACEMENT_H
#define SLUICE_PREDICT_FORECAST_PLACEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

/* What is known of a target for the next step. */
struct placement_target {
	double busy;		 /* chance of that state */
	double idle_s, busy_s;	 /* mean time for one unit (1 GB) in each state */
	double idle_sd, busy_sd; /* and its deviation */
	bool is_allowed;
};

/* In this order in every table. */
enum placement_rule {
	PLACEMENT_EQUAL,
	PLACEMENT_CLASSES,  /* WAN-35: idle and busy, one share each */
	PLACEMENT_EXPECTED, /* 1 / E[t] of each target */
	PLACEMENT_HEDGED,   /* does not lose on the slowest target if forecasts are wrong */
	PLACEMENT_RULES
};
#define PLACEMENT_WORDS "equal|classes|expected|hedged"

/* Limits of a site; in multiples of the equal share. 0: none. */
struct placement_limits {
	double most, least;
};

/* alpha of WAN-35, with its degenerate cases. */
double placement_alpha(size_t idle, size_t busy, double idle_s, double busy_s);

/* Targets that are not allowed get 0. -EINVAL where none is, or limits contradict. */
int placement_shares(enum placement_rule rule, const struct placement_target *targets, size_t count,
		     const struct placement_limits *limits, double *shares, struct err *err);

/* Whole units of a total by shares; what is left over goes to those that lost most. Sums up. */
void placement_units(const double *shares, size_t count, uint64_t total, uint64_t *units);

/* What a step came to; seconds per unit of each target are known now. Total volume is 1 unit per
 * target. */
struct placement_result {
	double slower_group; /* mean finish of the slower of predicted idle and busy (the paper's)
			      */
	double late;	     /* 95th percentile of targets */
	double slowest;	     /* all wait for it */
};
void placement_judge(const double *shares, const bool *busy, const double *seconds, size_t count,
		     struct placement_result *result);

#endif
