/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A grown tree in a compact array. Children follow their parent, and the two children of a node are
 * adjacent. A leaf points to itself, so that several trees or rows can be walked in lockstep
 * without testing which of them has reached a leaf.
 */
#ifndef SLUICE_LEARN_LEARNERS_TREES_FLAT_TREE_H
#define SLUICE_LEARN_LEARNERS_TREES_FLAT_TREE_H

#include <stddef.h>
#include <stdint.h>

struct blob;
struct buf;

struct flat_tree_node {
	double cut;	  /* rows with a larger value go right; INFINITY in a leaf */
	uint32_t child;	  /* distance to the left child in nodes; 0: a leaf */
	uint32_t feature; /* 0 in a leaf */
};

struct flat_tree {
	struct flat_tree_node *nodes; /* the root is first */
	double *values; /* count x answers: a number or a share, also for inner nodes */
	size_t count;
};

#define FLAT_TREE_NODES_MAX (UINT32_MAX / 2)

void flat_tree_release(struct flat_tree *flat);

/*
 * The cut between two adjacent values of training rows: their midpoint. A row goes left if its
 * input is not above it.
 */
double flat_tree_cut(double below, double above);

/* Returns the leaf of a row. */
size_t flat_tree_leaf(const struct flat_tree *flat, const double *row);

/* Adds the predictions of all trees for one row to out (`answers` numbers). */
void flat_tree_sum(const struct flat_tree *flat, size_t count, size_t answers, const double *row,
		   double *out);

/* Like flat_tree_sum() for many rows; out is rows x answers. */
void flat_tree_sum_rows(const struct flat_tree *flat, size_t count, size_t answers, const double *x,
			size_t width, size_t rows, double *out);

/* Describes the first `levels` levels, one line per node. names has one name per input. */
void flat_tree_describe(const struct flat_tree *flat, size_t answers, const char *const *names,
			unsigned levels, struct buf *out);

void flat_tree_save(const struct flat_tree *flat, size_t answers, struct buf *buf);

/*
 * Reads a tree, which must be released even if the blob is marked as failed. An accepted tree is
 * safe to walk: inputs are below width, children follow their parents, and numbers are finite.
 */
void flat_tree_load(struct flat_tree *flat, size_t answers, size_t width, struct blob *blob);

#endif
