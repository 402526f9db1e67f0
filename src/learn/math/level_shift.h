/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finds where the values of a sequence shift to another level, such as the run times of a program
 * after it was changed.
 *
 * For every position that leaves `least` values on both sides, the values before and after are
 * compared by the statistic of the Mann-Whitney test, in units of its standard deviation. The
 * largest of them is the candidate. Because it was chosen among many, it is not judged by the
 * tables of that test, but by permutations: if the order of the values meant nothing, how often
 * would the largest statistic be as large? Only if that is rarer than `level` there is a shift; the
 * parts before and after it are then searched in the same way, and at the end each shift again
 * between its neighbors. A sequence without any shift is thus
 * found to have one with the probability `level` at most, however long it is.
 *
 * Nothing is assumed about the distribution of values, except that neighbors are independent: a
 * drift of the machine, or one busy hour, is a shift as well. The result depends on the values
 * alone; the permutations are always the same.
 */
#ifndef SLUICE_LEARN_MATH_LEVEL_SHIFT_H
#define SLUICE_LEARN_MATH_LEVEL_SHIFT_H

#include <stddef.h>

/* Values on each side of a shift. The fewest with which a level of 5 % can be reached is four. */
#define LEVEL_SHIFT_LEAST 4

/*
 * Sets positions[] to the first values of new levels, in ascending order, and returns how many
 * there are, at most n / LEVEL_SHIFT_LEAST. Values must be finite. Needs memory for n values, and
 * time for up to 2000 n steps per shift.
 */
size_t level_shift_find(const double *values, size_t n, double level, size_t *positions);

#endif
