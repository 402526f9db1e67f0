/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The result of a tuning, computed again from its runs in the store.
 */
#include "tune/loop/outcome.h"

#include "tuning_sample.h"

static void describe(const struct tuning *tuning, struct buf *out)
{
	const struct tuning_result *result = tuning_result(tuning);
	struct tuning_outcome outcome = { .tuning = tuning, .command = "x" };
	struct importance importance = { 0 };

	outcome_verdict(&outcome, out);
	if (result->best)
		space_line(&tuning_plan(tuning)->space, result->best->point, out);
	buf_printf(out, " %d %.17g %.17g %zu", result->is_complete, result->level, result->noise,
		   result->partial ? result->partial->count : 0);
	if (tuning_importance(tuning, &importance, NULL) >= 0)
		for (size_t i = 0; i < importance.count; i++)
			buf_printf(out, " %.17g", importance.parts[i].share);
	importance_release(&importance);
}

struct replayed {
	struct store *store;
	struct tuning *tuning;
	char *state;
	int r;
	struct err err;
};

static int replay(void *arg, const struct study *study)
{
	struct replayed *replayed = arg;
	struct tuning_plan plan = { 0 };

	replayed->state = xstrdup(study->state);
	CHECK_INT(tuning_plan_read(&plan, study->plan, NULL), 0);
	replayed->r =
		tuning_replay(&replayed->tuning, study, &plan, replayed->store, &replayed->err);
	return 0;
}

static int count_run(void *arg, const struct study_run *run)
{
	size_t *count = arg;

	(void)run;
	++*count;
	return 0;
}

static void replays_alike(const struct course *course, const char *state)
{
	struct replayed replayed = { .store = course->store };
	AUTO_BUF struct buf first = { 0 }, again = { 0 };
	size_t before = tuning_history(course->tuning)->count, after = 0;
	struct replayed untouched = { .store = course->store };

	describe(course->tuning, &first);
	CHECK_INT(study_get(course->store, 1, replay, &replayed, NULL), 0);
	CHECK_INT(replayed.r, 0);
	REQUIRE(replayed.tuning);
	CHECK_TEXT(replayed.state, state);
	describe(replayed.tuning, &again);
	CHECK_TEXT(buf_text(&again), buf_text(&first));
	/* Nothing has changed in the store. */
	CHECK_INT(study_runs(course->store, 1, count_run, &after, NULL), 0);
	CHECK_INT(after, before);
	CHECK_INT(study_get(course->store, 1, replay, &untouched, NULL), 0);
	CHECK_TEXT(untouched.state, state);
	tuning_close(replayed.tuning);
	tuning_close(untouched.tuning);
	free(replayed.state);
	free(untouched.state);
}

static void a_finished_tuning_has_the_same_result(void)
{
	static const char *const methods[] = { "bayesian", "genetic", "random" };

	for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++) {
		struct fake fake = { .noise = 0.05, .crash = "1" };
		struct tuning_plan plan = plan_sample(methods[i], 24);
		struct course course;

		plan.partial = true;
		CHECK_INT(course_run(&course, &fake, plan), 0);
		CHECK(course.result->is_complete);
		replays_alike(&course, "done");
		course_end(&course);
	}
}

static void an_unproved_gain_stays_unproved(void)
{
	struct fake fake = { .noise = 0.3, .is_useless = true };
	struct course course;

	CHECK_INT(course_run(&course, &fake, plan_sample("random", 20)), 0);
	CHECK(!course.result->proof.holds);
	replays_alike(&course, "done");
	course_end(&course);
}

static void a_tuning_out_of_time_is_still_done(void)
{
	struct fake fake = { .noise = 0.02 };
	struct tuning_plan plan = plan_sample("random", 100);
	struct course course;

	plan.seconds = 150;
	CHECK_INT(course_run(&course, &fake, plan), 0);
	CHECK(course.result->is_complete);
	replays_alike(&course, "done");
	course_end(&course);
}

static void an_interrupted_tuning_says_what_it_found_so_far(void)
{
	static const size_t ends[] = { 2, 9, 30, 36 };

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		struct fake fake = { .noise = 0.05, .stop_at = ends[i] };
		struct course course;

		CHECK_INT(course_run(&course, &fake, plan_sample("bayesian", 24)), -EINTR);
		CHECK(!course.result->is_complete);
		replays_alike(&course, "running");
		course_end(&course);
	}
}

TESTS(TEST(a_finished_tuning_has_the_same_result), TEST(an_unproved_gain_stays_unproved),
      TEST(a_tuning_out_of_time_is_still_done),
      TEST(an_interrupted_tuning_says_what_it_found_so_far))
