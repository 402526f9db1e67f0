/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Grows trees for a single tree, a forest and boosting. The result equals that of scikit-learn,
 * except for the choice among equally good cuts, which both make at random, and for inputs that
 * differ only as doubles, which scikit-learn does not distinguish.
 *
 * There are two strategies with the same result. In order: rows are sorted by every input once, and
 * the sorted lists are maintained down the tree; this is best if every node considers all inputs.
 * On demand: a node sorts an input when it considers it; this is best for few inputs per node, and
 * for many rows because it needs less memory.
 */
#ifndef SLUICE_LEARN_LEARNERS_TREES_GROWTH_H
#define SLUICE_LEARN_LEARNERS_TREES_GROWTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "learn/learners/trees/bundles.h"
#include "learn/learners/trees/cells.h"
#include "learn/learners/trees/flat_tree.h"
#include "learn/learners/trees/split.h"

struct random;
struct samples;

/* Sorted or ranked inputs that many trees share. */
struct growth_ranks {
	const struct samples *samples;
	struct cells cells;
	struct bundles bundles; /* each is a column; an ordinary input is a bundle of one */
	uint32_t *lists;	/* in order: columns x cells of rank << 16 | cell */
	uint16_t *ranks;	/* on demand: columns x cells */
	uint32_t *levels;	/* on demand: number of ranks of each column */
};

/*
 * Prepares the inputs. In order works up to RANKS_MOST cells; beyond, on demand is used. merge:
 * join rows with equal inputs to one cell if there are many; for SPLIT_VARIANCE only.
 */
void growth_ranks_init(struct growth_ranks *ranks, const struct samples *samples, bool in_order,
		       bool merge);
void growth_ranks_release(struct growth_ranks *ranks);

struct growth_plan {
	/* With classes, VARIANCE means the Gini impurity of two classes. */
	enum split_criterion criterion;
	size_t classes;
	size_t tries; /* inputs considered per node, drawn at random; all: the width */
	uint32_t depth_most;
	size_t split_least, leaf_least; /* in rows, independent of their weights */
	bool leaves;			/* growth_leaves() will be called */
	/* Value that was subtracted from the targets; added to the values of nodes. */
	double center;
};

/* A leaf and the position of its cells. */
struct growth_leaf {
	uint32_t node, begin, count, list;
};

struct growth; /* workspace of one thread, reused for many trees */

/*
 * keep: use up the sorted lists instead of copying them; for a single tree grown in order. ranks
 * and plan must outlive the result.
 */
struct growth *growth_new(struct growth_ranks *ranks, const struct growth_plan *plan, bool keep);
void growth_free(struct growth *growth);

/* Memory of growing on demand, per row with a weight. */
#define GROWTH_BYTES_PER_ROW (sizeof(uint32_t) + sizeof(double) * 2 + sizeof(uint64_t) * 2)

/*
 * Grows a tree. target has one number or class per row. weights has one weight per row; a row of
 * weight 0 is ignored; NULL: 1 each. Adds the decrease of impurity, divided by the weight of the
 * root, to gain (one per input).
 */
void growth_grow(struct growth *growth, const double *target, const uint16_t *weights,
		 struct random *random, struct flat_tree *flat, double *gain);

/* The leaves of the last tree, valid until the next one is grown; plan.leaves must be set. */
const struct growth_leaf *growth_leaves(const struct growth *growth, size_t *count);

/* The rows of a leaf, valid until the next call. */
const uint32_t *growth_rows(struct growth *growth, const struct growth_leaf *leaf, size_t *count);

/* Numbers per prediction of a tree: a number, the share of class 1 of 2, or one share per class. */
static inline size_t growth_answers(size_t classes)
{
	return classes > 2 ? classes : 1;
}

#endif
