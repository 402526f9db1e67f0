/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finds rows of a matrix that are equal in all inputs, such as repeated measurements of one
 * configuration. Uses 8 bytes per row, and 12 during repeats_init().
 */
#ifndef SLUICE_LEARN_LEARNERS_GAUSSIAN_REPEATS_H
#define SLUICE_LEARN_LEARNERS_GAUSSIAN_REPEATS_H

#include <stddef.h>
#include <stdint.h>

#define REPEATS_END UINT32_MAX

struct repeats {
	uint32_t *first; /* first row of each group of equal rows, ascending */
	uint32_t *next;	 /* for each row the next equal one; REPEATS_END: none */
	size_t count;	 /* number of groups */
};

/* x is rows x width without NAN, and has fewer than REPEATS_END rows. */
void repeats_init(struct repeats *repeats, const double *x, size_t rows, size_t width);
void repeats_release(struct repeats *repeats);

#endif
