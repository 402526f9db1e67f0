/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which rows of a matrix are equal in all inputs: measurements of one configuration.
 */
#ifndef SLUICE_LEARN_LEARNERS_REPEATS_H
#define SLUICE_LEARN_LEARNERS_REPEATS_H

#include <stddef.h>

/* rows[from .. to - 1] of struct repeats are equal, and rising. */
struct repeats_group {
	size_t from, to;
	size_t first; /* the first of these rows */
};

struct repeats {
	size_t *rows;		      /* numbers of all rows, equal ones side by side */
	struct repeats_group *groups; /* by their first rows */
	size_t count;
};

/* x is rows x width and holds no NAN. */
void repeats_init(struct repeats *repeats, const double *x, size_t rows, size_t width);
void repeats_release(struct repeats *repeats);

#endif
