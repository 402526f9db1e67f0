/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files of costs share.
 */
#ifndef SLUICE_PREDICT_MODEL_COSTS_COSTS_INTERNAL_H
#define SLUICE_PREDICT_MODEL_COSTS_COSTS_INTERNAL_H

#include "predict/model/costs/costs.h"

/* ---- costs_cells.c ---- */

/* The arguments as an array, in the order in which cells are sorted. */
#define COST_ARGUMENTS 6
void cost_arguments(const struct elemental *at, double out[COST_ARGUMENTS]);

/* Writers of a node are fractions that were computed in different ways: 36 bits tell them apart. */
double cost_round(double writers);
int cost_compare(const struct elemental *a, const struct elemental *b);

/* Cells, rows, noise and range of one operation. None: cell_count stays 0. */
void cost_gather(struct cost *cost, const struct elements *rows, enum operation operation,
		 bool logarithm);
int cost_check_rows(const struct elements *rows, struct err *err);

/* NULL: it was not measured with these arguments. */
const struct cost_cell *cost_find(const struct cost *cost, const struct elemental *at);

/* ---- costs_smooth.c ---- */

/* To try whether a surrogate does better if it learns from smooth cells. */
#define COST_TRIALS 3
struct cost_trial {
	double target;		     /* logarithm of what was measured, with the noise's mean */
	double without[COST_TRIALS]; /* smooth seconds if a third were not known; NAN: of these */
};

/*
 * Takes noise out of the cells of operations, which are learnt as one. Returns one trial per cell,
 * those of the first operation first; the caller frees them. NULL, and nothing is changed, where
 * that cannot be done.
 */
struct cost_trial *costs_smooth(struct cost *const *costs, size_t count, uint64_t seed);

/* ---- costs_price.c ---- */

/* The inputs of a learner: features that vary. */
void cost_inputs(const struct cost *cost, enum operation operation, const struct elemental *at,
		 double *inputs);

void cost_release(struct cost *cost);

#endif
