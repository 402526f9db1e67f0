/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Mean and standard deviation of the columns of a matrix for numbers of any magnitude: a second
 * pass corrects the means, and squares neither overflow nor underflow.
 */
#ifndef SLUICE_LEARN_MATH_MOMENTS_H
#define SLUICE_LEARN_MATH_MOMENTS_H

#include <stdbool.h>
#include <stddef.h>

void moments_mean(const double *x, size_t rows, size_t width, double *mean);

/* Divides by n - 1. The result is exactly 0 for a constant column, in spite of rounding. */
void moments_deviation(const double *x, size_t rows, size_t width, double *deviation);

/*
 * Computes both, usually in a single pass. Returns true if all numbers are of moderate magnitude,
 * so that their distances from the mean, divided by the deviation or not, are finite.
 */
bool moments_find(const double *x, size_t rows, size_t width, double *mean, double *deviation);

#endif
