/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/loop/proof.h"

#include <math.h>

#include "check.h"
#include "learn/math/random.h"

enum { PAIRS = 12 };

static const struct proof_plan usual = { .pairs = PAIRS, .level = PROOF_LEVEL, .sigma = 0.2 };

/* One course of a proof: cost with noise, outliers and drift, in the order of the proof. */
struct course {
	double before[PROOF_PAIRS_MOST], after[PROOF_PAIRS_MOST];
	struct proof proof;
};

static double draw_cost(struct random *random, double noise, size_t run)
{
	double cost = exp(noise * random_normal(random) + 0.02 * (double)run);

	return random_below(random, 10) == 0 ? 3 * cost : cost;
}

/* Stops as soon as the test decides. */
static void course_run(struct course *course, const struct proof_plan *plan, struct random *random,
		       double noise, double gain)
{
	size_t counts[2] = { 0 };
	uint64_t seed = random_u64(random);

	course->proof = (struct proof){ 0 };
	for (size_t i = 0; i < 2 * plan->pairs && !course->proof.holds; i++) {
		bool tuned = proof_order(plan, seed, i);
		double cost = draw_cost(random, noise, i);

		if (tuned)
			course->after[counts[1]++] = cost;
		else
			course->before[counts[0]++] = cost * gain;
		if (i % 2 && proof_is_look(plan, (i + 1) / 2) && counts[0] == counts[1])
			proof_judge(&course->proof, plan, course->before, course->after, counts[0]);
	}
}

static void check_order(struct proof_plan plan, size_t looks)
{
	size_t seen = 0;
	int first = 0;

	for (size_t pairs = 1; pairs <= plan.pairs; pairs++)
		seen += proof_is_look(&plan, pairs);
	CHECK_INT(seen, looks);
	CHECK(!proof_is_look(&plan, PROOF_BLOCK - 1) && proof_is_look(&plan, plan.pairs));

	for (uint64_t seed = 0; seed < 200; seed++) {
		size_t tuned = 0;

		for (size_t i = 0; i < 2 * plan.pairs; i++) {
			tuned += proof_order(&plan, seed, i);
			if (i % 2 && proof_is_look(&plan, (i + 1) / 2))
				CHECK_INT(tuned, (i + 1) / 2);
		}
		first += proof_order(&plan, seed, 2 * PROOF_BLOCK);
	}
	CHECK(first > 70 && first < 130);
}

/* Blocks are larger under noise, and the last one has what is left. */
static void every_order_has_as_many_runs_of_each_side(void)
{
	check_order(usual, 3);
	check_order((struct proof_plan){ .pairs = 15, .level = PROOF_LEVEL, .sigma = 0.5 }, 4);
	check_order((struct proof_plan){ .pairs = 12, .level = PROOF_LEVEL, .sigma = 0.05 }, 5);
	check_order((struct proof_plan){ .pairs = 13, .level = PROOF_LEVEL, .sigma = 0.05 }, 6);
}

static void a_clear_gain_is_proved_early(void)
{
	struct course course;
	struct random random;

	random_init(&random, 1);
	for (int i = 0; i < 20; i++) {
		course_run(&course, &usual, &random, 0.02, 4);
		CHECK(course.proof.holds && course.proof.low > 1);
		CHECK(course.proof.pairs >= PROOF_BLOCK + 1 && course.proof.pairs <= 9);
		CHECK(course.proof.low <= course.proof.gain);
		CHECK(course.proof.gain <= course.proof.high);
	}
}

static void the_fewest_pairs_are_enough_if_no_more_are_planned(void)
{
	static const double before[] = { 2.2, 2.0, 2.1, 1.9 }, after[] = { 1.0, 1.1, 0.5, 1.05 };
	struct proof_plan plan = { .pairs = 4, .level = PROOF_LEVEL, .sigma = 0.1 };
	struct proof proof;

	proof_judge(&proof, &plan, before, after, 4);
	CHECK(proof.holds && proof.low > 1 && proof.gain > 1.7 && proof.gain < 2.4);
	plan.level /= 2;
	proof_judge(&proof, &plan, before, after, 4);
	CHECK(!proof.holds && proof.low <= 1);
}

static void one_exact_run_is_a_proof(void)
{
	struct proof_plan plan = { .exact = true };
	struct proof proof;

	proof_judge(&proof, &plan, &(double){ 3 }, &(double){ 2 }, 1);
	CHECK(proof.holds && proof.low == 1.5 && proof.high == 1.5);
	proof_judge(&proof, &plan, &(double){ 2 }, &(double){ 2 }, 1);
	CHECK(!proof.holds);
}

/* Whoever looks after each pair and stops at the first success must not err more often than the
 * level allows, whatever the noise, and even if its size was misjudged. */
static void the_error_level_holds_under_repeated_looks(void)
{
	static const double noises[] = { 0.02, 0.2, 0.6 };
	int claimed = 0, all = 0;
	struct course course;
	struct random random;

	random_init(&random, 2);
	for (size_t k = 0; k < 3; k++) {
		for (int i = 0; i < 250; i++) {
			course_run(&course, &usual, &random, noises[k], 1);
			claimed += course.proof.holds;
			all++;
		}
	}
	/* 11.25 are allowed on average; the deviation is 3.3. */
	CHECK(claimed <= 21);
	CHECK(claimed >= 1); /* nor is the test useless */
	CHECK_INT(all, 750);
}

static void the_interval_covers_the_true_gain(void)
{
	int missed = 0;
	struct course course;
	struct random random;

	random_init(&random, 3);
	for (int i = 0; i < 200; i++) {
		course_run(&course, &usual, &random, 0.2, 1.5);
		missed += course.proof.low > 1.5 || course.proof.high < 1.5;
	}
	CHECK(missed <= 13);
}

static void a_hopeless_attempt_is_futile_and_leaves_some_level(void)
{
	double before[] = { 1, 1.1, 0.9, 1, 1, 1.05, 1, 0.95 };
	double after[] = { 1.5, 1.6, 1.4, 1.5, 1.45, 1.5, 1.4, 1.5 };
	struct proof proof;

	proof_judge(&proof, &usual, before, after, 8);
	CHECK(!proof.holds && proof.is_futile);
	CHECK(proof.spent > 0 && proof.spent <= PROOF_LEVEL / 2);
	CHECK(proof.high < 1.01);
}

static void an_outlier_does_not_decide(void)
{
	double before[] = { 2, 2.1, 1.9, 2, 2.2, 2, 2.1, 2 },
	       after[] = { 1, 1.1, 0.9, 1, 50, 1, 1, 1 };
	struct proof_plan plan = { .pairs = 8, .level = PROOF_LEVEL, .sigma = 0.2 };
	struct proof proof;

	proof_judge(&proof, &plan, before, after, 8);
	CHECK(proof.gain > 1.6 && proof.gain < 2.4);
}

TESTS(TEST(every_order_has_as_many_runs_of_each_side), TEST(a_clear_gain_is_proved_early),
      TEST(the_fewest_pairs_are_enough_if_no_more_are_planned), TEST(one_exact_run_is_a_proof),
      TEST(the_error_level_holds_under_repeated_looks), TEST(the_interval_covers_the_true_gain),
      TEST(a_hopeless_attempt_is_futile_and_leaves_some_level), TEST(an_outlier_does_not_decide))
