/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A trial runner that computes the cost of a run, with configurable noise, drift and faults, and a
 * complete tuning with it.
 */
#ifndef SLUICE_TESTS_TUNING_SAMPLE_H
#define SLUICE_TESTS_TUNING_SAMPLE_H

#include <errno.h>
#include <math.h>

#include "base/buf.h"
#include "store_sample.h"
#include "tune/loop/tuning.h"

/* 5 x 4 x 3 = 60 points; the cheapest costs 2.5, the baseline 10. */
static const char space_text[] =
	"{\"schema\": \"sluice.space/1\", \"dimensions\": ["
	"{\"name\": \"cb_nodes\", \"values\": [null, 1, 2, 4, 8]},"
	"{\"name\": \"cb_buffer_size\", \"values\": [null, 1048576, 4194304, 16777216]},"
	"{\"name\": \"romio_cb_write\", \"values\": [null, \"enable\", \"disable\"]}]}";

struct fake {
	struct trial_runner runner;
	size_t runs;	/* so far, including those replayed from the store */
	double noise;	/* sigma */
	double drift;	/* factor on all costs from run `drifts` on */
	size_t drifts;	/* 0: never */
	size_t stop_at; /* this run is interrupted; 0: never */
	double last_limit_s, slow_limit_s;
	double (*cost)(const struct param_set *set); /* NULL: weights */
	const double
		*weights; /* cost factors of the three values of BEST_LINE; NULL: true_cost() */
	bool is_useless;  /* parameters change nothing */
	const char *crash, *wrong, *hang; /* value of cb_nodes that triggers it */
	size_t hanging;			  /* runs that were aborted */
	double unrecorded; /* factor on the run time with parameters without recording; 0: unknown
			    */
	size_t fail_default_at; /* the first run of the baseline from here on fails; 0: never */
	size_t crashes_from, crashes_to; /* range of runs that may crash; 0: all */
};

static const char *param_value(const struct param_set *set, const char *name)
{
	const struct param *param = param_set_find(set, tunable_by_name(name), NULL, NULL);

	return param ? param->value : "";
}

static inline bool is_value(const struct param_set *set, const char *name, const char *value)
{
	return value && strcmp(param_value(set, name), value) == 0;
}

static inline double true_cost(const struct param_set *set)
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

/* The noise depends only on the number of the run, so that resumed tunings see the same. */
static inline double noise_at(size_t run)
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

static inline double weighted_cost(const struct param_set *set, const double weights[3])
{
	double cost = 10;

	cost *= is_value(set, "cb_nodes", "4") ? weights[0] : 1;
	cost *= is_value(set, "cb_buffer_size", "4194304") ? weights[1] : 1;
	cost *= is_value(set, "romio_cb_write", "enable") ? weights[2] : 1;
	return cost;
}

static inline int fake_run(void *state, const struct param_set *set,
			   const struct trial_limits *limits, struct trial *trial, struct err *err)
{
	struct fake *fake = state;
	double cost = fake->is_useless ? 10 : true_cost(set);
	size_t run = ++fake->runs;

	if (fake->weights)
		cost = weighted_cost(set, fake->weights);
	if (fake->cost)
		cost = fake->cost(set);
	if (run == fake->stop_at)
		return err_set(err, EINTR, "stopped");
	cost *= exp(fake->noise * noise_at(run));
	cost *= fake->drifts && run >= fake->drifts ? fake->drift : 1;
	fake->last_limit_s = limits->seconds;
	trial->io_s = cost;
	trial->run_s = cost + 1;
	if (limits->is_unrecorded) {
		trial->run_s = set->count ? 11 * fake->unrecorded : 11;
		trial->io_s = 0;
	}
	trial->write_bytes = 1e6;
	trial->write_s = cost / 2;
	if (is_value(set, "cb_nodes", fake->wrong))
		trial->state = TRIAL_WRONG;
	else if (set->count)
		trial->compared = xprintf("identical: run %zu", run);
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

static inline void fake_close(void *state)
{
	(void)state;
}

static const struct trial_runner_ops fake_noisy = { .run = fake_run, .close = fake_close };
static const struct trial_runner_ops fake_exact = {
	.run = fake_run,
	.close = fake_close,
	.is_exact = true,
};

static const struct trial_runner_ops fake_recorded = {
	.run = fake_run,
	.close = fake_close,
	.can_skip_recording = true,
};

static inline struct tuning_plan plan_sample(const char *search, uint64_t runs)
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

static inline void fake_prepare(struct fake *fake)
{
	fake->runner.ops = fake->noise > 0 || fake->drifts ? &fake_noisy : &fake_exact;
	if (fake->unrecorded > 0)
		fake->runner.ops = &fake_recorded;
	fake->runner.state = fake;
}

/* Puts the store into memory, as the tests make thousands of commits. */
static inline void sample_make_in_memory(struct sample *sample)
{
	*sample = (struct sample){ .directory = "/dev/shm/sluice-store.XXXXXX" };
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

/* Runs a tuning to its end, or to the point where it stops. */
static inline int course_run(struct course *course, struct fake *fake, struct tuning_plan plan)
{
	int r;

	*course = (struct course){ 0 };
	sample_make_in_memory(&course->sample);
	course->store = sample_open(&course->sample);
	fake_prepare(fake);
	r = tuning_begin(&course->tuning, &plan, &fake->runner, course->store, NULL, &course->err);
	if (r >= 0) {
		r = tuning_run(course->tuning, &course->err);
		course->result = tuning_result(course->tuning);
	}
	tuning_plan_release(&plan);
	return r;
}

static inline void course_end(struct course *course)
{
	tuning_close(course->tuning);
	store_close(course->store);
	sample_remove(&course->sample);
}

static inline void best_line(const struct course *course, struct buf *out)
{
	if (course->result->best)
		space_line(&tuning_plan(course->tuning)->space, course->result->best->point, out);
}

#define BEST_LINE "cb_nodes=4 cb_buffer_size=4194304 romio_cb_write=enable"

static inline size_t phase_count(const struct course *course, enum history_phase phase)
{
	const struct history *history = tuning_history(course->tuning);
	size_t count = 0;

	for (size_t i = 0; i < history->count; i++)
		count += history->runs[i].phase == phase;
	return count;
}

#endif
