/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rules with one linear model each, derived from a model tree (Quinlan 1992, 1993). A tree is grown
 * by the reduction of the deviation, and every node gets a linear model. Branches that do not
 * reduce the expected error are pruned, and models are smoothed toward those of their ancestors.
 * Every path then becomes a rule, from which conditions are dropped as long as its expected error
 * does not grow. Rules may therefore overlap; their predictions are averaged.
 *
 * There are two differences from the papers. Splits are judged by the residuals of the node's model
 * instead of the target itself, because a trend that a line can follow needs no split. A rule that
 * drops a condition must predict the rows that it gains no worse than the tree did.
 */
#ifndef SLUICE_LEARN_LEARNERS_RULES_RULESET_H
#define SLUICE_LEARN_LEARNERS_RULES_RULESET_H

#include <stddef.h>
#include <stdint.h>

#include "learn/learners/rules/line.h"

struct bins;
struct samples;

struct rule_condition {
	uint32_t input;
	uint32_t above; /* 1: input > value; 0: input <= value */
	double value;
};

struct ruleset_rule {
	/* Number of conditions and terms; those of all rules follow each other. */
	uint32_t conditions, terms;
	uint32_t rows; /* training rows that it covered */
	double constant;
	double low, high; /* limits of its prediction */
	double mean, error;
};

struct ruleset {
	struct ruleset_rule *rules;
	struct rule_condition *conditions;
	struct line_term *terms;
	size_t count, condition_count, term_count;
	double mean; /* for a row that no rule covers, which cannot happen with a complete set */
};

struct ruleset_plan {
	size_t rules;	/* maximum number of rules */
	size_t leaf;	/* minimum number of rows of a rule */
	double detrend; /* share of a node's model that is subtracted before the split */
	double smooth;	/* weight of the ancestor's model, in rows */
	/* How far predictions may exceed the observed values, relative to their range. */
	double beyond;
};

/* Makes a set of rules. target has one value per row and replaces the samples' y. Cannot fail. */
void ruleset_init(struct ruleset *set, const struct ruleset_plan *plan,
		  const struct samples *samples, const double *target, const struct bins *bins);
void ruleset_release(struct ruleset *set);

double ruleset_value(const struct ruleset *set, const double *row);

#endif
