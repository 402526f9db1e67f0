/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Growing trees: the part that a single tree, a forest and boosting share. Results are those of
 * scikit-learn's trees but for the choice among cuts that are equally good; there and here it is
 * left to chance.
 *
 * Two ways lead to the same tree. In order: the rows are sorted by every input once, and the lists
 * are kept sorted down the tree; best where all inputs are looked at in every node. By need: an
 * input is sorted in a node when the node looks at it; best for a few inputs per node, and for many
 * rows, because it needs less memory.
 */
#ifndef SLUICE_LEARN_LEARNERS_TREES_GROWTH_H
#define SLUICE_LEARN_LEARNERS_TREES_GROWTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "learn/learners/trees/cells.h"
#include "learn/learners/trees/split.h"
#include "learn/learners/trees/flat_tree.h"

struct random;
struct samples;

/* What is sorted or ranked once and then serves many trees. */
struct growth_ranks {
	const struct samples *samples;
	struct cells cells;
	uint32_t *lists;  /* in order: width x cells of rank << 16 | cell */
	uint16_t *ranks;  /* by need: width x cells */
	uint32_t *levels; /* by need: how many ranks an input has */
};

/*
 * In order is possible up to RANKS_MOST cells, and by need is taken beyond. merge: rows of the same
 * inputs become one cell where there are many of them; for SPLIT_VARIANCE only.
 */
void growth_ranks_init(struct growth_ranks *ranks, const struct samples *samples, bool in_order,
		       bool merge);
void growth_ranks_release(struct growth_ranks *ranks);

struct growth_plan {
	enum split_criterion criterion; /* with classes: VARIANCE means Gini of two */
	size_t classes;
	size_t tries; /* inputs looked at per node, drawn at random; all: the width */
	uint32_t depth_most;
	size_t split_least, leaf_least; /* rows, whatever they weigh */
	bool leaves;			/* growth_leaves() will be asked */
	double centre; /* what was taken from the targets; added to the values of nodes */
};

/* A leaf and where its cells are. */
struct growth_leaf {
	uint32_t node, begin, count, list;
};

struct growth; /* what a thread keeps between trees */

/*
 * keep: in order and for one tree only, the lists of ranks are used up instead of copied. Both
 * ranks and plan must outlive it.
 */
struct growth *growth_new(struct growth_ranks *ranks, const struct growth_plan *plan, bool keep);
void growth_free(struct growth *growth);

/* Bytes that growing by need takes, per row that takes part. */
#define GROWTH_BYTES_PER_ROW (sizeof(uint32_t) + sizeof(double) * 2 + sizeof(uint64_t) * 2)

/*
 * Grows a tree. target is per row: a number or a class. weights are per row, a row of weight 0
 * takes no part; NULL: 1 each. Adds the decrease of impurity, by the weight of the root, to gain
 * (one per input).
 */
void growth_grow(struct growth *growth, const double *target, const uint16_t *weights,
		 struct random *random, struct wood *wood, double *gain);

/* Leaves of the last tree, until the next one is grown; the plan must say so. */
const struct growth_leaf *growth_leaves(const struct growth *growth, size_t *count);

/* The rows of a leaf, until the next call. */
const uint32_t *growth_rows(struct growth *growth, const struct growth_leaf *leaf, size_t *count);

/* How many numbers a tree answers with: a number, the share of class 1 of 2, or one per class. */
static inline size_t growth_answers(size_t classes)
{
	return classes > 2 ? classes : 1;
}

#endif
