/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Chance moves in a space, which the methods share: a point anywhere, and a step from one point to
 * a neighbour. Points come out settled and, wherever that can be had by trying, allowed.
 */
#ifndef SLUICE_TUNE_SEARCH_DRAW_H
#define SLUICE_TUNE_SEARCH_DRAW_H

#include <stdbool.h>
#include <stddef.h>

struct random;
struct space;

/* Every dimension by itself, all of its values alike. */
void draw_point(const struct space *space, struct random *random, size_t *point);

/* Another value in one dimension that counts and has more than one; false: there is none. near: of
 * ordered values one at most two places off. */
bool draw_change(const struct space *space, struct random *random, bool near, size_t *point);

/* The same in a dimension of one's choice. */
void draw_value(const struct space *space, struct random *random, bool near, size_t dimension,
		size_t *point);

/* What methods reason in: the logarithm of a cost, INFINITY for a failure. */
double draw_log(double cost);

#endif
