/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tuning loop with a runner that computes costs, with real searches and a real store.
 * Papers: GA-4.
 */
#include "tune/loop/tuning.h"

#include "tuning_sample.h"

static void the_best_of_an_exact_runner_is_found_and_proved(void)
{
	AUTO_BUF struct buf line = { 0 };
	struct fake fake = { 0 };
	struct course course;

	CHECK_INT(course_run(&course, &fake, plan_sample("exhaustive", 200)), 0);
	REQUIRE(course.result);
	best_line(&course, &line);
	CHECK_TEXT(buf_text(&line), BEST_LINE);
	CHECK(course.result->is_complete && course.result->proof.holds);
	CHECK(fabs(course.result->proof.gain - 4) < 1e-6);
	/* The baseline once, 59 other points once each, one pair. */
	CHECK_INT(tuning_history(course.tuning)->count, 62);
	CHECK_INT(fake.runs, 62);
	CHECK_TEXT(course.result->compared, "identical: run 62");
	CHECK(course.result->bytes == 1e6);
	course_end(&course);
}

static void phases_are_bounded(struct fake fake, size_t least)
{
	struct course course;
	size_t simplify, all;

	CHECK_INT(course_run(&course, &fake, plan_sample("random", 20)), 0);
	simplify = phase_count(&course, PHASE_SIMPLIFY);
	all = tuning_history(course.tuning)->count;
	CHECK_INT(all - simplify - phase_count(&course, PHASE_PROOF), 20);
	CHECK(simplify && phase_count(&course, PHASE_PROOF) >= least);
	CHECK(all - 20 <= tuning_simplify_most(tuning_plan(course.tuning), fake.noise <= 0) +
				  2 * tuning_plan(course.tuning)->pairs);
	course_end(&course);
}

static void budget_bounds_runs_of_all_phases(void)
{
	phases_are_bounded((struct fake){ 0 }, 2);
	phases_are_bounded((struct fake){ .noise = 0.03 }, 10);
	phases_are_bounded((struct fake){ .noise = 0.2 }, 10);
}

static void noise_is_raced_and_the_winner_holds(void)
{
	AUTO_BUF struct buf line = { 0 };
	struct fake fake = { .noise = 0.05 };
	const struct candidates *tried;
	struct course course;
	size_t once = 0, leaders = 0;

	CHECK_INT(course_run(&course, &fake, plan_sample("exhaustive", 200)), 0);
	best_line(&course, &line);
	CHECK_TEXT(buf_text(&line), BEST_LINE);
	CHECK(course.result->proof.holds);
	CHECK(course.result->proof.low < 4 && course.result->proof.high > 4);
	CHECK(course.result->noise > 0.02 && course.result->noise < 0.1);
	tried = tuning_candidates(course.tuning);
	for (size_t i = 0; i < tried->count; i++) {
		const struct candidate *c = &tried->list[i];

		once += c->count == 1;
		leaders += c->count >= 3;
		/* A candidate with twice the baseline's cost gets only one run. */
		CHECK(c->cost < 18 || c->count == (c->state == TRIAL_GOOD));
	}
	CHECK(once > 30 && leaders >= 1);
	/* The winner is run again before the proof, and no parameter can be removed. */
	CHECK(course.result->best->count >= 3 && !course.result->origin);
	course_end(&course);
}

static void no_gain_is_claimed_if_nothing_helps(void)
{
	int claimed = 0;

	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct fake fake = { .noise = 0.1, .is_useless = true, .runs = 1000 * seed };
		struct tuning_plan plan = plan_sample("random", 30);
		struct course course;

		plan.seed = seed;
		CHECK_INT(course_run(&course, &fake, plan), 0);
		claimed += course.result->proof.holds;
		course_end(&course);
	}
	/* The interval allows one in forty. */
	CHECK(claimed <= 2);
}

static void an_exact_runner_without_effects_has_no_winner(void)
{
	struct fake fake = { .is_useless = true };
	struct course course;

	CHECK_INT(course_run(&course, &fake, plan_sample("exhaustive", 100)), 0);
	CHECK(!course.result->best && !course.result->proof.holds);
	CHECK(course.result->is_complete);
	course_end(&course);
}

