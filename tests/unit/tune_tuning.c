/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The loop on a bed that computes what a run would cost: real searches, a real store.
 */
#include "tune/tuning.h"

#include <errno.h>
#include <math.h>

#include "base/buf.h"
#include "store_sample.h"
#include "tune/noise.h"

/* 5 x 4 x 3 = 60 points, of which the cheapest costs 2.5 and the default 10. */
static const char space_text[] =
	"{\"schema\": \"sluice.space/1\", \"dimensions\": ["
	"{\"name\": \"cb_nodes\", \"values\": [null, 1, 2, 4, 8]},"
	"{\"name\": \"cb_buffer_size\", \"values\": [null, 1048576, 4194304, 16777216]},"
	"{\"name\": \"romio_cb_write\", \"values\": [null, \"enable\", \"disable\"]}]}";

struct fake {
	struct bed bed;
	size_t runs;	/* so far, those that came from the store included */
	double noise;	/* sigma */
	double drift;	/* factor on all costs... */
	size_t drifts;	/* ... from this run on; 0: never */
	size_t stop_at; /* this run is interrupted; 0: never */
	double last_limit_s, slow_limit_s;
	const double *weights; /* cost factors of the three values of BEST_LINE; NULL: as below */
	bool is_useless;       /* parameters change nothing */
	bool is_different;     /* writes other data each time */
	const char *crash, *wrong, *hang; /* value of cb_nodes that does it */
	size_t hanging;			  /* runs that were ended */
	size_t fail_default_at;		  /* the first from this run on; 0: never */
	size_t crashes_from, crashes_to;  /* runs; 0: all */
};

static const char *value_of(const struct param_set *set, const char *name)
{
	const struct param *param = param_set_find(set, tunable_by_name(name), NULL, NULL);

	return param ? param->value : "";
}

static bool is_value(const struct param_set *set, const char *name, const char *value)
{
	return value && strcmp(value_of(set, name), value) == 0;
}

static double true_cost(const struct param_set *set)
{
	double cost = 10;

	cost *= is_value(set, "cb_nodes", "1") ? 1.5 : 1;
	cost *= is_value(set, "cb_nodes", "4") ? 0.5 : 1;
	cost *= is_value(set, "cb_buffer_size", "4194304") ? 0.7 : 1;
	cost *= is_value(set, "cb_buffer_size", "16777216") ? 1.2 : 1;
	cost *= is_value(set, "romio_cb_write", "enable") ? 0.714285714 : 1;
	cost *= is_value(set, "romio_cb_write", "disable") ? 2 : 1;
	return cost;
}

/* The same run is as noisy each time, wherever a tuning goes on. */
static double noise_at(size_t run)
{
	uint64_t x = (run + 1) * UINT64_C(0x9e3779b97f4a7c15), sum = 0;

	for (int i = 0; i < 4; i++) {
		x ^= x >> 29;
		x *= UINT64_C(0xbf58476d1ce4e5b9);
		sum += x >> 40;
	}
	/* Four uniform draws: deviation sqrt(1/3). */
	return ((double)sum / (double)(1 << 24) - 2) / 0.577;
}

static double weighed_cost(const struct param_set *set, const double weights[3])
{
	double cost = 10;

	cost *= is_value(set, "cb_nodes", "4") ? weights[0] : 1;
	cost *= is_value(set, "cb_buffer_size", "4194304") ? weights[1] : 1;
	cost *= is_value(set, "romio_cb_write", "enable") ? weights[2] : 1;
	return cost;
}

static int fake_run(void *state, const struct param_set *set, const struct bed_limits *limits,
		    struct trial *trial, struct err *err)
{
	struct fake *fake = state;
	double cost = fake->is_useless ? 10 : true_cost(set);
	size_t run = ++fake->runs;

