/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/plugins/expected.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "fake_plugin_host.h"
#include "policy/knowledge_page.h"
#include "store/durations.h"

#define MS 1000000

static const struct sluice_process processes[] = {
	{ .index = 0, .rank = -1, .host = "n1", .program = "/bin/app", .command = "app -x" },
};

enum { NO_FILE, SCRATCH, HOME, FILES };
static const char *const files[] = { "", "/scratch/x", "/home/x" };

static char page_path[64], option[80];
static const char *const options[] = { option, NULL };

struct run {
	struct fake_host host;
	void *state;
	int64_t offset;
};

static void expect(struct knowledge_page *page, const char *program, const char *filesystem,
		   const char *pattern, const char *call, uint64_t bytes, int64_t median_ns)
{
	struct knowledge_duration d = { knowledge_duration_key(program, filesystem, pattern,
							       "POSIX", call,
							       durations_size_class(bytes)),
					1000, (uint64_t)median_ns, (uint64_t)(10 * median_ns) };

	knowledge_page_add_duration(page, filesystem, &d);
}

/* What is known of writes of 4096 bytes: 1 ms, on /scratch 2 ms; of all programs, also of reads. */
static void publish(void)
{
	struct knowledge_page page = { 0 };
	struct err err = { 0 };

	expect(&page, "app", "", "sequential", "pwrite64", 4096, MS);
	expect(&page, "app", "/scratch", "sequential", "pwrite64", 4096, 2 * MS);
	expect(&page, "*", "/scratch", "sequential", "pwrite64", 4096, 50 * MS);
	expect(&page, "*", "", "sequential", "pread64", 4096, 3 * MS);
	REQUIRE(knowledge_page_publish(&page, page_path, &err) >= 0);
	knowledge_page_release(&page);
}

static void run_start(struct run *run, const char *const *with)
{
	*run = (struct run){ 0 };
	fake_host_init(&run->host, with, processes, 1);
	run->host.files = files;
	run->host.file_count = FILES;
	if (plugin_expected.async->start(&run->host.host, &run->state) < 0)
		run->state = NULL;
}

/* Makes `count` accesses, each after the other one. */
static void call(struct run *run, const char *name, file_id file, int64_t ns, int count)
{
	for (int i = 0; i < count; i++) {
		struct activity a = { .call = fake_host_call_number(name),
				      .layer = LAYER_POSIX,
				      .file = file,
				      .size = 4096,
				      .result = 4096,
				      .offset = run->offset,
				      .duration_ns = ns,
				      .present =
					      PRESENT(SIZE) | PRESENT(RESULT) | PRESENT(OFFSET) };

		plugin_expected.async->batch(run->state, &a, 1);
		run->offset += 4096;
	}
}

static void check_said(const struct run *run, const char *text)
{
	if (!strstr(buf_text(&run->host.said), text))
		CHECK_TEXT(buf_text(&run->host.said), text);
}

static void run_end(struct run *run)
{
	plugin_expected.async->report(run->state);
	plugin_expected.async->stop(run->state);
}

static void begin(void)
{
	snprintf(page_path, sizeof(page_path), "expected-test-%d", (int)getpid());
	snprintf(option, sizeof(option), "page=%s", page_path);
	publish();
}

static void slower_calls_are_named_with_their_expectation(void)
{
	struct sluice_health health = { 0 };
	struct run run;

	run_start(&run, options);
	REQUIRE(run.state);
	call(&run, "pwrite64", SCRATCH, 2 * MS, 81);
	call(&run, "pwrite64", SCRATCH, 30 * MS, 10);
	call(&run, "pwrite64", SCRATCH, 50 * MS, 10);
	CHECK(plugin_expected.async->health(run.state, 0, &health));
	CHECK_INT(health.counts[SLUICE_NORMAL], 80);
	CHECK_INT(health.counts[SLUICE_SLOW], 10);
	CHECK_INT(health.counts[SLUICE_VERY_SLOW], 10);
	CHECK_INT(health.excess_ns, 480 * MS);
	CHECK(!plugin_expected.async->health(run.state, 0, &health));
	run_end(&run);
	/* The first access of a file has no pattern, and nothing is known of such accesses. */
	CHECK_INT(fake_host_reported(&run.host, "calls", "compared"), 100);
	CHECK_INT(fake_host_reported(&run.host, "calls", "without expectation"), 1);
	check_said(
		&run,
		"POSIX pwrite64 on /scratch|20.0% of 100 calls took more than 20.0 ms; median 2.05 ms, "
		"expected 2.00 ms from 1000 calls of app on /scratch");
	CHECK_TEXT(buf_text(&run.host.warned), "");
	fake_host_release(&run.host);
}

