/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where to cut a node in two along one input: every place between two different values is tried,
 * and the one that leaves the purest halves wins; the first of equals. A cut that gains nothing is
 * still a cut (its halves may gain), as with scikit-learn.
 */
#ifndef SLUICE_LEARN_LEARNERS_TREES_SPLIT_H
#define SLUICE_LEARN_LEARNERS_TREES_SPLIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "learn/learner.h"

enum split_criterion {
	SPLIT_VARIANCE, /* of numbers; with classes 0 and 1 it is half of Gini's impurity */
	SPLIT_GINI,
	SPLIT_ENTROPY,
};

/* A node. Entries name its rows by a position, by which target and weight are found. */
struct split_node {
	enum split_criterion criterion;
	size_t classes;	       /* GINI and ENTROPY */
	const double *target;  /* VARIANCE: value times weight; else the class */
	const double *weight;  /* NULL: 1 each */
	const uint32_t *tally; /* how many rows an entry stands for, VARIANCE only; NULL: 1 each */
	size_t count, rows, leaf_least; /* rows: of all entries */
	double weight_all, sum_all;	/* sum_all: of target, VARIANCE only */
	double classes_all[LEARNER_CLASSES_MAX];
};

/* The best so far, as a fraction: comparing two needs no division. Start with split_none. */
struct split {
	double over, under;
	uint32_t feature;
	uint32_t left;	       /* how many entries lie left of the cut; not set by bins */
	uint32_t rows;	       /* how many rows these are; 0: no cut was possible */
	uint32_t rank;	       /* the last one on the left */
	uint32_t below, above; /* positions of the entries next to the cut */
};

extern const struct split split_none;

/* Entries are rank << 16 | position, wide ones rank << 32 | position, ascending. */
void split_scan(const struct split_node *node, const uint32_t *entries, uint32_t feature,
		struct split *best);
void split_scan_wide(const struct split_node *node, const uint64_t *entries, uint32_t feature,
		     struct split *best);

/*
 * The same without sorting, for VARIANCE, where an input has few ranks: rows are added
 * up by rank. rows has one per position, ranks one per row. bins has room for SPLIT_BINS, and
 * levels are no more. False where all rows have the same rank.
 */
enum { SPLIT_BINS = 1024 };
struct split_bin {
	double sum, weight;
	uint32_t count, position;
};
bool split_scan_bins(const struct split_node *node, const uint16_t *ranks, const uint32_t *rows,
		     size_t levels, struct split_bin *bins, uint32_t feature, struct split *best);

/* Decrease of impurity by a cut, times the weight of the node. */
double split_gain(const struct split_node *node, const struct split *split);

#endif