static void wrong_data_never_wins(void)
{
	AUTO_BUF struct buf line = { 0 };
	struct fake fake = { .wrong = "4" };
	struct course course;

	CHECK_INT(course_run(&course, &fake, plan_sample("exhaustive", 100)), 0);
	best_line(&course, &line);
	CHECK_TEXT(buf_text(&line), "cb_buffer_size=4194304 romio_cb_write=enable");
	CHECK_INT(course.result->counts[TRIAL_WRONG], 12);
	course_end(&course);
}

static void crashes_count_against_the_candidate_only(void)
{
	AUTO_BUF struct buf line = { 0 };
	struct fake fake = { .noise = 0.02, .crash = "4" };
	const struct candidates *tried;
	struct course course;

	CHECK_INT(course_run(&course, &fake, plan_sample("exhaustive", 200)), 0);
	best_line(&course, &line);
	/* Except for noise, equal with none, two or eight aggregators. */
	CHECK(strstr(buf_text(&line), "cb_buffer_size=4194304 romio_cb_write=enable") != NULL);
	CHECK(strstr(buf_text(&line), "cb_nodes=4") == NULL);
	CHECK_INT(course.result->counts[TRIAL_CRASHED], 12);
	tried = tuning_candidates(course.tuning);
	for (size_t i = 0; i < tried->count; i++)
		CHECK(isinf(tried->list[i].cost) == (tried->list[i].state == TRIAL_CRASHED));
	course_end(&course);
}

static void slow_candidates_are_aborted_and_penalized(void)
{
	struct fake fake = { .noise = 0.02, .hang = "8" };
	const struct candidates *tried;
	struct course course;

	CHECK_INT(course_run(&course, &fake, plan_sample("exhaustive", 200)), 0);
	CHECK(fake.hanging >= 12);
	CHECK_INT(course.result->counts[TRIAL_SLOW], fake.hanging);
	/* The best takes 3.5 s, so the limit for others is 10.5 s. */
	CHECK(fake.slow_limit_s > 9 && fake.slow_limit_s < 12);
	tried = tuning_candidates(course.tuning);
	for (size_t i = 0; i < tried->count; i++) {
		const struct candidate *c = &tried->list[i];

		if (c->state != TRIAL_SLOW)
			continue;
		CHECK(isfinite(c->cost) && c->cost >= 3 * course.result->best->cost * 0.9);
		CHECK_INT(c->count, 0);
	}
	course_end(&course);
}

static void a_failing_baseline_stops_the_tuning(void)
{
	struct fake fake = { .noise = 0.02, .fail_default_at = 1 };
	struct course course;

	CHECK_INT(course_run(&course, &fake, plan_sample("random", 20)), -ECANCELED);
	CHECK(strstr(course.err.text, "run 1") && strstr(course.err.text, "as it was told"));
	CHECK_INT(study_find(course.store, NULL, NULL, NULL, NULL), -ENOENT);
	course_end(&course);
	fake = (struct fake){ .noise = 0.02, .fail_default_at = 3 };
	CHECK_INT(course_run(&course, &fake, plan_sample("random", 20)), -ECANCELED);
	CHECK(strstr(course.err.text, "run 3"));
	course_end(&course);
}

static void a_later_failure_of_the_baseline_is_tolerated(void)
{
	struct fake fake = { .noise = 0.02, .fail_default_at = 4 };
	struct course course;

	CHECK_INT(course_run(&course, &fake, plan_sample("exhaustive", 100)), 0);
	CHECK_INT(course.result->counts[TRIAL_FAILED], 1);
	CHECK(course.result->proof.holds);
	course_end(&course);
}

/* Halfway the machine becomes twice as slow: later candidates must not be at a disadvantage. */
static void drift_is_detected_and_corrected(void)
{
	AUTO_BUF struct buf line = { 0 };
	struct fake fake = { .noise = 0.02, .drift = 2, .drifts = 30 };
	struct course course;

	CHECK_INT(course_run(&course, &fake, plan_sample("exhaustive", 200)), 0);
	CHECK(course.result->drift > 1.8 && course.result->drift < 2.2);
	best_line(&course, &line);
	CHECK_TEXT(buf_text(&line), BEST_LINE);
	CHECK(fabs(log(course.result->best->cost / 2.5)) < 0.1);
	CHECK(fabs(log(course.result->proof.gain / 4)) < 0.1);
	course_end(&course);
}

static void a_steady_machine_has_no_drift(void)
{
	struct fake fake = { .noise = 0.02 };
	struct course course;

	CHECK_INT(course_run(&course, &fake, plan_sample("exhaustive", 200)), 0);
	CHECK(course.result->drift == 1);
	course_end(&course);
}

