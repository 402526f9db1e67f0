/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: SIOX-37.
 */
#include "observe/plugins/histogram.h"

#include <math.h>

#include "fake_plugin_host.h"
#include "observe/plugins/grading.h"
#include "papers.h"
#include "store_sample.h"

#define US 1000ll

/* The numbers 1 to 1000, each once, in an order unrelated to their size. */
static int64_t shuffled(int i)
{
	return (int64_t)i * 617 % 1000 + 1;
}

static struct grading_options wide_options(void)
{
	struct grading_options options = grading_defaults;

	options.factor = 1;
	options.floor_ns = 0;
	return options;
}

/* 1000 exponentially distributed durations, by their quantiles; the mean is 100 us. */
static int64_t exponential(int i)
{
	return (int64_t)(-log(1 - ((double)shuffled(i) - 0.5) / 1000) * 100e3);
}

static void grades_have_the_shares_of_their_quantiles(void)
{
	static const int expected[SLUICE_SPEEDS] = { 100, 900, 8000, 900, 100 };
	struct grading_options options = wide_options();
	struct grading_key key = { 1, LAYER_POSIX, 5 };
	struct grading grading;
	long long off = 0;
	int64_t excess = 0;

	grading_init(&grading, &options, NULL, NULL);
	for (int i = 0; i < 1000; i++)
		CHECK_INT(grading_add(&grading, key, exponential(i), &excess), -1);
	for (int i = 0; i < 10000; i++)
		CHECK(grading_add(&grading, key, exponential(i), &excess) >= 0);
	REQUIRE(grading.count == 1);
	for (int i = 0; i < SLUICE_SPEEDS; i++) {
		long long got = (long long)grading.kinds[0]->counts[i];

		off = llabs(got - expected[i]) > off ? llabs(got - expected[i]) : off;
	}
	PAPER_HOLDS("SIOX-AC-10", off <= 20, "frequencies within %lld of 10000", off);
	CHECK_INT(grading.kinds[0]->learned, 1000);
	CHECK(llabs(grading.kinds[0]->median_ns - 69315) < 700);
	grading_release(&grading);
}

static void jitter_of_tiny_calls_is_not_an_anomaly(void)
{
	struct grading_key key = { 1, LAYER_POSIX, 0 };
	struct grading grading;
	int64_t excess = 0;

	grading_init(&grading, &grading_defaults, NULL, NULL);
	for (int i = 0; i < 1000; i++)
		grading_add(&grading, key, 1000 + shuffled(i) / 10, &excess);
	CHECK_INT(grading_add(&grading, key, 50 * US, &excess), SLUICE_SLOW);
	CHECK_INT(excess, 0);
	CHECK_INT(grading_add(&grading, key, 101 * US, &excess), SLUICE_VERY_SLOW);
	CHECK_INT(excess, 1 * US);
	CHECK_INT(grading_add(&grading, key, 300, &excess), SLUICE_FAST);
	CHECK_INT(grading_add(&grading, key, 200, &excess), SLUICE_VERY_FAST);
	grading_release(&grading);
}

static void very_slow_is_several_times_the_median(void)
{
	struct grading_key key = { 1, LAYER_POSIX, 0 };
	struct grading grading;
	int64_t excess = 0;

	grading_init(&grading, &grading_defaults, NULL, NULL);
	for (int i = 0; i < 1000; i++)
		grading_add(&grading, key, 10000 * US, &excess);
	CHECK_INT(grading_add(&grading, key, 39000 * US, &excess), SLUICE_SLOW);
	CHECK_INT(grading_add(&grading, key, 46000 * US, &excess), SLUICE_VERY_SLOW);
	grading_release(&grading);
}

static void thresholds_are_updated_only_without_freeze(void)
{
	struct grading_options options = wide_options();
	struct grading_key key = { 1, LAYER_POSIX, 0 };
	struct grading frozen, free_running;
	int64_t excess = 0;

	grading_init(&frozen, &options, NULL, NULL);
	options.is_frozen = false;
	grading_init(&free_running, &options, NULL, NULL);
	for (int i = 0; i < 1000; i++) {
		grading_add(&frozen, key, 10 * US, &excess);
		grading_add(&free_running, key, 10 * US, &excess);
	}
	for (int i = 0; i < 5000; i++) {
		grading_add(&frozen, key, 1000 * US, &excess);
		grading_add(&free_running, key, 1000 * US, &excess);
	}
	CHECK_INT(grading_add(&frozen, key, 1000 * US, &excess), SLUICE_VERY_SLOW);
	CHECK(grading_add(&free_running, key, 1000 * US, &excess) >= SLUICE_SLOW);
	CHECK(free_running.kinds[0]->median_ns > 900 * US);
	grading_release(&frozen);
	grading_release(&free_running);
}