	if (fake->weights)
		cost = weighed_cost(set, fake->weights);
	if (run == fake->stop_at)
		return err_set(err, EINTR, "stopped");
	cost *= exp(fake->noise * noise_at(run));
	cost *= fake->drifts && run >= fake->drifts ? fake->drift : 1;
	fake->last_limit_s = limits->seconds;
	trial->io_s = cost;
	trial->run_s = cost + 1;
	trial->write_bytes = 1e6;
	trial->write_s = cost / 2;
	snprintf(trial->digest, sizeof(trial->digest), "%s",
		 is_value(set, "cb_nodes", fake->wrong) ? "other" : "same");
	if (fake->is_different)
		snprintf(trial->digest, sizeof(trial->digest), "%zu", run);
	if (!set->count && fake->fail_default_at && run >= fake->fail_default_at) {
		trial->state = TRIAL_FAILED;
		fake->fail_default_at = 0;
	}
	if (is_value(set, "cb_nodes", fake->crash) && run >= fake->crashes_from &&
	    (!fake->crashes_to || run < fake->crashes_to))
		trial->state = TRIAL_CRASHED;
	if (is_value(set, "cb_nodes", fake->hang) || trial->run_s > limits->seconds) {
		CHECK(isfinite(limits->seconds));
		trial->state = TRIAL_SLOW;
		trial->run_s = fake->slow_limit_s = limits->seconds;
		fake->hanging++;
	}
	if (trial->state != TRIAL_GOOD)
		trial->reason = xstrdup("as it was told");
	return 0;
}

static void fake_close(void *state)
{
	(void)state;
}

static const struct bed_ops fake_noisy = { .run = fake_run, .close = fake_close };
static const struct bed_ops fake_exact = {
	.run = fake_run,
	.close = fake_close,
	.is_exact = true,
};

static struct tuning_plan plan_sample(const char *search, uint64_t runs)
{
	struct tuning_plan plan = {
		.directory = xstrdup("/"),
		.space_text = xstrdup(space_text),
		.search = xstrdup(search),
		.seed = 3,
		.runs = runs,
		.seconds = INFINITY,
		.repeat = 3,
		.pairs = 5,
		.drift = 8,
		.slow = 3,
		.check = true,
	};

	plan.argv = xcalloc(2, sizeof(*plan.argv));
	plan.argv[0] = xstrdup("./app");
	return plan;
}

static void fake_ready(struct fake *fake)
{
	fake->bed.ops = fake->noise > 0 || fake->drifts ? &fake_noisy : &fake_exact;
	fake->bed.state = fake;
}

/* Thousands of commits: in memory, where each is not waited for. */
static void sample_quick(struct sample *sample)
{
	strcpy(sample->directory, "/dev/shm/sluice-store.XXXXXX");
	if (!mkdtemp(sample->directory))
		sample_make(sample);
	else
		sample->path = xprintf("%s/store.db", sample->directory);
}

struct course {
	struct sample sample;
	struct store *store;
	struct tuning *tuning;
	const struct tuning_result *result;
	struct err err;
};

/* Begins and goes to the end, or to where it stops. */
static int course_run(struct course *course, struct fake *fake, struct tuning_plan plan)
{
	int r;

	*course = (struct course){ 0 };
	sample_quick(&course->sample);
	course->store = sample_open(&course->sample);
	fake_ready(fake);
	r = tuning_begin(&course->tuning, &plan, &fake->bed, course->store, NULL, &course->err);
	if (r >= 0) {
		r = tuning_run(course->tuning, &course->err);
		course->result = tuning_result(course->tuning);
	}
	tuning_plan_release(&plan);
	return r;
}

static void course_end(struct course *course)
{
	tuning_close(course->tuning);
	store_close(course->store);
	sample_remove(&course->sample);
}

static void best_line(const struct course *course, struct buf *out)
{
	if (course->result->best)
		space_line(&tuning_plan(course->tuning)->space, course->result->best->point, out);
}

#define BEST_LINE "cb_nodes=4 cb_buffer_size=4194304 romio_cb_write=enable"

static void the_best_of_an_exact_bed_is_found_and_proved(void)
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
	/* The default once, 59 other points once each, one pair. */
	CHECK_INT(tuning_history(course.tuning)->count, 62);
	CHECK_INT(fake.runs, 62);
	CHECK(course.result->unchecked == NULL);
	CHECK(course.result->bytes == 1e6);
	course_end(&course);
}

static size_t phase_count(const struct course *course, enum history_phase phase)
{
	const struct history *history = tuning_history(course->tuning);
	size_t count = 0;

	for (size_t i = 0; i < history->count; i++)
		count += history->runs[i].phase == phase;
	return count;
}

