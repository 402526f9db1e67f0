/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tunings of spaces in which the effect of one parameter depends on another one.
 */
#include "tuning_sample.h"

/* 3 x 2 x 2 = 12 points. */
static const char small_space[] =
	"{\"schema\": \"sluice.space/1\", \"dimensions\": ["
	"{\"name\": \"romio_cb_write\", \"values\": [null, \"enable\", \"disable\"]},"
	"{\"name\": \"romio_ds_write\", \"values\": [null, \"disable\"]},"
	"{\"name\": \"cb_nodes\", \"values\": [null, 2]}]}";

/* 3 x 3 x 4 x 4 x 3 = 432 points, too many to run each. */
static const char large_space[] =
	"{\"schema\": \"sluice.space/1\", \"dimensions\": ["
	"{\"name\": \"romio_cb_write\", \"values\": [null, \"enable\", \"disable\"]},"
	"{\"name\": \"romio_ds_write\", \"values\": [null, \"enable\", \"disable\"]},"
	"{\"name\": \"cb_nodes\", \"values\": [null, 1, 2, 4]},"
	"{\"name\": \"cb_buffer_size\", \"values\": [null, 1048576, 4194304, 16777216]},"
	"{\"name\": \"romio_ds_read\", \"values\": [null, \"enable\", \"disable\"]}]}";

/* As ROMIO does with small strided accesses: either alone helps, both together are terrible. */
static double excluding_cost(const struct param_set *set)
{
	bool cb = is_value(set, "romio_cb_write", "disable");
	bool ds = is_value(set, "romio_ds_write", "disable");

	return cb && ds ? 30 : cb ? 10 / 2.7 : ds ? 10 / 1.5 : 10;
}

/* Either alone is harmful, both together are the best. */
static double joining_cost(const struct param_set *set)
{
	bool cb = is_value(set, "romio_cb_write", "disable");
	bool ds = is_value(set, "romio_ds_write", "disable");

	return cb && ds ? 10 / 2.5 : cb || ds ? 13 : 10;
}

/* The number of tunings, out of ten, with a proved winner that has, or does not have, both. */
static int count_winners(double (*cost)(const struct param_set *), double noise, const char *space,
			 uint64_t runs, bool has_both)
{
	int count = 0;

	for (uint64_t seed = 1; seed <= 10; seed++) {
		struct fake fake = { .cost = cost, .noise = noise, .runs = 700 * seed };
		struct tuning_plan plan = plan_sample("bayesian", runs);
		AUTO_BUF struct buf line = { 0 };
		struct course course;

		free(plan.space_text);
		plan.space_text = xstrdup(space);
		plan.seed = seed;
		plan.pairs = 12;
		CHECK_INT(course_run(&course, &fake, plan), 0);
		best_line(&course, &line);
		count += course.result->proof.holds &&
			 strstr(buf_text(&line), "romio_cb_write=disable") &&
			 !strstr(buf_text(&line), "romio_ds_write=disable") == !has_both;
		course_end(&course);
	}
	return count;
}

static void parameters_that_exclude_each_other_are_not_combined(void)
{
	CHECK_INT(count_winners(excluding_cost, 0.05, small_space, 30, false), 10);
	CHECK_INT(count_winners(excluding_cost, 0.05, large_space, 40, false), 10);
	CHECK(count_winners(excluding_cost, 0.2, small_space, 30, false) >= 9);
}

static void a_pair_is_found_whose_parameters_are_harmful_alone(void)
{
	CHECK_INT(count_winners(joining_cost, 0.05, small_space, 30, true), 10);
	CHECK(count_winners(joining_cost, 0.2, small_space, 30, true) >= 9);
}

/* 11 points and the baseline in between fit into 17 runs after the first three. */
static void every_point_of_a_small_space_is_run(void)
{
	for (uint64_t seed = 1; seed <= 10; seed++) {
		struct fake fake = { .cost = excluding_cost, .noise = 0.2, .runs = 300 * seed };
		struct tuning_plan plan = plan_sample("bayesian", 17);
		struct course course;

		free(plan.space_text);
		plan.space_text = xstrdup(small_space);
		plan.seed = seed;
		CHECK_INT(course_run(&course, &fake, plan), 0);
		CHECK_INT(tuning_candidates(course.tuning)->count, 11);
		course_end(&course);
	}
}

TESTS(TEST(parameters_that_exclude_each_other_are_not_combined),
      TEST(a_pair_is_found_whose_parameters_are_harmful_alone),
      TEST(every_point_of_a_small_space_is_run))
