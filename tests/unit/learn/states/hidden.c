/* SPDX-License-Identifier: BSD-3-Clause */
#include "learn/states/hidden.h"

#include <errno.h>
#include <math.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "check.h"
#include "learn/file/blob.h"
#include "learn/math/random.h"

static struct err err;

/* the minimum for a fit, because the number of paths doubles with every value */
enum { SEEN_LEAST = 16 };

#define NEAR(actual, expected, off) CHECK(fabs((actual) - (expected)) <= (off))

static const struct hidden truth = {
	.start = 1.0 / 3, .up = 0.03, .down = 0.06, .mean = { 0.6, 1 }, .deviation = { 0.1, 0.3 }
};

static void simulate(const struct hidden *hidden, double *values, double *states, size_t count,
		     uint64_t seed)
{
	struct random random;
	int state;

	random_init(&random, seed);
	state = random_real(&random) < hidden->start;
	for (size_t i = 0; i < count; i++) {
		if (random_real(&random) < (state ? hidden->down : hidden->up))
			state = !state;
		values[i] = exp(hidden->mean[state] +
				hidden->deviation[state] * random_normal(&random));
		if (states)
			states[i] = state;
	}
}

static double density(const struct hidden *hidden, int state, double value)
{
	double z = (log(value) - hidden->mean[state]) / hidden->deviation[state];

	return isnan(value) ? 1
			    : exp(-z * z / 2) / (hidden->deviation[state] * value * sqrt(2 * M_PI));
}

/* Sums over all paths of states: the likelihood, and the part of it that ends in state 1. */
static double paths(const struct hidden *hidden, const double *values, size_t count, double *last)
{
	double sum = 0, ends = 0;

	for (unsigned path = 0; path < 1u << count; path++) {
		double p = path & 1 ? hidden->start : 1 - hidden->start;

		for (size_t i = 0; i < count; i++) {
			unsigned now = path >> i & 1, before = i ? path >> (i - 1) & 1 : now;
			double turn = before ? hidden->down : hidden->up;

			if (i)
				p *= now == before ? 1 - turn : turn;
			p *= density(hidden, (int)now, values[i]);
		}
		sum += p;
		if (path >> (count - 1) & 1)
			ends += p;
	}
	*last = ends / sum;
	return sum;
}

static void filter_values(const struct hidden *hidden, const double *values, size_t count,
			  double *chance)
{
	double now = hidden->start;

	for (size_t i = 0; i < count; i++)
		chance[i] = now = hidden_step(hidden, now, values[i]);
}

static void filter_equals_the_sum_over_all_paths(void)
{
	double values[10], chance[10], expected;

	simulate(&truth, values, NULL, 10, 3);
	values[4] = values[5] = NAN;
	filter_values(&truth, values, 10, chance);
	for (size_t n = 1; n <= 10; n++) {
		paths(&truth, values, n, &expected);
		NEAR(chance[n - 1], expected, 1e-8);
	}
}

static void likelihood_equals_the_sum_over_all_paths(void)
{
	double values[SEEN_LEAST], ignored;
	struct hidden hidden;

	simulate(&truth, values, NULL, SEEN_LEAST, 5);
	REQUIRE(hidden_fit(&hidden, values, SEEN_LEAST, &err) == 0);
	NEAR(hidden.log_likelihood, log(paths(&hidden, values, SEEN_LEAST, &ignored)), 1e-5);
	NEAR(hidden.start, hidden.up / (hidden.up + hidden.down), 1e-12);
}

static void parameters_of_a_simulation_are_recovered(void)
{
	enum { N = 20000 };
	AUTO_FREE double *values = xmalloc(N * sizeof(*values));

	for (uint64_t seed = 1; seed <= 3; seed++) {
		struct hidden hidden;

		simulate(&truth, values, NULL, N, seed);
		REQUIRE(hidden_fit(&hidden, values, N, &err) == 0);
		NEAR(hidden.up, truth.up, 0.006);
		NEAR(hidden.down, truth.down, 0.01);
		for (int s = 0; s < 2; s++) {
			NEAR(hidden.mean[s], truth.mean[s], 0.02);
			NEAR(hidden.deviation[s], truth.deviation[s], 0.02);
		}
	}
}

