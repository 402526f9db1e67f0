/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tunings that a model guides, with a runner that computes costs.
 */
#include "check.h"
#include "model_sample.h"
#include "tune/loop/advice.h"
#include "tuning_sample.h"

static const char generic_machine[] = "[machine]\nname = small\nromio = generic\n"
				      "[nodes]\ncores = 4\n"
				      "[storage]\ncache = 1G\nblock = 1M\n"
				      "[defaults]\ncb_buffer_size = 16M\nnode_aggregators = 4\n";

/* Eight ranks that write 1 MiB each in interleaved pieces of 4 KiB. */
static struct access_profile_row strided = { { .pattern = ACCESS_STRIDED,
					       .nodes = 2,
					       .ranks = 8,
					       .rank_bytes = 1 << 20,
					       .block_bytes = 4096,
					       .stride_bytes = 4096 },
					     10,
					     NULL,
					     NULL };
static const struct access_profile accesses = { &strided, 1, 1 };

static struct tuning_plan plan_with(const char *search, const char *settings, const char *model,
				    uint64_t runs)
{
	struct tuning_plan plan = plan_sample(search, runs);

	plan.settings = xstrdup(settings);
	plan.model = xstrdup(model);
	return plan;
}

static void model_file(char path[32], uint64_t seed)
{
	struct hybrid hybrid = { 0 };

	model_save(&hybrid, generic_machine, seed, path);
	hybrid_release(&hybrid);
}

/* The points of the search in order. */
static size_t points_of(const struct course *course, uint64_t *points, size_t most)
{
	const struct history *history = tuning_history(course->tuning);
	size_t count = 0;

	for (size_t i = 0; i < history->count && count < most; i++)
		if (history->runs[i].phase == PHASE_SEARCH)
			points[count++] = history->runs[i].point;
	return count;
}

static void only_points_that_the_model_proposes_are_run(void)
{
	struct fake fake = { .runner.profile = &accesses };
	struct advice *advice = NULL;
	const struct search_prior *prior;
	uint64_t points[8];
	struct course course;
	size_t point[3];
	double last = 0;
	char path[32];

	model_file(path, 1);
	CHECK_INT(course_run(&course, &fake, plan_with("model", "top=4", path, 40)), 0);
	CHECK(course.result->is_complete);
	CHECK_INT(points_of(&course, points, 8), phase_count(&course, PHASE_SEARCH));
	CHECK(phase_count(&course, PHASE_SEARCH) >= 3 && phase_count(&course, PHASE_SEARCH) <= 4);
	CHECK_TEXT(tuning_plan(course.tuning)->model, path);
	CHECK_INT(strlen(tuning_plan(course.tuning)->model_digest), 32);
	CHECK_INT(tuning_plan(course.tuning)->profile.count, 1);
	/* In the order of the model's prediction. */
	REQUIRE(advice_open(&advice, path, NULL) == 0);
	REQUIRE(advice_set_profile(advice, &accesses, NULL) == 0);
	prior = advice_prior(advice, &tuning_plan(course.tuning)->space);
	for (size_t i = 0; i < phase_count(&course, PHASE_SEARCH); i++) {
		space_point(&tuning_plan(course.tuning)->space, points[i], point);
		CHECK(prior->cost(prior->arg, point) > last);
		last = prior->cost(prior->arg, point);
	}
	advice_close(advice);
	course_end(&course);
	unlink(path);
}

struct kept {
	char *plan;
};

static int plan_keep(void *arg, const struct study *study)
{
	((struct kept *)arg)->plan = xstrdup(study->plan);
	return 1;
}

/* Interrupted after three runs, then resumed with another model, then with its own. */
static void a_tuning_is_resumed_only_with_its_own_model(void)
{
	struct fake fake = { .noise = 0.02, .stop_at = 6, .runner.profile = &accesses },
		    again = fake;
	struct course course, whole;
	struct tuning_plan plan = { 0 };
	struct tuning *tuning = NULL;
	struct kept kept = { 0 };
	uint64_t points[2][12];
	char path[32], other[32];
	struct err err = { 0 };

	model_file(path, 1);
	model_file(other, 2);
	again.stop_at = 0;
	CHECK_INT(course_run(&whole, &again, plan_with("bayesian", NULL, path, 12)), 0);
	CHECK_INT(course_run(&course, &fake, plan_with("bayesian", NULL, path, 12)), -EINTR);
	REQUIRE(study_get(course.store, 1, plan_keep, &kept, NULL) >= 0);
	tuning_close(course.tuning);
	course.tuning = NULL;

	REQUIRE(tuning_plan_read(&plan, kept.plan, NULL) == 0);
	free(plan.model);
	plan.model = xstrdup(other);
	CHECK_INT(tuning_open(&tuning, 1, &plan, &fake.runner, course.store, NULL, &err), -ESTALE);
	CHECK_WORDS(err.text, "changed");

	REQUIRE(tuning_plan_read(&plan, kept.plan, NULL) == 0);
	fake.stop_at = 0;
	fake.runs = 5;
	fake.runner.profile = NULL; /* a resumed tuning has it in its plan */
	REQUIRE(tuning_open(&course.tuning, 1, &plan, &fake.runner, course.store, NULL, &err) == 0);
	CHECK_INT(tuning_run(course.tuning, &err), 0);
	course.result = tuning_result(course.tuning);
	CHECK(course.result->is_complete);
	CHECK_INT(points_of(&course, points[0], 12), points_of(&whole, points[1], 12));
	CHECK(memcmp(points[0], points[1], points_of(&whole, points[1], 12) * 8) == 0);
	free(kept.plan);
	course_end(&course);
	course_end(&whole);
	unlink(path);
	unlink(other);
}

static void a_useless_model_is_reported_at_once(void)
{
	struct access_profile_row reading = strided;
	struct access_profile reads = { &reading, 1, 1 };
	struct fake nothing = { 0 }, other = { .runner.profile = &reads };
	struct course course;
	char path[32];

	reading.access.is_read = true;
	model_file(path, 1);
	CHECK_INT(course_run(&course, &nothing, plan_with("model", NULL, path, 12)), -ENODATA);
	CHECK(strstr(course.err.text, "no collective"));
	CHECK_INT(nothing.runs, 1);
	course_end(&course);
	CHECK_INT(course_run(&course, &other, plan_with("model", NULL, path, 12)), -ENODATA);
	CHECK(strstr(course.err.text, "cannot predict"));
	course_end(&course);
	unlink(path);
	nothing.runs = 0;
	CHECK_INT(course_run(&course, &nothing, plan_with("model", NULL, path, 12)), -ENOENT);
	CHECK_INT(nothing.runs, 0);
	course_end(&course);
}

TESTS(TEST(only_points_that_the_model_proposes_are_run),
      TEST(a_tuning_is_resumed_only_with_its_own_model), TEST(a_useless_model_is_reported_at_once))
