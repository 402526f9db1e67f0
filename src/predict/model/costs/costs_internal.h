/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared by the files that implement costs.h.
 */
#ifndef SLUICE_PREDICT_MODEL_COSTS_COSTS_INTERNAL_H
#define SLUICE_PREDICT_MODEL_COSTS_COSTS_INTERNAL_H

#include "predict/model/costs/costs.h"

/* The arguments as an array, in the order by which cells are sorted. */
#define COST_ARGUMENTS 6
void cost_arguments(const struct elemental *at, double out[COST_ARGUMENTS]);

/* Rounds to 36 bits: writers per node are fractions that are computed in different ways. */
double cost_round(double writers);
int cost_compare(const struct elemental *a, const struct elemental *b);

/* Collects cells, rows, noise and range of one operation. Without rows, cell_count stays 0. */
void cost_gather(struct cost *cost, const struct elements *rows, enum operation operation,
		 bool logarithm);
int cost_check_rows(const struct elements *rows, struct err *err);

/* Returns the cell with these arguments, or NULL. */
const struct cost_cell *cost_find(const struct cost *cost, const struct elemental *at);

/* Tests whether a surrogate predicts better if it learns from smoothed cells. */
#define COST_TRIALS 3
struct cost_trial {
	double target; /* logarithm of the measurement, corrected for the mean of noise */
	double without[COST_TRIALS]; /* smoothed seconds without one fold; NAN: in that fold */
};

/*
 * Removes noise from the cells of operations that share one process. Returns one trial per cell, in
 * the order of operations; the caller frees them. Returns NULL and changes nothing if smoothing is
 * not possible.
 */
struct cost_trial *costs_smooth(struct cost *const *costs, size_t count, uint64_t seed);

/* Computes the inputs of the learner: the features that vary. */
void cost_inputs(const struct cost *cost, enum operation operation, const struct elemental *at,
		 double *inputs);

#endif
