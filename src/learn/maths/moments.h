/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Mean and deviation of the columns of a matrix, whatever the size of the numbers: means are
 * corrected by a second pass, and nothing overflows or vanishes when it is squared.
 */
#ifndef SLUICE_LEARN_MATHS_MOMENTS_H
#define SLUICE_LEARN_MATHS_MOMENTS_H

#include <stdbool.h>
#include <stddef.h>

void moments_mean(const double *x, size_t rows, size_t width, double *mean);

/* With n - 1; 0 for a constant column, also where rounding would make it look otherwise. */
void moments_deviation(const double *x, size_t rows, size_t width, double *deviation);

/*
 * Both, where both are wanted: mostly in a single pass. True if all numbers are of an ordinary
 * size, so that their distances from the mean, divided by the deviation or not, are finite.
 */
bool moments_find(const double *x, size_t rows, size_t width, double *mean, double *deviation);

#endif