static void kinds_are_bounded_and_the_rest_is_counted(void)
{
	struct grading grading;
	int64_t excess = 0;

	grading_init(&grading, &grading_defaults, NULL, NULL);
	for (int i = 0; i < 3 * GRADING_KEYS_MAX; i++) {
		struct grading_key key = { (uint16_t)(i / 3), LAYER_POSIX, (uint8_t)(i % 3) };

		CHECK_INT(grading_add(&grading, key, 10, &excess), -1);
	}
	CHECK_INT(grading.count, GRADING_KEYS_MAX);
	CHECK_INT(grading.left_out, 2 * GRADING_KEYS_MAX);
	grading_release(&grading);
}

/* What is kept after 1000 learned calls, `usual` later ones, and very slow ones. */
static uint64_t kept_of(int usual, int very_slow)
{
	struct grading_key key = { 1, LAYER_POSIX, 0 };
	static struct durations knowledge;
	struct grading grading;
	int64_t excess = 0;

	grading_init(&grading, &grading_defaults, NULL, NULL);
	for (int i = 0; i < 1000 + usual; i++)
		grading_add(&grading, key, 10 * US, &excess);
	for (int i = 0; i < very_slow; i++)
		grading_add(&grading, key, 10000 * US, &excess);
	grading_knowledge(&grading, grading.kinds[0], &knowledge);
	grading_release(&grading);
	return knowledge.calls;
}

static void an_anomaly_does_not_become_the_norm(void)
{
	CHECK_INT(kept_of(0, 10), 1010);   /* chance */
	CHECK_INT(kept_of(0, 200), 1000);  /* an anomaly */
	CHECK_INT(kept_of(0, 3000), 4000); /* a machine that has changed */
}

static const struct sluice_process processes[] = {
	{ .index = 0, .pid = 100, .rank = -1, .parent = -1, .host = "n1", .program = "/bin/a" },
	{ .index = 1, .pid = 101, .rank = -1, .parent = -1, .host = "n1", .program = "/bin/b" },
};

struct run {
	struct fake_host host;
	void *state;
};

static int run_start(struct run *run, const char *const *options)
{
	fake_host_init(&run->host, options, processes, 2);
	return plugin_histogram.async->start(&run->host.host, &run->state);
}

static void run_calls(struct run *run, const char *name, uint32_t process, int64_t bytes,
		      int64_t duration_ns, int count)
{
	struct activity a = { .process = process, .duration_ns = duration_ns, .result = bytes };

	a.call = fake_host_call_number(name);
	a.layer = call_table[a.call].layer;
	for (int i = 0; i < count; i++)
		plugin_histogram.async->batch(run->state, &a, 1);
}

static void run_end(struct run *run)
{
	plugin_histogram.async->report(run->state);
	plugin_histogram.async->stop(run->state);
}

static void health_is_per_process_and_since_the_last_query(void)
{
	static const char *const options[] = { "learn=100", NULL };
	struct sluice_health health = { 0 };
	struct run run;

	REQUIRE(run_start(&run, options) == 0);
	run_calls(&run, "pwrite64", 0, 4096, 10 * US, 100);
	CHECK(!plugin_histogram.async->health(run.state, 0, &health));
	run_calls(&run, "pwrite64", 0, 4096, 10 * US, 5);
	run_calls(&run, "pwrite64", 1, 4096, 5000 * US, 7);
	CHECK(plugin_histogram.async->health(run.state, 1, &health));
	CHECK_INT(health.counts[SLUICE_VERY_SLOW], 7);
	CHECK(health.excess_ns > 7 * 4800 * US && health.excess_ns < 7 * 5000 * US);
	CHECK(!plugin_histogram.async->health(run.state, 1, &health));
	health = (struct sluice_health){ 0 };
	CHECK(plugin_histogram.async->health(run.state, 0, &health));
	CHECK_INT(health.counts[SLUICE_VERY_SLOW], 0);
	run_end(&run);
	CHECK_INT(fake_host_reported(&run.host, "POSIX pwrite64", "very slow"), 7);
	CHECK_INT(fake_host_reported(&run.host, "POSIX pwrite64", "size class from bytes"), 4096);
	CHECK_INT(fake_host_reported(&run.host, "POSIX pwrite64", "very slow above ns"), 100 * US);
	CHECK_INT(fake_host_reported(&run.host, "calls", "learned from"), 100);
	CHECK_INT(fake_host_reported(&run.host, "calls", "graded"), 12);
	fake_host_release(&run.host);
}

