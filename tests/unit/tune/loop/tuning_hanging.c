/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tunings of a parameter with which programs hang unless their ranks are in lockstep.
 */
#include "tune/loop/tuning.h"
#include "tune/trial/lockstep.h"

#include "tuning_sample.h"

static const char transfers[] =
	"{\"schema\": \"sluice.space/1\", \"dimensions\": ["
	"{\"name\": \"transfer\", \"values\": [null, \"collective\"]},"
	"{\"name\": \"cb_buffer_size\", \"values\": [null, 1048576, 4194304, 16777216]}]}";

static struct lockstep together = { .verdict = LOCKSTEP_YES };
static struct lockstep apart = { LOCKSTEP_NO, (char *)"f.h5: rank 0 makes 2 transfers" };

static struct fake fake_of(const struct lockstep *lockstep, double noise,
			   double (*cost)(const struct param_set *set))
{
	return (struct fake){ .runner = { .lockstep = lockstep,
					  .context.is_lockstep = lockstep == &together },
			      .noise = noise,
			      .cost = cost };
}

static struct tuning_plan plan_of(const char *space, enum tunable_safety allowed)
{
	struct tuning_plan plan = plan_sample("exhaustive", 40);

	free(plan.space_text);
	plan.space_text = xstrdup(space);
	plan.allowed = allowed;
	return plan;
}

static bool is_collective(const struct param_set *set)
{
	return is_value(set, "transfer", "collective");
}

static double faster(const struct param_set *set)
{
	return is_collective(set) ? 2 : 10;
}

static double hanging(const struct param_set *set)
{
	return is_collective(set) ? 1e9 : is_value(set, "cb_buffer_size", "4194304") ? 5 : 10;
}

static size_t collective_runs;

/* Fast, but every fourth run hangs. */
static double sometimes_hanging(const struct param_set *set)
{
	if (is_collective(set) && ++collective_runs % 4 == 0)
		return 1e9;
	return faster(set);
}

static void evidence_is_required(void)
{
	struct fake fake = fake_of(&apart, 0, faster);
	struct tuning_plan unchecked = plan_of(transfers, TUNABLE_LAYOUT);
	struct course course;

	CHECK_INT(course_run(&course, &fake, plan_of(transfers, TUNABLE_LAYOUT)), -EPERM);
	CHECK_WORDS(course.err.text, "transfer=collective|hang|rank 0 makes 2|--allow semantics");
	CHECK_INT(fake.runs, 1);
	course_end(&course);

	/* Evidence is not enough if only safe values are allowed. */
	fake = fake_of(&together, 0, faster);
	CHECK_INT(course_run(&course, &fake, plan_of(transfers, TUNABLE_SAFE)), -EPERM);
	course_end(&course);
	fake = fake_of(NULL, 0, faster);
	CHECK_INT(course_run(&course, &fake, plan_of(transfers, TUNABLE_LAYOUT)), -EPERM);
	course_end(&course);
	fake = fake_of(&together, 0, faster);
	unchecked.check = false;
	CHECK_INT(course_run(&course, &fake, unchecked), -EPERM);
	CHECK_WORDS(course.err.text, "data|not compared");
	course_end(&course);
}

static void evidence_or_permission_is_enough(void)
{
	for (int insists = 0; insists < 2; insists++) {
		struct fake fake = fake_of(insists ? &apart : &together, 0, faster);
		AUTO_BUF struct buf line = { 0 };
		struct course course;

		CHECK_INT(course_run(
				  &course, &fake,
				  plan_of(transfers, insists ? TUNABLE_SEMANTICS : TUNABLE_LAYOUT)),
			  0);
		REQUIRE(course.result);
		best_line(&course, &line);
		CHECK_TEXT(buf_text(&line), "transfer=collective");
		CHECK(course.result->proof.holds && !course.result->withheld);
		course_end(&course);
	}
}

static void one_hanging_trial_is_enough(void)
{
	for (int noisy = 0; noisy < 2; noisy++) {
		struct fake fake = fake_of(&together, noisy ? 0.02 : 0, hanging);
		AUTO_BUF struct buf line = { 0 };
		struct course course;

		CHECK_INT(course_run(&course, &fake, plan_of(transfers, TUNABLE_LAYOUT)), 0);
		REQUIRE(course.result);
		best_line(&course, &line);
		CHECK_TEXT(buf_text(&line), "cb_buffer_size=4194304");
		CHECK(course.result->proof.holds);
		CHECK_INT(fake.hanging, 1);
		CHECK_INT(course.result->counts[TRIAL_SLOW], 1);
		course_end(&course);
	}
}

/* The median of its runs is good, but it is not a result. */
static void what_hangs_sometimes_never_wins(void)
{
	struct fake fake = fake_of(&together, 0.03, sometimes_hanging);
	struct course course;

	collective_runs = 0;
	CHECK_INT(course_run(&course, &fake, plan_of(transfers, TUNABLE_LAYOUT)), 0);
	REQUIRE(course.result);
	CHECK(!course.result->proof.holds);
	CHECK(fake.hanging > 0);
	course_end(&course);
}

/* Without a space, the value is left out, and the result says why. */
static void a_suggested_space_leaves_it_out(void)
{
	for (int allowed = 0; allowed < 2; allowed++) {
		struct fake fake = fake_of(allowed ? &together : &apart, 0, faster);
		struct tuning_plan plan = plan_of("", TUNABLE_LAYOUT);
		struct course course;

		free(plan.space_text);
		plan.space_text = NULL;
		fake.runner.uses = (struct space_uses){ .hdf5 = true,
							.hdf5_parallel = true,
							.mpi = true,
							.writes = true,
							.independent = true };
		fake.runner.context.middleware = MIDDLEWARE_MPICH;
		CHECK_INT(course_run(&course, &fake, plan), 0);
		REQUIRE(course.result);
		CHECK_INT(course.result->proof.holds, allowed);
		if (allowed)
			CHECK(!course.result->withheld);
		else
			CHECK_WORDS(course.result->withheld,
				    "transfer=collective|not tried|rank 0 makes 2");
		course_end(&course);
	}
}

TESTS(TEST(evidence_is_required), TEST(evidence_or_permission_is_enough),
      TEST(one_hanging_trial_is_enough), TEST(what_hangs_sometimes_never_wins),
      TEST(a_suggested_space_leaves_it_out))