static void phases_are_bounded(struct fake fake, size_t proof)
{
	struct course course;
	size_t simplify, all;

	CHECK_INT(course_run(&course, &fake, plan_sample("random", 20)), 0);
	simplify = phase_count(&course, PHASE_SIMPLIFY);
	all = tuning_history(course.tuning)->count;
	CHECK_INT(phase_count(&course, PHASE_PROOF), proof);
	CHECK_INT(all - simplify - proof, 20);
	CHECK(simplify &&
	      simplify <= tuning_simplify_most(tuning_plan(course.tuning), fake.noise <= 0));
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
		leaders += c->count == 3;
		/* Twice the default's cost is worth one run only, if it may take that long. */
		CHECK(c->cost < 18 || c->count == (c->state == TRIAL_GOOD));
	}
	CHECK(once > 30 && leaders >= 1);
	/* And again when it was seen that nothing of it can be left out. */
	CHECK(course.result->best->count >= 3 + 2 && !course.result->origin);
	course_end(&course);
}

static void nothing_is_claimed_where_nothing_helps(void)
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
	/* One in forty is what the interval allows. */
	CHECK(claimed <= 2);
}

static void an_equal_exact_bed_has_no_winner(void)
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

static void without_the_check_data_does_not_matter(void)
{
	AUTO_BUF struct buf line = { 0 };
	struct fake fake = { .wrong = "4" };
	struct tuning_plan plan = plan_sample("exhaustive", 100);
	struct course course;

	plan.check = false;
	CHECK_INT(course_run(&course, &fake, plan), 0);
	best_line(&course, &line);
	CHECK_TEXT(buf_text(&line), BEST_LINE);
	CHECK(course.result->unchecked != NULL);
	course_end(&course);
}

static void a_program_that_differs_from_itself_is_not_checked(void)
{
	struct fake fake = { .noise = 0.02, .is_different = true };
	struct course course;

	CHECK_INT(course_run(&course, &fake, plan_sample("random", 20)), 0);
	CHECK_INT(course.result->counts[TRIAL_WRONG], 0);
	CHECK(course.result->unchecked && strstr(course.result->unchecked, "each time"));
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
	/* Equal but for noise with none, two or eight aggregators. */
	CHECK(strstr(buf_text(&line), "cb_buffer_size=4194304 romio_cb_write=enable") != NULL);
	CHECK(strstr(buf_text(&line), "cb_nodes=4") == NULL);
	CHECK_INT(course.result->counts[TRIAL_CRASHED], 12);
	tried = tuning_candidates(course.tuning);
	for (size_t i = 0; i < tried->count; i++)
		CHECK(isinf(tried->list[i].cost) == (tried->list[i].state == TRIAL_CRASHED));
	course_end(&course);
}

