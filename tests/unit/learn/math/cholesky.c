/* SPDX-License-Identifier: BSD-3-Clause */
#include "learn/math/cholesky.h"

#include <math.h>
#include <string.h>

#include "check.h"
#include "learn/math/random.h"

#define SIZE_MOST 23

/* The sum of `rank` random squares: positive definite if the rank is not below the size. */
static void make_matrix(struct random *random, double *m, size_t n, size_t rank)
{
	memset(m, 0, n * n * sizeof(*m));
	for (size_t r = 0; r < rank; r++) {
		double row[SIZE_MOST];

		for (size_t i = 0; i < n; i++)
			row[i] = random_normal(random);
		for (size_t i = 0; i < n; i++)
			for (size_t k = 0; k < n; k++)
				m[i * n + k] += row[i] * row[k];
	}
}

static void the_factor_gives_the_matrix(void)
{
	struct random random;

	random_init(&random, 1);
	for (size_t n = 1; n <= SIZE_MOST; n++) {
		double m[SIZE_MOST * SIZE_MOST], root[SIZE_MOST * SIZE_MOST];

		make_matrix(&random, m, n, n + 3);
		memcpy(root, m, n * n * sizeof(*m));
		CHECK_INT(cholesky_factorize(root, n), 0);
		for (size_t i = 0; i < n; i++) {
			for (size_t k = i; k < n; k++) {
				double sum = 0;

				for (size_t j = 0; j <= i; j++)
					sum += root[j * n + i] * root[j * n + k];
				CHECK_NEAR(sum, m[i * n + k], 1e-12 * (double)n * 10);
			}
			for (size_t k = 0; k < i; k++)
				CHECK(root[i * n + k] == m[i * n + k]);
		}
	}
}

static void solutions_are_solutions(void)
{
	struct random random;

	random_init(&random, 2);
	for (size_t n = 1; n <= SIZE_MOST; n++) {
		double m[SIZE_MOST * SIZE_MOST], root[SIZE_MOST * SIZE_MOST];
		double wanted[SIZE_MOST], x[SIZE_MOST] = { 0 };

		make_matrix(&random, m, n, 2 * n);
		for (size_t i = 0; i < n; i++)
			wanted[i] = random_normal(&random);
		for (size_t i = 0; i < n; i++)
			for (size_t k = 0; k < n; k++)
				x[i] += m[i * n + k] * wanted[k];
		memcpy(root, m, n * n * sizeof(*m));
		CHECK_INT(cholesky_factorize(root, n), 0);
		cholesky_solve_lower(root, n, x);
		cholesky_solve_upper(root, n, x);
		for (size_t i = 0; i < n; i++)
			CHECK_NEAR(x[i], wanted[i], 1e-6);
	}
}

static void pivots_without_content_are_left_out(void)
{
	double m[] = { 4, 2, 2, 0, 1, 1, 0, 0, 5 }, x[] = { 8, 4, 12 };

	CHECK_INT(cholesky_factorize(m, 3), 1);
	cholesky_solve_lower(m, 3, x);
	cholesky_solve_upper(m, 3, x);
	CHECK_NEAR(x[0], 1, 1e-12);
	CHECK(x[1] == 0);
	CHECK_NEAR(x[2], 2, 1e-12);
}

static void indefinite_matrices_are_recognized(void)
{
	double negative[] = { 1, 2, 0, 1 }, empty[] = { 0 };

	CHECK_INT(cholesky_factorize(negative, 2), 1);
	CHECK_INT(cholesky_factorize(empty, 1), 1);
	CHECK_INT(cholesky_factorize(empty, 0), 0);
}

TESTS(TEST(the_factor_gives_the_matrix), TEST(solutions_are_solutions),
      TEST(pivots_without_content_are_left_out), TEST(indefinite_matrices_are_recognized))
