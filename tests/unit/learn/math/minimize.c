/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Minimizes functions whose minima are known.
 */
#include "learn/math/minimize.h"

#include <errno.h>
#include <math.h>

#include "check.h"

/*
 * The chained Rosenbrock function of many variables; its minimum is 0, where all variables are 1.
 */
struct valley {
	size_t count, calls;
};

static double rosenbrock(void *arg, const double *x, double *gradient)
{
	struct valley *valley = arg;
	double value = 0;

	valley->calls++;
	memset(gradient, 0, valley->count * sizeof(*gradient));
	for (size_t i = 0; i + 1 < valley->count; i++) {
		double a = x[i + 1] - x[i] * x[i], b = 1 - x[i];

		value += 100 * a * a + b * b;
		gradient[i] -= 400 * a * x[i] + 2 * b;
		gradient[i + 1] += 200 * a;
	}
	return value;
}

static void rosenbrock_is_minimized(void)
{
	for (size_t count = 2; count <= 50; count += 16) {
		struct valley valley = { .count = count };
		struct minimize_plan plan = { .rounds = 1000, .gradient = 1e-8, .decrease = -1 };
		struct minimize_result result;
		double x[50];

		for (size_t i = 0; i < count; i++)
			x[i] = i % 2 ? 1 : -1.2;
		CHECK(minimize(rosenbrock, &valley, x, count, &plan, &result) >= 0);
		CHECK(result.value < 1e-12);
		for (size_t i = 0; i < count; i++)
			CHECK(fabs(x[i] - 1) < 1e-5);
		CHECK_INT(result.evaluations, valley.calls);
		/* scipy.optimize's L-BFGS-B needs 46 (2 variables) to 333 (50). */
		CHECK(result.evaluations < 50 + 8 * count);
	}
}

/* sum of i (x[i] - i)^2 / 2 + (sum of x)^2 / 2 */
static double quadratic(void *arg, const double *x, double *gradient)
{
	size_t count = *(const size_t *)arg;
	double sum = 0, value = 0;

	for (size_t i = 0; i < count; i++)
		sum += x[i];
	for (size_t i = 0; i < count; i++) {
		double scale = (double)i + 1, off = x[i] - scale;

		value += scale * off * off / 2;
		gradient[i] = scale * off + sum;
	}
	return value + sum * sum / 2;
}

static void quadratic_is_solved_exactly(void)
{
	size_t count = 20;
	double x[20] = { 0 }, sum = 0, harmonic = 0, total;
	struct minimize_result result;

	CHECK_INT(minimize(quadratic, &count, x, count,
			   &(struct minimize_plan){ .gradient = 1e-9, .decrease = -1 }, &result),
		  0);
	/* The gradient is 0 at x[i] = i - sum / i, thus sum = sum of i / (1 + sum of 1 / i). */
	for (size_t i = 1; i <= count; i++) {
		sum += (double)i;
		harmonic += 1 / (double)i;
	}
	total = sum / (1 + harmonic);
	for (size_t i = 0; i < count; i++)
		CHECK(fabs(x[i] - ((double)i + 1 - total / ((double)i + 1))) < 1e-8);
	CHECK(result.gradient <= 1e-9);
	CHECK(result.rounds < 60);
}

static void bounds_are_respected(void)
{
	/* Without bounds the first variable would be below 0 and the last above 10. */
	size_t count = 20;
	double x[20], low[20], high[20], gradient[20];
	struct minimize_plan plan = { .gradient = 1e-8, .decrease = -1, .low = low, .high = high };
	struct minimize_result result;

	for (size_t i = 0; i < count; i++) {
		x[i] = i % 2 ? 100 : -100; /* outside of the bounds, so it is clipped first */
		low[i] = 0;
		high[i] = 10;
	}
	CHECK_INT(minimize(quadratic, &count, x, count, &plan, &result), 0);
	quadratic(&count, x, gradient);
	for (size_t i = 0; i < count; i++) {
		CHECK(x[i] >= 0);
		CHECK(x[i] <= 10);
		/* Checks the Karush-Kuhn-Tucker conditions. */
		CHECK(fabs(gradient[i]) < 1e-7 || (x[i] == 0 && gradient[i] > 0) ||
		      (x[i] == 10 && gradient[i] < 0));
	}
	CHECK(x[0] == 0);
}

/* Defined for x > 0 only; the minimum is at 1. */
static double fenced(void *arg, const double *x, double *gradient)
{
	(void)arg;
	gradient[0] = 1 - 1 / x[0];
	return x[0] > 0 ? x[0] - log(x[0]) : NAN;
}

static void points_without_a_value_are_avoided(void)
{
	double x = 1e-3;
	struct minimize_result result;

	CHECK_INT(
		minimize(fenced, NULL, &x, 1, &(struct minimize_plan){ .gradient = 1e-9 }, &result),
		0);
	CHECK(fabs(x - 1) < 1e-5);
}

static void start_without_a_value_is_rejected(void)
{
	double x = -1;
	struct minimize_result result;

	CHECK_INT(minimize(fenced, NULL, &x, 1, &(struct minimize_plan){ 0 }, &result), -EDOM);
	CHECK(x == -1);
}

static void rounds_are_limited(void)
{
	struct valley valley = { .count = 10 };
	struct minimize_result result;
	double x[10] = { -1.2, 1, -1.2, 1 };

	CHECK_INT(minimize(rosenbrock, &valley, x, 10, &(struct minimize_plan){ .rounds = 3 },
			   &result),
		  1);
	CHECK_INT(result.rounds, 3);
}

TESTS(TEST(rosenbrock_is_minimized), TEST(quadratic_is_solved_exactly), TEST(bounds_are_respected),
      TEST(points_without_a_value_are_avoided), TEST(start_without_a_value_is_rejected),
      TEST(rounds_are_limited))
