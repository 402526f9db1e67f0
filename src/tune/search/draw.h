/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Random points and random steps in a space, which the search methods share. The resulting points
 * are settled, and allowed unless a limited number of attempts finds no allowed point.
 */
#ifndef SLUICE_TUNE_SEARCH_DRAW_H
#define SLUICE_TUNE_SEARCH_DRAW_H

#include <stdbool.h>
#include <stddef.h>

struct random;
struct space;

/* Draws a point: each dimension independently, all values equally likely. */
void draw_point(const struct space *space, struct random *random, size_t *point);

/* Changes the value of one random dimension. near: an ordered value moves by at most two places.
 * False: no dimension can be changed. */
bool draw_change(const struct space *space, struct random *random, bool near, size_t *point);

/* Changes the value of the given dimension. */
void draw_value(const struct space *space, struct random *random, bool near, size_t dimension,
		size_t *point);

/* The logarithm of a cost, by which methods compare; INFINITY for a failure. */
double draw_log(double cost);

#endif