static void sockets_failures_and_other_classes_are_not_graded(void)
{
	static const char *const options[] = { "learn=1", NULL };
	struct activity a = { .duration_ns = 10, .result = 100 };
	struct run run;

	REQUIRE(run_start(&run, options) == 0);
	a.call = fake_host_call_number("read");
	a.layer = LAYER_NETWORK;
	plugin_histogram.async->batch(run.state, &a, 1);
	a.layer = LAYER_POSIX;
	a.error = 5;
	plugin_histogram.async->batch(run.state, &a, 1);
	run_calls(&run, "lseek64", 0, 0, 10, 1);
	run_calls(&run, "inherited", 0, 0, 0, 1);
	run_end(&run);
	CHECK_TEXT(buf_text(&run.host.said), "");
	fake_host_release(&run.host);
}

static void the_next_run_grades_its_first_call(void)
{
	struct sample sample;
	AUTO_FREE char *store = NULL;
	const char *options[] = { NULL, "learn=100", NULL };
	struct run run;

	sample_make(&sample);
	options[0] = store = xprintf("store=%s", sample.path);
	REQUIRE(run_start(&run, options) == 0);
	run_calls(&run, "pwrite64", 0, 4096, 10 * US, 150);
	run_end(&run);
	CHECK_INT(fake_host_reported(&run.host, "kinds", "known from earlier runs"), 0);
	fake_host_release(&run.host);
	REQUIRE(run_start(&run, options) == 0);
	run_calls(&run, "pwrite64", 0, 4096, 5000 * US, 1);
	run_calls(&run, "pwrite64", 0, 1 << 20, 5000 * US, 1);
	run_end(&run);
	CHECK_INT(fake_host_reported(&run.host, "kinds", "known from earlier runs"), 1);
	CHECK_INT(fake_host_reported(&run.host, "calls", "graded"), 1);
	CHECK_INT(fake_host_reported(&run.host, "POSIX pwrite64", "very slow"), 1);
	CHECK_TEXT(buf_text(&run.host.warned), "");
	fake_host_release(&run.host);
	sample_remove(&sample);
}

static void an_unusable_store_causes_one_warning(void)
{
	static const char *const options[] = { "store=/proc/nothing/store.db", "learn=10", NULL };
	struct run run;

	REQUIRE(run_start(&run, options) == 0);
	run_calls(&run, "pwrite64", 0, 4096, 10 * US, 50);
	run_end(&run);
	CHECK_INT(fake_host_reported(&run.host, "calls", "graded"), 40);
	CHECK(strstr(buf_text(&run.host.warned), "/proc/nothing"));
	CHECK(strchr(buf_text(&run.host.warned), '\n')[1] == 0);
	fake_host_release(&run.host);
}

static void an_invalid_option_is_refused_by_name(void)
{
	static const char *const wrong[][2] = {
		{ "learn=0", "plugin.histogram.learn" },
		{ "learn=many", "\"many\"" },
		{ "quantiles=1 10 90", "plugin.histogram.quantiles" },
		{ "quantiles=10 1 90 99", "plugin.histogram.quantiles" },
		{ "factor=0.5", "plugin.histogram.factor" },
		{ "floor=soon", "time|100us" },
		{ "freeze=perhaps", "yes|no" },
		{ "classes=read wrlte", "plugin.histogram.classes" },
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		const char *const options[] = { wrong[i][0], NULL };
		struct run run;

		CHECK(run_start(&run, options) < 0);
		CHECK_WORDS(buf_text(&run.host.warned), wrong[i][1]);
		fake_host_release(&run.host);
	}
}

TESTS(TEST(grades_have_the_shares_of_their_quantiles), TEST(jitter_of_tiny_calls_is_not_an_anomaly),
      TEST(very_slow_is_several_times_the_median), TEST(thresholds_are_updated_only_without_freeze),
      TEST(kinds_are_bounded_and_the_rest_is_counted), TEST(an_anomaly_does_not_become_the_norm),
      TEST(health_is_per_process_and_since_the_last_query),
      TEST(sockets_failures_and_other_classes_are_not_graded),
      TEST(the_next_run_grades_its_first_call), TEST(an_unusable_store_causes_one_warning),
      TEST(an_invalid_option_is_refused_by_name))
