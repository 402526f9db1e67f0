/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finds the best cut of a node along one input. Every position between two distinct values is
 * tried, and the one with the purest halves wins; of equal ones, the first. A cut without gain is
 * still valid, because its halves may gain, as in scikit-learn.
 */
#ifndef SLUICE_LEARN_LEARNERS_TREES_SPLIT_H
#define SLUICE_LEARN_LEARNERS_TREES_SPLIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "learn/learner.h"

enum split_criterion {
	SPLIT_VARIANCE, /* for numbers; with classes 0 and 1 it is half of the Gini impurity */
	SPLIT_GINI,
	SPLIT_ENTROPY,
};

/* A node. Entries refer to its rows by a position, which indexes target and weight. */
struct split_node {
	enum split_criterion criterion;
	size_t classes;			/* for GINI and ENTROPY */
	const double *target;		/* VARIANCE: value x weight; else the class */
	const double *weight;		/* NULL: 1 each */
	const uint32_t *tally;		/* rows per entry, VARIANCE only; NULL: 1 each */
	size_t count, rows, leaf_least; /* rows: total of all entries */
	double weight_all, sum_all;	/* sum_all: total of target, VARIANCE only */
	double classes_all[LEARNER_CLASSES_MAX];
};

/*
 * The best cut so far. Its quality is a fraction, so that a comparison needs no division. Start
 * with split_none.
 */
struct split {
	double over, under;
	uint32_t feature;
	uint32_t left;	       /* entries left of the cut; not set by split_scan_bins() */
	uint32_t rows;	       /* rows left of the cut; 0: no cut is possible */
	uint32_t rank;	       /* highest rank on the left */
	uint32_t level;	       /* only this rank goes right; 0: all above `rank` do */
	uint32_t below, above; /* positions of the entries next to the cut */
};

extern const struct split split_none;

/* Entries are rank << 16 | position, wide entries rank << 32 | position; both ascend. */
void split_scan(const struct split_node *node, const uint32_t *entries, uint32_t feature,
		struct split *best);
void split_scan_wide(const struct split_node *node, const uint64_t *entries, uint32_t feature,
		     struct split *best);

/*
 * Finds the best cut that separates one level of a bundle (bundles.h) from all other entries; the
 * rank of an entry is its level. first is the first input of the bundle. only: try just this level;
 * 0: all. Returns false if no such level varies within the node.
 */
bool split_scan_levels(const struct split_node *node, const void *entries, bool wide,
		       uint32_t first, uint32_t only, struct split *best);

/* The same for one level, without sorting; ranks and rows are those of split_scan_bins(). */
bool split_scan_level(const struct split_node *node, const uint16_t *ranks, const uint32_t *rows,
		      uint32_t first, uint32_t only, struct split *best);

/*
 * Finds a cut without sorting, for VARIANCE and inputs with few ranks: rows are summed by rank.
 * rows has one row per position, and ranks one rank per row. bins has room for SPLIT_BINS bins, and
 * levels does not exceed it. Returns false if all rows have the same rank.
 */
enum { SPLIT_BINS = 1024 };
struct split_bin {
	double sum, weight;
	uint32_t count, position;
};
bool split_scan_bins(const struct split_node *node, const uint16_t *ranks, const uint32_t *rows,
		     size_t levels, struct split_bin *bins, uint32_t feature, struct split *best);

/* The decrease of impurity by a cut, multiplied by the weight of the node. */
double split_gain(const struct split_node *node, const struct split *split);

#endif
