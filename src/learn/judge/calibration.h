/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Turns scores of two classes into calibrated probabilities. Platt: a sigmoid of the score, fitted
 * with smoothed targets by Newton's method (Lin, Lin and Weng 2007). Isotonic: the best
 * non-decreasing step function (pool adjacent violators), linear between its steps. Fit a
 * calibration on scores of rows that were not used to train the scorer.
 */
#ifndef SLUICE_LEARN_JUDGE_CALIBRATION_H
#define SLUICE_LEARN_JUDGE_CALIBRATION_H

#include <stddef.h>

struct blob;
struct buf;
struct err;

enum calibration_kind { CALIBRATION_NONE, CALIBRATION_PLATT, CALIBRATION_ISOTONIC };
#define CALIBRATION_WORDS "none|platt|isotonic"

struct calibration {
	enum calibration_kind kind;
	double a, b;		/* Platt: 1 / (1 + exp(a * score + b)) */
	double *score, *chance; /* isotonic: knots, both ascending */
	size_t knots;
};

/*
 * score is any finite number that rises with the probability of class 1. Both classes must be
 * present. calibration is untouched on failure.
 */
int calibration_fit(struct calibration *calibration, enum calibration_kind kind,
		    const double *truth, const double *score, size_t count, struct err *err);
void calibration_release(struct calibration *calibration);

/*
 * Returns a probability; CALIBRATION_NONE returns the score itself. Thread-safe; does not allocate.
 */
double calibration_apply(const struct calibration *calibration, double score);

void calibration_save(const struct calibration *calibration, struct buf *buf);
int calibration_load(struct calibration *calibration, struct blob *blob, struct err *err);

#endif