/* Without its own expectation, a call is compared with that of all file systems or programs. */
static void the_most_specific_expectation_counts(void)
{
	struct run run;

	run_start(&run, options);
	call(&run, "pwrite64", HOME, 15 * MS, 101);
	run.offset = 0;
	call(&run, "pread64", SCRATCH, 40 * MS, 101);
	call(&run, "fsync", SCRATCH, 40 * MS, 5);
	run_end(&run);
	CHECK_INT(fake_host_reported(&run.host, "calls", "compared"), 200);
	CHECK_INT(fake_host_reported(&run.host, "calls", "without expectation"), 7);
	check_said(&run, "POSIX pwrite64|100.0% of 100 calls took more than 10.0 ms; median 15.2 ms, "
			 "expected 1.00 ms from 1000 calls of app\n");
	check_said(&run, "POSIX pread64 on /scratch|100.0% of 100 calls took more than 30.0 ms; "
			 "median 39.8 ms, expected 3.00 ms from 1000 calls of all programs\n");
	fake_host_release(&run.host);
}

static void calls_as_expected_are_not_named(void)
{
	static const char *const high[] = { option, "floor=1s", NULL };
	struct run run;

	run_start(&run, options);
	call(&run, "pwrite64", SCRATCH, 2 * MS, 101);
	call(&run, "pwrite64", SCRATCH, 50 * MS, 4);
	run_end(&run);
	CHECK(!strstr(buf_text(&run.host.said), "slower"));
	fake_host_release(&run.host);
	run_start(&run, high);
	call(&run, "pwrite64", SCRATCH, 900 * MS, 101);
	run_end(&run);
	CHECK(!strstr(buf_text(&run.host.said), "slower"));
	fake_host_release(&run.host);
}

static void without_a_page_nothing_is_said(void)
{
	static const char *const missing[] = { "page=/nonexistent/knowledge", NULL };
	struct run run;

	run_start(&run, missing);
	REQUIRE(run.state);
	call(&run, "pwrite64", SCRATCH, 900 * MS, 101);
	run_end(&run);
	CHECK_TEXT(buf_text(&run.host.said), "");
	CHECK_TEXT(buf_text(&run.host.warned), "");
	fake_host_release(&run.host);
}

static void bad_pages_and_options_are_reported(void)
{
	static const char *const factor[] = { "factor=0", NULL }, *const floor[] = { "floor=x",
										     NULL };
	struct run run;

	REQUIRE(truncate(page_path, 1000) == 0);
	run_start(&run, options);
	REQUIRE(run.state);
	call(&run, "pwrite64", SCRATCH, 900 * MS, 101);
	run_end(&run);
	CHECK_WORDS(buf_text(&run.host.warned), page_path);
	fake_host_release(&run.host);
	run_start(&run, factor);
	CHECK(!run.state);
	CHECK_WORDS(buf_text(&run.host.warned), "plugin.expected.factor");
	fake_host_release(&run.host);
	run_start(&run, floor);
	CHECK(!run.state);
	fake_host_release(&run.host);
	REQUIRE(unlink(page_path) == 0);
}

TESTS(TEST(begin), TEST(slower_calls_are_named_with_their_expectation),
      TEST(the_most_specific_expectation_counts), TEST(calls_as_expected_are_not_named),
      TEST(without_a_page_nothing_is_said), TEST(bad_pages_and_options_are_reported))
