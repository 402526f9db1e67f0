/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which rows of a matrix are equal in all inputs: measurements of one configuration. Holds 8 bytes
 * per row, 12 while it is made.
 */
#ifndef SLUICE_LEARN_LEARNERS_GAUSSIAN_REPEATS_H
#define SLUICE_LEARN_LEARNERS_GAUSSIAN_REPEATS_H

#include <stddef.h>
#include <stdint.h>

#define REPEATS_END UINT32_MAX

struct repeats {
	uint32_t *first; /* of each group of equal rows, rising */
	uint32_t *next;	 /* after each row the next one that equals it; REPEATS_END: none */
	size_t count;	 /* groups */
};

/* x is rows x width and holds no NAN; fewer than REPEATS_END rows. */
void repeats_init(struct repeats *repeats, const double *x, size_t rows, size_t width);
void repeats_release(struct repeats *repeats);

#endif
