/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Partial tuning (ATE-12): what of a winner's gain is whose doing. From the default, the parameters
 * of one layer at a time are set as in the winner, then each parameter alone; from the winner, each
 * parameter in turn is put back. This is the plan of what to run and, afterwards, the table; it
 *runs nothing.
 *
 *	partial_plan(&partial, &default_set, &winner, &context);
 *	while (partial_next(&partial, &row))
 *		partial_tell(&partial, row, cost of a run with partial.rows[row].set);
 */
#ifndef SLUICE_TUNE_LOOP_PARTIAL_H
#define SLUICE_TUNE_LOOP_PARTIAL_H

#include "params/set.h"

enum partial_kind {
	PARTIAL_DEFAULT,
	PARTIAL_LAYER,	 /* the default, with a layer of the winner */
	PARTIAL_ALONE,	 /* the default, with one parameter of the winner */
	PARTIAL_WITHOUT, /* the winner, with one parameter of the default */
	PARTIAL_FULL,
};

struct partial_row {
	enum partial_kind kind;
	enum tunable_layer layer;      /* of LAYER, ALONE and WITHOUT */
	const struct tunable *tunable; /* of ALONE and WITHOUT, else NULL */
	char *label; /* "default", "mpi", "cb_nodes=32", "without cb_nodes=32", "all" */
	struct param_set set;
	size_t same;   /* the first row with these parameters: what it cost counts for both */
	char *refusal; /* why it must not be run; NULL: it may */
	double cost;   /* NAN: not known */
	double factor; /* faster than the default by that; NAN: not known */
	/* Of the full gain, in logarithms: what this alone brings, or what is lost WITHOUT it. They
	 * need not sum to 1: parameters help and hinder each other. NAN: not known, or no gain. */
	double share;
};

struct partial {
	struct partial_row *rows; /* default first, full last */
	size_t count, cap;
	size_t next;
};

/* context: where it will run; what it forbids is planned with a refusal. */
void partial_plan(struct partial *partial, const struct param_set *initial,
		  const struct param_set *winner, const struct tunable_context *context);
void partial_release(struct partial *partial);

/* A row that is to be run and has not been told; false: none is left. Each is offered once. */
bool partial_next(struct partial *partial, size_t *row);

/* Also unasked, for what was measured before (default and full). INFINITY: it failed. */
void partial_tell(struct partial *partial, size_t row, double cost);

/* The row of a kind without more: PARTIAL_DEFAULT, PARTIAL_FULL. */
size_t partial_find(const struct partial *partial, enum partial_kind kind);

#endif
