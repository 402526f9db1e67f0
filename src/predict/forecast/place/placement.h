/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How much to write where, when all is to be done soonest (WAN-35, WAN-L-11). Every rule answers
 * with shares that sum to 1; time to write is volume times the target's seconds per unit. Nothing
 * here draws at random without a fixed seed: the same forecasts give the same shares.
 */
#ifndef SLUICE_PREDICT_FORECAST_PLACE_PLACEMENT_H
#define SLUICE_PREDICT_FORECAST_PLACE_PLACEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

/*
 * What is known of a target for the next step. A time that is not a positive number says that
 * nothing is: such a target counts as the mean of those that are known, and where none is, all are
 * the same.
 */
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
extern const char *const placement_names[PLACEMENT_RULES];

/* What a site lets be done; 0: no such limit. */
struct placement_limits {
	double most, least; /* in multiples of the equal share */
	double busy_from;   /* from this chance a target is in the class of the busy; 0: 0.5 */
};

/* alpha of WAN-35, with its degenerate cases. */
double placement_alpha(size_t idle, size_t busy, double idle_s, double busy_s);

/* The class of a target that WAN-35 goes by. */
bool placement_is_busy(const struct placement_target *target,
		       const struct placement_limits *limits);

/* Seconds per unit that are expected of a target, over both states. */
double placement_expects(const struct placement_target *target);

/*
 * Targets that are not allowed get 0. -EINVAL where none is, or limits contradict. limits may be
 * NULL. Takes microseconds; hedged some hundreds of them for 288 targets.
 */
int placement_shares(enum placement_rule rule, const struct placement_target *targets, size_t count,
		     const struct placement_limits *limits, double *shares, struct err *err);

/*
 * Shares in proportion to weights where limits allow it: what one that is cut off at a limit leaves
 * over, or needs more, the others share in proportion. Weights are positive, or 0 for a target that
 * gets nothing; the sum is 1. limits must not contradict; NULL: none.
 */
void placement_fill(const double *weights, size_t count, const struct placement_limits *limits,
		    double *shares);

/*
 * The hedge by itself (placement_hedge.c; docs/placement.md): of a family of shares, from equal
 * ones to those by expected or nearly worst times, the one that is best on the slowest target under
 * the least favourable of several guesses about how wrong the forecasts are. Equal shares are in
 * the family, so under none of the guesses it is worse than these. All targets are known ones.
 * Returns what it expects to gain on the slowest target: 0.05 is 5 %; 0: it stays with equal
 * shares.
 */
double placement_hedge(const struct placement_target *targets, size_t count,
		       const struct placement_limits *limits, double *shares);

/* Whole units of a total by shares; what is left over goes to those that lost most. Sums up. */
void placement_units(const double *shares, size_t count, uint64_t total, uint64_t *units);

/* Bytes in whole stripe units; a last, incomplete unit goes with that of one target. Sums up. */
void placement_bytes(const double *shares, size_t count, uint64_t total, uint64_t unit,
		     uint64_t *bytes);

/* What a step came to: seconds until it was finished, or speeds or gains of these. */
struct placement_result {
	double slower_group; /* mean finish of the slower of predicted idle and busy (the paper's)
			      */
	double late;	     /* 95th percentile of targets */
	double slowest;	     /* all wait for it */
};
#define PLACEMENT_METRICS 3 /* the members above, in that order; all are of one metric each */
extern const char *const placement_metrics[PLACEMENT_METRICS];
static inline double placement_metric(const struct placement_result *result, size_t metric)
{
	const double all[] = { result->slower_group, result->late, result->slowest };

	return all[metric];
}

/*
 * Seconds per unit of each target are known now; the volume is one unit per target in all. busy:
 * the groups. feedback (WAN-L-8): a target that gets v > 1 times the equal share becomes slower by
 * v ^ feedback; 0: as in the paper, not at all.
 */
void placement_judge(const double *shares, const bool *busy, const double *seconds, size_t count,
		     double feedback, struct placement_result *result);

/*
 * What is expected of a step before it is made: means over times that are drawn from the forecasts,
 * the same for everybody who asks. Targets that nothing is known of count as the mean of the
 * others.
 */
void placement_foresee(const double *shares, const struct placement_target *targets, size_t count,
		       const struct placement_limits *limits, struct placement_result *result);

#endif