/* The states are so similar that only their order in time distinguishes them. */
static void filter_is_better_than_single_values(void)
{
	enum { N = 20000 };
	const struct hidden alike = { .start = 0.5,
				      .up = 0.02,
				      .down = 0.02,
				      .mean = { 0, 0.3 },
				      .deviation = { 0.25, 0.25 } };
	AUTO_FREE double *values = xmalloc(N * sizeof(*values));
	AUTO_FREE double *states = xmalloc(N * sizeof(*states));
	AUTO_FREE double *chance = xmalloc(N * sizeof(*chance));
	double filtered = 0, alone = 0;
	struct hidden hidden;

	simulate(&alike, values, states, N, 8);
	REQUIRE(hidden_fit(&hidden, values, N / 2, &err) == 0);
	filter_values(&hidden, values, N, chance);
	for (size_t i = N / 2; i < N; i++) {
		filtered += (chance[i] > 0.5) == (states[i] > 0);
		alone += (log(values[i]) > 0.15) == (states[i] > 0);
	}
	CHECK(alone / (N / 2) < 0.75);
	CHECK(filtered / (N / 2) > 0.88);
}

static void gaps_do_not_bias_the_fit(void)
{
	enum { N = 20000 };
	AUTO_FREE double *values = xmalloc(N * sizeof(*values));
	struct hidden hidden;
	struct random random;

	simulate(&truth, values, NULL, N, 11);
	random_init(&random, 1);
	for (size_t i = 0; i < N; i++) {
		if (random_real(&random) < 0.3)
			values[i] = NAN;
	}
	REQUIRE(hidden_fit(&hidden, values, N, &err) == 0);
	NEAR(hidden.up, truth.up, 0.008);
	NEAR(hidden.down, truth.down, 0.013);
	NEAR(hidden.mean[1], truth.mean[1], 0.03);
}

static void probability_converges_without_observations(void)
{
	double chance = 0.9, nan = NAN;

	NEAR(hidden_ahead(&truth, 0.9, 0), 0.9, 1e-15);
	for (int i = 0; i < 7; i++)
		chance = hidden_step(&truth, chance, nan);
	NEAR(hidden_ahead(&truth, 0.9, 7), chance, 1e-12);
	NEAR(hidden_ahead(&truth, 0.9, 100000), 1.0 / 3, 1e-12);
}

static void outliers_never_give_certainty(void)
{
	static const double values[] = { 1e-300, 1e300, 5e-324, 1.8, 0, -1, INFINITY };
	double chance = 0.5;

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		chance = hidden_step(&truth, chance, values[i]);
		CHECK(chance > 0);
		CHECK(chance < 1);
	}
}

static void one_outlier_does_not_break_the_fit(void)
{
	enum { N = 4000 };
	AUTO_FREE double *values = xmalloc(N * sizeof(*values));
	struct hidden hidden;

	simulate(&truth, values, NULL, N, 2);
	values[100] = 1e9;
	values[2000] = 1e-9;
	REQUIRE(hidden_fit(&hidden, values, N, &err) == 0);
	CHECK(isfinite(hidden.log_likelihood));
	CHECK(hidden.up > 0);
	CHECK(hidden.up < 1);
	CHECK(hidden.deviation[0] > 0);
}

/* Densities of such values differ by more than the range of a double. */
static void far_values_keep_the_likelihood_finite(void)
{
	enum { COUNT = 2000 };
	static double values[COUNT];
	struct hidden hidden;
	struct random random;

	random_init(&random, 12);
	for (size_t i = 0; i < COUNT; i++)
		values[i] = exp(0.01 * random_normal(&random) + (i % 50 == 7 ? 60 : 0));
	REQUIRE(hidden_fit(&hidden, values, COUNT, &err) == 0);
	CHECK(isfinite(hidden.log_likelihood));
	CHECK(hidden.rounds < 500);
	NEAR(hidden.start, 0.02, 0.005);
	NEAR(hidden.mean[1], 60, 0.1);
}

static void invalid_values_are_rejected(void)
{
	double values[30];
	struct hidden hidden = { .rounds = 77 };

	for (size_t i = 0; i < 30; i++)
		values[i] = 2;
	CHECK_INT(hidden_fit(&hidden, values, 30, &err), -EDOM);
	CHECK_INT(hidden_fit(&hidden, values, 15, &err), -ENODATA);
	CHECK_INT(hidden_fit(&hidden, values, 0, &err), -ENODATA);
	values[2] = -1;
	CHECK_INT(hidden_fit(&hidden, values, 30, &err), -EDOM);
	CHECK(strstr(err.text, "value 3"));
	CHECK_INT(hidden.rounds, 77);
}

TESTS(TEST(filter_equals_the_sum_over_all_paths), TEST(likelihood_equals_the_sum_over_all_paths),
      TEST(parameters_of_a_simulation_are_recovered), TEST(filter_is_better_than_single_values),
      TEST(gaps_do_not_bias_the_fit), TEST(probability_converges_without_observations),
      TEST(outliers_never_give_certainty), TEST(one_outlier_does_not_break_the_fit),
      TEST(far_values_keep_the_likelihood_finite), TEST(invalid_values_are_rejected))