static void who_takes_too_long_is_ended_and_penalised(void)
{
	struct fake fake = { .noise = 0.02, .hang = "8" };
	const struct candidates *tried;
	struct course course;

	CHECK_INT(course_run(&course, &fake, plan_sample("exhaustive", 200)), 0);
	CHECK(fake.hanging >= 12);
	CHECK_INT(course.result->counts[TRIAL_SLOW], fake.hanging);
	/* The best takes 3.5 s, so 10.5 is enough of the others. */
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

static void a_default_that_fails_stops_it(void)
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

static void the_default_may_fail_later(void)
{
	struct fake fake = { .noise = 0.02, .fail_default_at = 4 };
	struct course course;

	CHECK_INT(course_run(&course, &fake, plan_sample("exhaustive", 100)), 0);
	CHECK_INT(course.result->counts[TRIAL_FAILED], 1);
	CHECK(course.result->proof.holds);
	course_end(&course);
}

/* Half way the machine gets twice as slow: what is tried later must not lose by that. */
static void drift_is_seen_and_taken_out(void)
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

static void a_calm_machine_has_no_drift(void)
{
	struct fake fake = { .noise = 0.02 };
	struct course course;

	CHECK_INT(course_run(&course, &fake, plan_sample("exhaustive", 200)), 0);
	CHECK(course.result->drift == 1);
	course_end(&course);
}

/* Of 59 points the winner crashes from run 61 on, where the proof begins. */
static void a_winner_that_fails_in_the_proof_is_replaced(void)
{
	AUTO_BUF struct buf line = { 0 };
	struct fake fake = { .crash = "4", .crashes_from = 61 };
	struct course course;

	CHECK_INT(course_run(&course, &fake, plan_sample("exhaustive", 200)), 0);
	/* All with four aggregators crash now, and the first three of them are looked at. */
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

/* ---- simplifying ---- */

static void origin_line(const struct course *course, struct buf *out)
{
	if (course->result->origin)
		space_line(&tuning_plan(course->tuning)->space, course->result->origin->point, out);
}

static void simple_is(const double weights[3], const char *space, const char *origin,
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
	/* All points were known. */
	CHECK_INT(phase_count(&course, PHASE_SIMPLIFY), 0);
	CHECK(course.result->proof.holds);
	CHECK(fabs(course.result->proof.gain * course.result->best->cost / 10 - 1) < 1e-9);
	course_end(&course);
}

static void ballast_is_left_out_and_what_matters_stays(void)
{
	simple_is((double[]){ 0.5, 0.9997, 0.9996 }, NULL, BEST_LINE, "cb_nodes=4");
	simple_is((double[]){ 0.5, 0.9997, 0.9 }, NULL, BEST_LINE,
		  "cb_nodes=4 romio_cb_write=enable");
	simple_is((double[]){ 0.99, 0.98, 0.99 }, NULL, "", BEST_LINE);
}

/* Either alone may go, but not both; the first by its name does. */
static void small_losses_do_not_add_up(void)
{
	simple_is((double[]){ 0.5, 0.9992, 0.9993 }, NULL, BEST_LINE,
		  "cb_nodes=4 romio_cb_write=enable");
}

/* Left alone, all of it would be the default. */
static void something_remains(void)
{
	simple_is((double[]){ 0.9998, 0.9999, 0.9997 }, NULL, BEST_LINE, "romio_cb_write=enable");
}

static void what_cannot_be_left_alone_stays_and_what_hangs_on_it_goes(void)
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

	simple_is((double[]){ 0.9999, 0.5, 0.9998 }, nodes_always, BEST_LINE,
		  "cb_nodes=4 cb_buffer_size=4194304");
	simple_is((double[]){ 0.5, 0.9999, 0.9997 }, buffer_hangs,
		  "cb_nodes=4 romio_cb_write=enable cb_buffer_size=4194304", "cb_nodes=4");
}

struct tally {
	int found, kept; /* tunings whose search has found it, and whose winner has it */
	int halved;	 /* tunings whose winner has what halves the cost */
};

/* Many tunings: what became of one parameter? */
static struct tally tally_take(const double weights[3], double noise, const char *name)
{
	struct tally tally = { 0 };

	for (size_t seed = 1; seed <= 16; seed++) {
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

static void noise_does_not_drop_what_brings_ten_per_cent(void)
{
	static const double tenth[] = { 0.5, 1, 1 / 1.1 };
	struct tally calm = tally_take(tenth, 0.03, "romio_cb_write=enable");
	struct tally noisy = tally_take(tenth, 0.12, "romio_cb_write=enable");

	CHECK(calm.found >= 12 && calm.kept == calm.found);
	CHECK(noisy.found >= 8 && noisy.kept >= noisy.found - 1);
}

static void ballast_is_dropped_though_runs_differ(void)
{
	static const double nothing[] = { 0.5, 1, 1 };
	struct tally write = tally_take(nothing, 0.03, "romio_cb_write");

	CHECK(write.found >= 8 && write.kept <= write.found / 2);
	CHECK_INT(write.halved, 16);
}

/* From run 61 on, where the search is over. */
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

/* ---- going on ---- */

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

/* Opens a copy of the first runs, goes to the end, and tells all runs and the best. */
static void prefix_run(struct course *whole, struct fake fake, int64_t runs, struct buf *out)
{
	struct copied copied = { .runs = runs };
	struct tuning_plan plan = { 0 };
	struct sample sample;
	struct tuning *tuning = NULL;
	struct err err = { 0 };

	sample_quick(&sample);
	copied.to = sample_open(&sample);
	CHECK_INT(study_get(whole->store, 1, copy_study, &copied, NULL), 0);
	CHECK_INT(study_runs(whole->store, 1, copy_run, &copied, NULL), 0);
	CHECK_INT(tuning_plan_read(&plan, copied.study.plan, &err), 0);
	fake.runs = (size_t)runs;
	fake_ready(&fake);
	REQUIRE(tuning_open(&tuning, copied.id, &plan, &fake.bed, copied.to, NULL, &err) == 0);
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

/* How many runs it took to simplify the winner. */
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
		prefix_run(&course, fake, (int64_t)i, &again);
		CHECK_TEXT(buf_text(&again), buf_text(&all));
	}
	course_end(&course);
	return simplify;
}

static void cut_off_anywhere_it_ends_alike(void)
{
	struct fake exact = { .wrong = "8" };
	struct fake noisy = { .noise = 0.1, .crash = "1", .drift = 1.5, .drifts = 15 };

	static const double ballast[] = { 0.5, 1, 1 };
	struct fake heavy = { .noise = 0.04, .weights = ballast };

	CHECK(every_prefix_ends_alike("bayesian", exact, 12) > 0);
	every_prefix_ends_alike("genetic", noisy, 35);
	every_prefix_ends_alike("annealing", noisy, 25);
	CHECK(every_prefix_ends_alike("random", heavy, 25) > 4);
}

static void parts_of_the_winner_are_told(void)
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

static void no_time_means_no_search(void)
{
	struct fake fake = { .noise = 0.02 };
	struct tuning_plan plan = plan_sample("random", 100);
	struct course course;

	plan.seconds = 1e-9;
	CHECK_INT(course_run(&course, &fake, plan), 0);
	CHECK_INT(tuning_history(course.tuning)->count, 3);
	CHECK(!course.result->best && course.result->is_complete);
	course_end(&course);
}

static void other_objectives_are_minimised(void)
{
	struct fake fake = { 0 };
	struct tuning_plan plan = plan_sample("exhaustive", 100);
	struct course course;

	plan.objective = COST_WRITE;
	CHECK_INT(course_run(&course, &fake, plan), 0);
	CHECK(fabs(course.result->level - 5e-6) < 1e-12);
	CHECK(fabs(course.result->proof.gain - 4) < 1e-6);
	course_end(&course);
	/* Nothing is read: there is nothing to compare. */
	fake = (struct fake){ 0 };
	plan = plan_sample("exhaustive", 100);
	plan.objective = COST_READ;
	CHECK_INT(course_run(&course, &fake, plan), -ECANCELED);
	CHECK(strstr(course.err.text, "no time of reading was seen") != NULL);
	course_end(&course);
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
	sample_quick(&sample);
	copied.to = sample_open(&sample);
	CHECK_INT(study_get(course.store, 1, copy_study, &copied, NULL), 0);
	CHECK_INT(study_runs(course.store, 1, copy_run, &copied, NULL), 0);
	CHECK_INT(tuning_plan_read(&plan, copied.study.plan, NULL), 0);
	plan.seed++;
	REQUIRE(tuning_open(&tuning, copied.id, &plan, &fake.bed, copied.to, NULL, &err) == 0);
	CHECK_INT(tuning_run(tuning, &err), -EBADMSG);
	CHECK(strstr(err.text, "begin a new one") != NULL);
	tuning_close(tuning);
	store_close(copied.to);
	sample_remove(&sample);
	for (size_t i = 0; i < 3; i++)
		free(copied.texts[i]);
	course_end(&course);
}

TESTS(TEST(the_best_of_an_exact_bed_is_found_and_proved), TEST(budget_bounds_runs_of_all_phases),
      TEST(noise_is_raced_and_the_winner_holds), TEST(nothing_is_claimed_where_nothing_helps),
      TEST(an_equal_exact_bed_has_no_winner), TEST(wrong_data_never_wins),
      TEST(without_the_check_data_does_not_matter),
      TEST(a_program_that_differs_from_itself_is_not_checked),
      TEST(crashes_count_against_the_candidate_only),
      TEST(who_takes_too_long_is_ended_and_penalised), TEST(a_default_that_fails_stops_it),
      TEST(the_default_may_fail_later), TEST(drift_is_seen_and_taken_out),
      TEST(a_calm_machine_has_no_drift), TEST(a_winner_that_fails_in_the_proof_is_replaced),
      TEST(parts_of_the_winner_are_told), TEST(no_time_means_no_search),
      TEST(other_objectives_are_minimised), TEST(cut_off_anywhere_it_ends_alike),
      TEST(an_interrupt_leaves_the_best_so_far), TEST(runs_of_another_course_are_refused),
      TEST(ballast_is_left_out_and_what_matters_stays), TEST(small_losses_do_not_add_up),
      TEST(something_remains), TEST(what_cannot_be_left_alone_stays_and_what_hangs_on_it_goes),
      TEST(noise_does_not_drop_what_brings_ten_per_cent),
      TEST(ballast_is_dropped_though_runs_differ),
      TEST(a_winner_that_fails_when_it_is_simplified_is_replaced),
      TEST(an_interrupt_while_simplifying_leaves_the_best_so_far))
