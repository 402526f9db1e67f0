/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/loop/proof.h"

#include <math.h>

#include "check.h"
#include "learn/math/random.h"

/* Published tables of the test, two-sided 5 %: the largest U that is significant. */
static void interval_matches_published_tables(void)
{
	static const struct {
		size_t n, m;
		int u;
	} rows[] = { { 3, 3, -1 }, { 3, 5, 0 },	   { 4, 4, 0 },	  { 4, 6, 2 },
		     { 5, 5, 2 },  { 5, 8, 6 },	   { 6, 6, 5 },	  { 7, 7, 8 },
		     { 8, 8, 13 }, { 10, 10, 23 }, { 9, 15, 34 }, { 20, 20, 127 } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CHECK_INT(proof_outside(rows[i].n, rows[i].m), rows[i].u);
		CHECK_INT(proof_outside(rows[i].m, rows[i].n), rows[i].u);
	}
	CHECK_INT(proof_outside(0, 5), -1);
}

static void gain_is_the_ratio_of_medians(void)
{
	static const double before[] = { 2.2, 2.0, 9.0, 2.1, 1.9 };
	static const double after[] = { 1.0, 1.1, 0.5, 1.05, 0.95 };
	struct proof proof;

	proof_judge(&proof, before, 5, after, 5, false);
	CHECK(fabs(proof.before - 2.1) < 1e-12 && fabs(proof.after - 1.0) < 1e-12);
	CHECK(fabs(proof.gain - 2.1) < 1e-12);
	CHECK(proof.low > 1 && proof.low < 2.1 && proof.high > 2.1 && proof.high < 9.1);
	CHECK(proof.holds);
}

static void no_gain_is_claimed_from_too_few_runs(void)
{
	static const double before[] = { 10, 10, 10 }, after[] = { 1, 1, 1 };
	struct proof proof;

	proof_judge(&proof, before, 3, after, 3, false);
	CHECK(!proof.holds);
	CHECK(proof.low == 0 && isinf(proof.high));
	proof_judge(&proof, before, 3, after, 0, false);
	CHECK(!proof.holds && proof.gain == 0);
}

static void one_exact_run_is_a_proof(void)
{
	struct proof proof;

	proof_judge(&proof, &(double){ 3 }, 1, &(double){ 2 }, 1, true);
	CHECK(proof.holds && proof.low == 1.5 && proof.high == 1.5);
	proof_judge(&proof, &(double){ 2 }, 1, &(double){ 2 }, 1, true);
	CHECK(!proof.holds);
}

static void draw_costs(struct random *random, double *costs, size_t count, double center)
{
	for (size_t i = 0; i < count; i++) {
		costs[i] = center * exp(0.2 * random_normal(random));
		/* Occasional contention makes outliers. */
		if (random_below(random, 8) == 0)
			costs[i] *= 3;
	}
}

/* The 95 % interval misses the true ratio in at most 5 of 100 cases. */
static void interval_covers_the_true_ratio(void)
{
	struct random random;
	struct proof proof;
	double before[5], after[5];
	int missed = 0, claimed = 0;

	random_init(&random, 7);
	for (int i = 0; i < 4000; i++) {
		draw_costs(&random, before, 5, 1.5);
		draw_costs(&random, after, 5, 1);
		proof_judge(&proof, before, 5, after, 5, false);
		missed += proof.low > 1.5 || proof.high < 1.5;
		CHECK(proof.low <= proof.gain && proof.gain <= proof.high);
		draw_costs(&random, before, 5, 1);
		proof_judge(&proof, before, 5, after, 5, false);
		claimed += proof.holds;
	}
	CHECK(missed < 200);
	CHECK(missed > 40); /* the interval is not too wide either */
	CHECK(claimed < 100);
}

TESTS(TEST(interval_matches_published_tables), TEST(gain_is_the_ratio_of_medians),
      TEST(no_gain_is_claimed_from_too_few_runs), TEST(one_exact_run_is_a_proof),
      TEST(interval_covers_the_true_ratio))
