/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ablation ("partial tuning" in the paper): how much each part of the winner contributes to its
 * gain. Starting from the baseline, the parameters of one layer at a time are set as in the winner,
 * then each parameter alone. Starting from the winner, each parameter in turn is reset. This file
 * plans the runs and makes the table of results. It runs nothing.
 *
 *	partial_plan(&partial, &default_set, &winner, &context);
 *	while (partial_next(&partial, &row))
 *		partial_tell(&partial, row, cost of a run with partial.rows[row].set);
 * Papers: ATE-12.
 */
#ifndef SLUICE_TUNE_LOOP_PARTIAL_H
#define SLUICE_TUNE_LOOP_PARTIAL_H

#include "params/set.h"

enum partial_kind {
	PARTIAL_DEFAULT,
	PARTIAL_LAYER,	 /* the baseline with one layer of the winner */
	PARTIAL_ALONE,	 /* the baseline with one parameter of the winner */
	PARTIAL_WITHOUT, /* the winner without one of its parameters */
	PARTIAL_FULL,
};

struct partial_row {
	enum partial_kind kind;
	enum tunable_layer layer;      /* of LAYER, ALONE and WITHOUT */
	const struct tunable *tunable; /* of ALONE and WITHOUT, else NULL */
	char *label; /* "default", "mpi", "cb_nodes=32", "without cb_nodes=32", "all" */
	struct param_set set;
	size_t same;   /* the first row with these parameters, whose cost applies to both */
	char *refusal; /* why the row must not be run; NULL: it may */
	double cost;   /* NAN: unknown */
	double factor; /* speedup over the baseline; NAN: unknown */
	/* Share of the full gain, in logarithms, that this row has, or that is lost WITHOUT the
	 * parameter. Shares need not sum to 1: parameters interact. NAN: unknown, or no gain. */
	double share;
};

struct partial {
	struct partial_row *rows; /* the baseline first, the full winner last */
	size_t count, cap;
	size_t next;
};

/* context: where the rows will run. Rows that it forbids get a refusal. */
void partial_plan(struct partial *partial, const struct param_set *initial,
		  const struct param_set *winner, const struct tunable_context *context);
void partial_release(struct partial *partial);

/* The next row to run; each is returned once. False: there are no more rows. */
bool partial_next(struct partial *partial, size_t *row);

/* Sets the cost of a row, also of one measured before (default and full). INFINITY: it failed. */
void partial_tell(struct partial *partial, size_t row, double cost);

/* The index of the only row of a kind: PARTIAL_DEFAULT or PARTIAL_FULL. */
size_t partial_find(const struct partial *partial, enum partial_kind kind);

/* If several rows have the same parameters, only the first of full, alone, layer and without is
 * shown. */
bool partial_is_shown(const struct partial *partial, size_t row);

#endif
