/* SPDX-License-Identifier: BSD-3-Clause */
#include "tuning_sample.h"

static void origin_line(const struct course *course, struct buf *out)
{
	if (course->result->origin)
		space_line(&tuning_plan(course->tuning)->space, course->result->origin->point, out);
}

static void check_simplified(const double weights[3], const char *space, const char *origin,
			     const char *best)
{
	AUTO_BUF struct buf line = { 0 }, from = { 0 };
	struct fake fake = { .weights = weights };
	struct tuning_plan plan = plan_sample("exhaustive", 200);
	struct course course;

	if (space) {
		free(plan.space_text);
		plan.space_text = xstrdup(space);
	}
	CHECK_INT(course_run(&course, &fake, plan), 0);
	best_line(&course, &line);
	origin_line(&course, &from);
	CHECK_TEXT(buf_text(&line), best);
	CHECK_TEXT(buf_text(&from), origin);
	/* All points were known before. */
	CHECK_INT(phase_count(&course, PHASE_SIMPLIFY), 0);
	CHECK(course.result->proof.holds);
	CHECK(fabs(course.result->proof.gain * course.result->best->cost / 10 - 1) < 1e-9);
	course_end(&course);
}

static void useless_parameters_are_removed_and_useful_ones_stay(void)
{
	check_simplified((double[]){ 0.5, 0.9997, 0.9996 }, NULL, BEST_LINE, "cb_nodes=4");
	check_simplified((double[]){ 0.5, 0.9997, 0.9 }, NULL, BEST_LINE,
			 "cb_nodes=4 romio_cb_write=enable");
	check_simplified((double[]){ 0.99, 0.98, 0.99 }, NULL, "", BEST_LINE);
}

/* Either may be removed alone, but not both; the first by name is. */
static void small_losses_do_not_add_up(void)
{
	check_simplified((double[]){ 0.5, 0.9992, 0.9993 }, NULL, BEST_LINE,
			 "cb_nodes=4 romio_cb_write=enable");
}

/* Without its last parameter it would be the baseline. */
static void the_last_parameter_is_not_removed(void)
{
	check_simplified((double[]){ 0.9998, 0.9999, 0.9997 }, NULL, BEST_LINE,
			 "romio_cb_write=enable");
}

static void required_parameters_stay_and_dependent_ones_go(void)
{
	static const char nodes_always[] =
		"{\"schema\": \"sluice.space/1\", \"dimensions\": ["
		"{\"name\": \"cb_nodes\", \"values\": [4, 2]},"
		"{\"name\": \"cb_buffer_size\", \"values\": [null, 4194304]},"
		"{\"name\": \"romio_cb_write\", \"values\": [null, \"enable\"]}]}";
	static const char buffer_hangs[] =
		"{\"schema\": \"sluice.space/1\", \"dimensions\": ["
		"{\"name\": \"cb_nodes\", \"values\": [null, 4]},"
		"{\"name\": \"romio_cb_write\", \"values\": [null, \"enable\"]},"
		"{\"name\": \"cb_buffer_size\", \"values\": [4194304, 1048576],"
		" \"when\": {\"romio_cb_write\": [\"enable\"]}}]}";

	check_simplified((double[]){ 0.9999, 0.5, 0.9998 }, nodes_always, BEST_LINE,
			 "cb_nodes=4 cb_buffer_size=4194304");
	check_simplified((double[]){ 0.5, 0.9999, 0.9997 }, buffer_hangs,
			 "cb_nodes=4 romio_cb_write=enable cb_buffer_size=4194304", "cb_nodes=4");
}

struct tally {
	int found, kept; /* tunings whose search found the parameter, and whose winner has it */
	int halved;	 /* tunings whose winner has the parameter that halves the cost */
};

