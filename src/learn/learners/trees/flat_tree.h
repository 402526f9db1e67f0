/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A grown tree, as small as walking needs it. Nodes ascend: the two children of a node lie side by
 * side after it. A leaf points to itself, so that several trees, or several rows, are walked in
 * step without asking who has arrived.
 */
#ifndef SLUICE_LEARN_LEARNERS_TREES_FLAT_TREE_H
#define SLUICE_LEARN_LEARNERS_TREES_FLAT_TREE_H

#include <stddef.h>
#include <stdint.h>

struct blob;
struct buf;

struct wood_node {
	double cut;	  /* rows above it go right; INFINITY in a leaf */
	uint32_t child;	  /* how many nodes further the left child is; 0: a leaf */
	uint32_t feature; /* 0 in a leaf */
};

struct wood {
	struct wood_node *nodes; /* the root first */
	double *values;		 /* count x answers: a number or a share, of inner nodes too */
	size_t count;
};

#define WOOD_NODES_MOST (UINT32_MAX / 2)

void wood_release(struct wood *wood);

/*
 * The cut between two neighbouring values of training rows, as floats: a row goes left where its
 * input, rounded to a float, is not above the middle. Comparing unrounded inputs with what this
 * yields comes to the same.
 */
double wood_cut(float below, float above);

/* The leaf of a row. */
size_t wood_leaf(const struct wood *wood, const double *row);

/* Adds the answers of all trees to one row to out (of as many numbers as there are answers). */
void wood_sum(const struct wood *woods, size_t count, size_t answers, const double *row,
	      double *out);

/* The same for many rows; out is rows x answers. */
void wood_sum_rows(const struct wood *woods, size_t count, size_t answers, const double *x,
		   size_t width, size_t rows, double *out);

/* The first `levels` levels as text, one line per node. names has one per input. */
void wood_describe(const struct wood *wood, size_t answers, const char *const *names,
		   unsigned levels, struct buf *out);

void wood_save(const struct wood *wood, size_t answers, struct buf *buf);

/*
 * wood is set and must be released even where the blob fails. What it accepts can be walked: inputs
 * below width, children after their parents, finite numbers.
 */
void wood_load(struct wood *wood, size_t answers, size_t width, struct blob *blob);

#endif
