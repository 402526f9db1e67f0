/* SPDX-License-Identifier: BSD-3-Clause */
#include "learn/math/radial.h"

#include "learn_kernel.h"

/* Two groups that do not fill their blocks, with three weights. */
static void sums_are_those_of_the_formula(void)
{
	enum { WIDTH = 5 };
	static const size_t points[] = { 19, 7 };
	double *x = rows_make(26, WIDTH, 1), *w = rows_make(26, 3, 2),
	       *row = rows_make(1, WIDTH, 3);
	double sums[6], plain[6] = { 0 };
	struct radial radial;

	radial_init(&radial, WIDTH, 2, 3, points, 0.7);
	for (size_t i = 0; i < 26; i++) {
		size_t group = i >= 19;
		double square = 0;

		for (size_t j = 0; j < WIDTH; j++)
			square += pow(x[i * WIDTH + j] - row[j], 2);
		for (size_t k = 0; k < 3; k++)
			plain[group * 3 + k] += w[i * 3 + k] * exp(-0.7 * square);
		radial_set(&radial, group, group ? i - 19 : i, x + i * WIDTH, w + i * 3);
	}
	radial_sums(&radial, row, sums);
	for (size_t k = 0; k < 6; k++)
		CHECK_NEAR(sums[k], plain[k], 1e-12);
	row[0] = INFINITY;
	radial_sums(&radial, row, sums);
	CHECK(sums[0] == 0);
	radial_release(&radial);
	free(x);
	free(w);
	free(row);
}

TESTS(TEST(sums_are_those_of_the_formula))