/* Counts the fate of one parameter in many tunings. */
static struct tally tally_take(size_t tunings, const double weights[3], double noise,
			       const char *name)
{
	struct tally tally = { 0 };

	for (size_t seed = 1; seed <= tunings; seed++) {
		AUTO_BUF struct buf line = { 0 }, from = { 0 };
		struct fake fake = { .weights = weights, .noise = noise, .runs = 500 * seed };
		struct tuning_plan plan = plan_sample("random", 40);
		struct course course;

		plan.seed = seed;
		CHECK_INT(course_run(&course, &fake, plan), 0);
		best_line(&course, &line);
		origin_line(&course, &from);
		tally.kept += strstr(buf_text(&line), name) != NULL;
		tally.halved += strstr(buf_text(&line), "cb_nodes=4") != NULL;
		tally.found += strstr(buf_text(from.len ? &from : &line), name) != NULL;
		course_end(&course);
	}
	return tally;
}

static void noise_does_not_remove_a_gain_of_ten_percent(void)
{
	static const double tenth[] = { 0.5, 1, 1 / 1.1 };
	struct tally calm = tally_take(8, tenth, 0.03, "romio_cb_write=enable");
	struct tally noisy = tally_take(8, tenth, 0.06, "romio_cb_write=enable");

	CHECK(calm.found >= 6 && calm.kept == calm.found);
	CHECK(noisy.found >= 6 && noisy.kept >= noisy.found - 1);
}

static void useless_parameters_are_removed_despite_noise(void)
{
	static const double nothing[] = { 0.5, 1, 1 };
	struct tally write = tally_take(16, nothing, 0.03, "romio_cb_write");

	CHECK(write.kept <= 4);
	CHECK_INT(write.halved, 16);
}

/* The winner fails from run 61 on, after the search. */
static void a_winner_that_fails_when_it_is_simplified_is_replaced(void)
{
	struct fake fake = { .noise = 0.02, .crash = "4", .crashes_from = 61 };
	struct course course;

	CHECK_INT(course_run(&course, &fake, plan_sample("exhaustive", 60)), 0);
	CHECK_INT(phase_count(&course, PHASE_SEARCH) + phase_count(&course, PHASE_DRIFT), 57);
	CHECK(course.result->rejected >= 1);
	CHECK_INT(course.result->rejected, course.result->counts[TRIAL_CRASHED]);
	for (size_t i = 0; i < tuning_candidates(course.tuning)->count; i++) {
		const struct candidate *c = &tuning_candidates(course.tuning)->list[i];

		CHECK(c->state != TRIAL_CRASHED || (c->is_rejected && isinf(c->cost)));
		CHECK(c != course.result->best || !c->is_rejected);
	}
	course_end(&course);
}

static void an_interrupt_while_simplifying_leaves_the_best_so_far(void)
{
	static const double weights[] = { 0.5, 1, 1 };
	size_t simplified = 0;

	for (size_t at = 42; at <= 45; at++) {
		struct fake fake = { .noise = 0.05, .weights = weights, .stop_at = at };
		AUTO_BUF struct buf line = { 0 };
		struct course course;

		CHECK_INT(course_run(&course, &fake, plan_sample("bayesian", 40)), -EINTR);
		CHECK(!course.result->is_complete && !course.result->proof.holds);
		best_line(&course, &line);
		CHECK(strstr(buf_text(&line), "cb_nodes=4") != NULL);
		simplified += course.result->phase == PHASE_SIMPLIFY;
		course_end(&course);
	}
	CHECK_INT(simplified, 4);
}

TESTS(TEST(useless_parameters_are_removed_and_useful_ones_stay), TEST(small_losses_do_not_add_up),
      TEST(the_last_parameter_is_not_removed), TEST(required_parameters_stay_and_dependent_ones_go),
      TEST(noise_does_not_remove_a_gain_of_ten_percent),
      TEST(useless_parameters_are_removed_despite_noise),
      TEST(a_winner_that_fails_when_it_is_simplified_is_replaced),
      TEST(an_interrupt_while_simplifying_leaves_the_best_so_far))
