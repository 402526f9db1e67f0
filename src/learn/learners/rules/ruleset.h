/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rules with a linear model each, made of a model tree (Quinlan 1992, 1993): a tree is grown by the
 * reduction of deviation, every node has a linear model, branches that do not pay are cut, models
 * are smoothed towards those above them, every path becomes a rule, and conditions are dropped from
 * a rule while its expected error does not grow. So rules may overlap: what several say is
 * averaged.
 *
 * Two things differ from the papers. Splits are judged by what the node's model leaves, not by the
 * target alone: a slope that a line can follow is not worth a split. And a rule that drops a
 * condition must serve the rows that it gains no worse than the tree did.
 */
#ifndef SLUICE_LEARN_LEARNERS_RULES_RULESET_H
#define SLUICE_LEARN_LEARNERS_RULES_RULESET_H

#include <stddef.h>
#include <stdint.h>

#include "learn/learners/rules/line.h"

struct bins;
struct samples;

struct condition {
	uint32_t input;
	uint32_t above; /* 1: input > value; 0: input <= value */
	double value;
};

struct rule {
	uint32_t conditions, terms; /* how many of the arrays below are this rule's, in turn */
	uint32_t rows;		    /* covered when it was made */
	double constant;
	double low, high; /* what it says is kept within */
	double mean, error;
};

struct ruleset {
	struct rule *rules;
	struct condition *conditions;
	struct term *terms;
	size_t count, condition_count, term_count;
	double mean; /* for a row that no rule covers; there is none when the rules are whole */
};

struct ruleset_plan {
	size_t rules;	/* at most */
	size_t leaf;	/* rows of a rule at least */
	double detrend; /* share of a node's model that is taken off before it is split */
	double smooth;	/* rows that the model above counts for */
	double beyond;	/* how far a rule may go beyond the values that it saw, in their range */
};

/* target has one value per row and stands in for the samples' own. Cannot fail. */
void ruleset_init(struct ruleset *set, const struct ruleset_plan *plan,
		  const struct samples *samples, const double *target, const struct bins *bins);
void ruleset_release(struct ruleset *set);

double ruleset_value(const struct ruleset *set, const double *row);

#endif