/* The winner crashes from run 61 on, where the proof begins. */
static void a_winner_that_fails_in_the_proof_is_replaced(void)
{
	AUTO_BUF struct buf line = { 0 };
	struct fake fake = { .crash = "4", .crashes_from = 61 };
	struct course course;

	CHECK_INT(course_run(&course, &fake, plan_sample("exhaustive", 200)), 0);
	/* All points with four aggregators crash now, and three of them are tried. */
	CHECK_INT(course.result->rejected, 3);
	CHECK(!course.result->proof.holds);
	course_end(&course);
	fake = (struct fake){ .crash = "4", .crashes_from = 61, .crashes_to = 63 };
	CHECK_INT(course_run(&course, &fake, plan_sample("exhaustive", 200)), 0);
	best_line(&course, &line);
	CHECK_TEXT(buf_text(&line), "cb_nodes=4 cb_buffer_size=4194304");
	CHECK_INT(course.result->rejected, 1);
	CHECK(course.result->proof.holds);
	course_end(&course);
}

struct copied {
	struct store *to;
	int64_t id;
	int64_t runs; /* to copy */
	struct study study;
	char *texts[4];
};

static int copy_study(void *arg, const struct study *study)
{
	struct copied *c = arg;

	c->study = *study;
	c->study.command = c->texts[0] = xstrdup(study->command);
	c->study.plan = c->texts[1] = xstrdup(study->plan);
	c->study.digest = c->texts[2] = xstrdup(study->digest);
	c->study.state = "running";
	return 0;
}

static int copy_run(void *arg, const struct study_run *run)
{
	struct copied *c = arg;

	if (run->number > c->runs)
		return 1;
	if (run->number == 1)
		CHECK_INT(study_begin(c->to, &c->study, run, &c->id, NULL), 0);
	else
		CHECK_INT(study_add_run(c->to, c->id, run, NULL), 0);
	return 0;
}

static int text_run(void *arg, const struct study_run *run)
{
	buf_printf(arg, "%lld %s %llx %s %s %.17g %.17g\n", (long long)run->number, run->phase,
		   (unsigned long long)run->point, run->parameters, run->state, run->cost,
		   run->run_s);
	return 0;
}

static void course_text(struct store *store, int64_t id, struct buf *out)
{
	CHECK_INT(study_runs(store, id, text_run, out, NULL), 0);
}

/* Resumes a copy with only the first runs, and writes all runs and the best to `out`. */
static void resume_prefix(struct course *whole, struct fake fake, int64_t runs, struct buf *out)
{
	struct copied copied = { .runs = runs };
	struct tuning_plan plan = { 0 };
	struct sample sample;
	struct tuning *tuning = NULL;
	struct err err = { 0 };

	sample_make_in_memory(&sample);
	copied.to = sample_open(&sample);
	CHECK_INT(study_get(whole->store, 1, copy_study, &copied, NULL), 0);
	CHECK_INT(study_runs(whole->store, 1, copy_run, &copied, NULL), 0);
	CHECK_INT(tuning_plan_read(&plan, copied.study.plan, &err), 0);
	fake.runs = (size_t)runs;
	fake_prepare(&fake);
	REQUIRE(tuning_open(&tuning, copied.id, &plan, &fake.runner, copied.to, NULL, &err) == 0);
	if (tuning_run(tuning, &err) < 0)
		printf("%lld: %s\n", (long long)runs, err.text);
	CHECK(tuning_result(tuning)->is_complete);
	if (tuning_result(tuning)->best)
		space_line(&tuning_plan(tuning)->space, tuning_result(tuning)->best->point, out);
	buf_printf(out, " %.17g\n", tuning_result(tuning)->proof.gain);
	course_text(copied.to, copied.id, out);
	tuning_close(tuning);
	store_close(copied.to);
	sample_remove(&sample);
	for (size_t i = 0; i < 3; i++)
		free(copied.texts[i]);
}

