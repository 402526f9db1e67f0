/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Divides a volume of data among storage targets so that all of it is written soonest (WAN-35,
 * WAN-L-11). Each rule computes shares that sum to 1. The time of a target is its volume times its
 * seconds per unit. Random draws have a fixed seed: the same forecasts give the same shares.
 * placement.c and placement_hedge.c implement the rules together.
 */
#ifndef SLUICE_PREDICT_FORECAST_PLACE_PLACEMENT_H
#define SLUICE_PREDICT_FORECAST_PLACE_PLACEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

/*
 * The forecast of a target for the next step. A time that is not a positive number means that the
 * target is unknown. An unknown target counts as the mean of the known ones; if none is known, all
 * targets are equal.
 */
struct placement_target {
	double busy;		 /* probability of the busy state */
	double idle_s, busy_s;	 /* mean seconds per unit in each state */
	double idle_sd, busy_sd; /* standard deviations */
	bool is_allowed;
};

/* The order of the rules in tables. */
enum placement_rule {
	PLACEMENT_EQUAL,
	PLACEMENT_CLASSES,  /* one share per class, idle or busy (WAN-35) */
	PLACEMENT_EXPECTED, /* shares in proportion to 1 / E[t] of each target */
	PLACEMENT_HEDGED,   /* robust against wrong forecasts; see placement_hedge() */
	PLACEMENT_RULES,
	/* Decides at each file (predict/forecast/place/adaptive.h); begins with expected shares. */
	PLACEMENT_ADAPTIVE = PLACEMENT_RULES
};
#define PLACEMENT_WORDS "equal|classes|expected|hedged"
extern const char *const placement_names[PLACEMENT_RULES + 1];

/* The limits of a site; 0: no limit. */
struct placement_limits {
	double most, least; /* maximum and minimum share, as multiples of the equal share */
	double busy_from;   /* probability from which a target counts as busy; 0: 0.5 */
};

/* The share alpha of all idle targets together (WAN-35); 1 or 0 if a class is empty. */
double placement_alpha(size_t idle, size_t busy, double idle_s, double busy_s);

/* True if the target is in the class busy of WAN-35. */
bool placement_is_busy(const struct placement_target *target,
		       const struct placement_limits *limits);

/* The expected seconds per unit of a target over both states. */
double placement_expected_s(const struct placement_target *target);

/*
 * Computes the shares. Targets that are not allowed get 0. Returns -EINVAL if no target is allowed
 * or the limits are impossible. limits may be NULL. Takes microseconds; the hedged rule takes some
 * hundreds of microseconds for 288 targets.
 */
int placement_shares(enum placement_rule rule, const struct placement_target *targets, size_t count,
		     const struct placement_limits *limits, double *shares, struct err *err);

/*
 * Computes shares in proportion to the weights, within the limits: the others take the difference
 * of a share that is cut off at a limit, in proportion. Weights are positive, or 0 for a target
 * that gets nothing. The shares sum to 1. The limits must be possible; NULL: none.
 */
void placement_fill(const double *weights, size_t count, const struct placement_limits *limits,
		    double *shares);

/*
 * The hedged rule (placement_hedge.c; docs/reference/placement.md). From a family of candidate
 * shares, between equal shares and shares by expected or almost worst times, it selects the
 * candidate with the best slowest target under the least favorable of several assumptions about
 * forecast errors. Equal shares are one of the candidates, so the result is not worse under any
 * assumption. All targets must be known. Returns the expected gain on the slowest target: 0.05
 * means 5 %, 0 means equal shares.
 */
double placement_hedge(const struct placement_target *targets, size_t count,
		       const struct placement_limits *limits, double *shares);

/* Divides `total` whole units by shares. The largest remainders get the units left over. */
void placement_units(const double *shares, size_t count, uint64_t total, uint64_t *units);

/* Divides bytes into whole stripe units; one target gets the incomplete last unit. */
void placement_bytes(const double *shares, size_t count, uint64_t total, uint64_t unit,
		     uint64_t *bytes);

/* The result of a step: seconds until it was finished, by three metrics. */
struct placement_result {
	double slower_group; /* mean of the slower group, predicted idle or busy (the paper's) */
	double late;	     /* 95th percentile of the targets */
	double slowest;	     /* slowest target, which a synchronous program waits for */
};
#define PLACEMENT_METRICS 3 /* the members above, in this order */
extern const char *const placement_metrics[PLACEMENT_METRICS];
static inline double placement_metric(const struct placement_result *result, size_t metric)
{
	const double all[] = { result->slower_group, result->late, result->slowest };

	return all[metric];
}

/*
 * Computes the result of shares with the measured seconds per unit of each target. The total volume
 * is one unit per target. busy[] defines the groups. With feedback (WAN-L-8), a target that gets
 * v > 1 times the equal share is slower by v ^ feedback; 0: no feedback, as in the paper.
 */
void placement_evaluate(const double *shares, const bool *busy, const double *seconds, size_t count,
			double feedback, struct placement_result *result);

/* Computes the result from the time at which each target has finished. */
void placement_summarize(const double *finish, const bool *busy, size_t count,
			 struct placement_result *result);

/*
 * Predicts the result of shares: the mean over times drawn from the forecasts with a fixed seed.
 * Unknown targets count as the mean of the others.
 */
void placement_predict(const double *shares, const struct placement_target *targets, size_t count,
		       const struct placement_limits *limits, struct placement_result *result);

#endif