/* The number of runs in the simplify phase. */
static size_t every_prefix_ends_alike(const char *search, struct fake fake, uint64_t runs)
{
	AUTO_BUF struct buf all = { 0 }, again = { 0 };
	struct course course;
	struct tuning_plan plan = plan_sample(search, runs);
	struct fake first = fake;
	size_t count, simplify;

	plan.partial = true;
	CHECK_INT(course_run(&course, &first, plan), 0);
	simplify = phase_count(&course, PHASE_SIMPLIFY);
	best_line(&course, &all);
	buf_printf(&all, " %.17g\n", course.result->proof.gain);
	course_text(course.store, 1, &all);
	count = tuning_history(course.tuning)->count;
	for (size_t i = 1; i <= count; i++) {
		buf_clear(&again);
		resume_prefix(&course, fake, (int64_t)i, &again);
		CHECK_TEXT(buf_text(&again), buf_text(&all));
	}
	course_end(&course);
	return simplify;
}

static void a_tuning_resumed_anywhere_ends_the_same(void)
{
	struct fake exact = { .wrong = "8" };
	struct fake noisy = { .noise = 0.1, .crash = "1", .drift = 1.5, .drifts = 15 };

	static const double ballast[] = { 0.5, 1, 1 };
	struct fake heavy = { .noise = 0.04, .weights = ballast };

	CHECK(every_prefix_ends_alike("bayesian", exact, 12) > 0);
	every_prefix_ends_alike("genetic", noisy, 35);
	every_prefix_ends_alike("annealing", noisy, 25);
	CHECK(every_prefix_ends_alike("random", heavy, 16) > 0);
}

static void the_ablation_rates_each_part_of_the_winner(void)
{
	struct fake fake = { 0 };
	struct tuning_plan plan = plan_sample("exhaustive", 200);
	const struct partial *partial;
	struct importance importance;
	struct course course;

	plan.partial = true;
	CHECK_INT(course_run(&course, &fake, plan), 0);
	partial = course.result->partial;
	REQUIRE(partial && partial->count > 2);
	for (size_t i = 0; i < partial->count; i++) {
		const struct partial_row *row = &partial->rows[i];

		CHECK(row->factor > 0.99 && row->factor < 4.01);
		if (row->kind == PARTIAL_ALONE && !strcmp(row->tunable->name, "cb_nodes"))
			CHECK(fabs(row->factor - 2) < 1e-6);
		if (row->kind == PARTIAL_FULL)
			CHECK(fabs(row->factor - 4) < 1e-6);
	}
	CHECK_INT(tuning_importance(course.tuning, &importance, &course.err), 0);
	CHECK_INT(importance.count, 3);
	CHECK(importance.parts[0].share > 0.05 && importance.unexplained < 0.5);
	importance_release(&importance);
	course_end(&course);
}

/* The first run of the baseline takes 11 s. */
static void the_time_limit_includes_the_first_run(void)
{
	struct fake fake = { .noise = 0.02 };
	struct tuning_plan plan = plan_sample("random", 100);
	struct course course;

	plan.seconds = 5;
	CHECK_INT(course_run(&course, &fake, plan), -ECANCELED);
	CHECK_WORDS(course.err.text, "time limit");
	CHECK_INT(fake.runs, 1);
	course_end(&course);
}

/* The second run is aborted because the rest of the time is too short for it. */
static void the_time_limit_ends_the_tuning(void)
{
	struct fake fake = { .noise = 0.02 };
	struct tuning_plan plan = plan_sample("random", 100);
	struct course course;

	plan.seconds = 15;
	CHECK_INT(course_run(&course, &fake, plan), 0);
	CHECK_INT(tuning_history(course.tuning)->count, 2);
	CHECK(!course.result->best && course.result->is_complete && !course.result->proof.holds);
	course_end(&course);
}

/* The search, which would not end before, leaves the proof enough of the time. */
static void the_time_limit_leaves_time_for_the_proof(void)
{
	struct fake fake = { .noise = 0.02 };
	struct tuning_plan plan = plan_sample("random", 100000);
	struct course course;

	plan.seconds = 500;
	CHECK_INT(course_run(&course, &fake, plan), 0);
	REQUIRE(course.result);
	CHECK(course.result->proof.holds);
	course_end(&course);
}

static void other_objectives_are_minimized(void)
{
	struct fake fake = { 0 };
	struct tuning_plan plan = plan_sample("exhaustive", 100);
	struct course course;

	plan.objective = COST_WRITE;
	CHECK_INT(course_run(&course, &fake, plan), 0);
	CHECK(fabs(course.result->level - 5e-6) < 1e-12);
	CHECK(fabs(course.result->proof.gain - 4) < 1e-6);
	course_end(&course);
	/* The program reads nothing, so there is no cost. */
	fake = (struct fake){ 0 };
	plan = plan_sample("exhaustive", 100);
	plan.objective = COST_READ;
	CHECK_INT(course_run(&course, &fake, plan), -ECANCELED);
	CHECK(strstr(course.err.text, "reading") != NULL);
	course_end(&course);
}

/* Recording makes calls slower, so the I/O time may fall although the program takes longer. */
static void a_gain_that_exists_only_with_recording_is_not_claimed(void)
{
	struct fake fake = { .noise = 0.05, .unrecorded = 1 / 0.89 };
	struct course course;

	CHECK_INT(course_run(&course, &fake, plan_sample("bayesian", 30)), 0);
	CHECK(course.result->is_contradicted && !course.result->proof.holds);
	CHECK(course.result->proof.gain > 2 && course.result->best);
	CHECK_INT(phase_count(&course, PHASE_UNRECORDED), 6);
	CHECK_NEAR(course.result->unrecorded_before, 11, 1e-9);
	CHECK_NEAR(course.result->unrecorded_after, 11 / 0.89, 1e-9);
	course_end(&course);
	/* The same time does not contradict: the program may spend little time on I/O. */
	for (int i = 0; i < 2; i++) {
		fake = (struct fake){ .noise = 0.05, .unrecorded = i ? 0.5 : 1 };
		CHECK_INT(course_run(&course, &fake, plan_sample("bayesian", 30)), 0);
		CHECK(!course.result->is_contradicted && course.result->proof.holds);
		course_end(&course);
	}
}

static void an_interrupt_leaves_the_best_so_far(void)
{
	struct fake fake = { .noise = 0.02, .stop_at = 40 };
	struct course course;

	CHECK_INT(course_run(&course, &fake, plan_sample("exhaustive", 200)), -EINTR);
	CHECK(!course.result->is_complete && course.result->best);
	CHECK(!course.result->proof.holds);
	CHECK_INT(tuning_history(course.tuning)->count, 39);
	course_end(&course);
}

static void runs_of_another_course_are_refused(void)
{
	struct copied copied = { .runs = 10 };
	struct fake fake = { 0 };
	struct tuning_plan plan = { 0 };
	struct tuning *tuning = NULL;
	struct course course;
	struct err err = { 0 };
	struct sample sample;

	CHECK_INT(course_run(&course, &fake, plan_sample("random", 20)), 0);
	sample_make_in_memory(&sample);
	copied.to = sample_open(&sample);
	CHECK_INT(study_get(course.store, 1, copy_study, &copied, NULL), 0);
	CHECK_INT(study_runs(course.store, 1, copy_run, &copied, NULL), 0);
	CHECK_INT(tuning_plan_read(&plan, copied.study.plan, NULL), 0);
	plan.seed++;
	REQUIRE(tuning_open(&tuning, copied.id, &plan, &fake.runner, copied.to, NULL, &err) == 0);
	CHECK_INT(tuning_run(tuning, &err), -EBADMSG);
	CHECK_WORDS(err.text, "new tuning");
	tuning_close(tuning);
	store_close(copied.to);
	sample_remove(&sample);
	for (size_t i = 0; i < 3; i++)
		free(copied.texts[i]);
	course_end(&course);
}

TESTS(TEST(the_best_of_an_exact_runner_is_found_and_proved), TEST(budget_bounds_runs_of_all_phases),
      TEST(noise_is_raced_and_the_winner_holds), TEST(no_gain_is_claimed_if_nothing_helps),
      TEST(an_exact_runner_without_effects_has_no_winner), TEST(wrong_data_never_wins),
      TEST(crashes_count_against_the_candidate_only),
      TEST(slow_candidates_are_aborted_and_penalized), TEST(a_failing_baseline_stops_the_tuning),
      TEST(a_later_failure_of_the_baseline_is_tolerated), TEST(drift_is_detected_and_corrected),
      TEST(a_steady_machine_has_no_drift), TEST(a_winner_that_fails_in_the_proof_is_replaced),
      TEST(the_ablation_rates_each_part_of_the_winner), TEST(the_time_limit_includes_the_first_run),
      TEST(the_time_limit_ends_the_tuning), TEST(the_time_limit_leaves_time_for_the_proof),
      TEST(other_objectives_are_minimized), TEST(a_tuning_resumed_anywhere_ends_the_same),
      TEST(a_gain_that_exists_only_with_recording_is_not_claimed),
      TEST(an_interrupt_leaves_the_best_so_far), TEST(runs_of_another_course_are_refused))
