/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: WAN-14, WAN-15.
 */
#include "predict/forecast/states/description.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "check.h"
#include "learn/math/random.h"
#include "predict/forecast/chronicle/chronicle.h"

static const uint64_t sizes[] = { 1u << 20, 1u << 30 };

/* Durations around some centers, each with a spread of 5 %. */
struct center {
	double seconds, share;
};

static struct chronicle chronicle_of(const struct center *centers, size_t count, size_t writes)
{
	struct chronicle chronicle;
	struct random random;

	random_init(&random, 4);
	chronicle_init(&chronicle, "here", sizes, 2);
	chronicle_add_target(&chronicle, "a");
	for (size_t i = 0; i < writes; i++) {
		double place = random_real(&random);
		size_t c = 0;

		for (; c + 1 < count && place >= centers[c].share; c++)
			place -= centers[c].share;
		chronicle_add(&chronicle, 0, 1, 60 * (double)i,
			      centers[c].seconds * exp(0.05 * random_normal(&random)), SAMPLE_DONE,
			      SAMPLE_DIRECT);
	}
	return chronicle;
}

static void number_of_states_is_that_of_the_data(void)
{
	static const struct center centers[] = { { 1.85, 0.6 }, { 2.7, 0.37 }, { 9, 0.03 } };
	static const double shares[3][3] = { { 1 }, { 0.6 }, { 0.6, 0.37 } };
	static const char *const names[3][3] = { { "single" },
						 { "idle", "busy" },
						 { "idle", "busy", "tail" } };

	for (size_t count = 1; count <= 3; count++) {
		struct center some[3];
		struct description_writes writes;
		struct chronicle chronicle;

		memcpy(some, centers, sizeof(some));
		for (size_t c = 0; c < count; c++)
			some[c].share = shares[count - 1][c];
		chronicle = chronicle_of(some, count, 3000);
		description_writes_init(&writes, &chronicle, 1);
		REQUIRE(writes.has_states);
		CHECK_INT(writes.count, 3000);
		REQUIRE(writes.mixture.count == count);
		for (size_t c = 0; c < count; c++) {
			CHECK_TEXT(description_state(&writes.mixture, c), names[count - 1][c]);
			CHECK(fabs(description_mode(&writes.mixture, c) / centers[c].seconds - 1) <
			      0.03);
		}
		description_writes_release(&writes);
		chronicle_release(&chronicle);
	}
}

static void rare_fast_writes_are_cached(void)
{
	static const struct center centers[] = { { 0.2, 0.02 }, { 1.85, 0.6 }, { 2.7, 0.38 } };
	struct chronicle chronicle = chronicle_of(centers, 3, 3000);
	struct description_writes writes;

	description_writes_init(&writes, &chronicle, 1);
	REQUIRE(writes.has_states && writes.mixture.count == 3);
	CHECK_TEXT(description_state(&writes.mixture, 0), "cached");
	CHECK_TEXT(description_state(&writes.mixture, 1), "idle");
	CHECK_TEXT(description_state(&writes.mixture, 2), "busy");
	description_writes_release(&writes);
	chronicle_release(&chronicle);
}

static void failures_are_counted_and_few_writes_have_no_states(void)
{
	static const struct center centers[] = { { 1, 1 } };
	struct chronicle chronicle = chronicle_of(centers, 1, DESCRIPTION_LEAST - 1);
	struct description_writes writes;

	chronicle_add(&chronicle, 0, 1, 1e6, 30, SAMPLE_TIMEOUT, SAMPLE_DIRECT);
	chronicle_add(&chronicle, 0, 1, 2e6, 0, SAMPLE_FAILED, SAMPLE_DIRECT);
	description_writes_init(&writes, &chronicle, 1);
	CHECK(!writes.has_states);
	CHECK_INT(writes.count, DESCRIPTION_LEAST - 1);
	CHECK_INT(writes.timeouts, 1);
	CHECK_INT(writes.failed, 1);
	description_writes_release(&writes);
	description_writes_init(&writes, &chronicle, 0);
	CHECK_INT(writes.count, 0);
	description_writes_release(&writes);
	chronicle_release(&chronicle);
}

/* A job that is in several snapshots counts once, with its longest run time. */
static void jobs_count_once(void)
{
	struct chronicle chronicle;
	struct description_jobs jobs;

	chronicle_init(&chronicle, "here", sizes, 2);
	for (int i = 0; i < 3; i++) {
		struct jobs snapshot = { .time_s = 43200.0 * i };

		for (int j = 0; j <= i; j++) {
			struct job *job = jobs_add(&snapshot);

			free(job->id);
			job->id = xprintf("%d", j);
			job->nodes = 1 + 10 * j;
			job->used_s = 43200.0 * (i - j);
		}
		chronicle_add_jobs(&chronicle, &snapshot);
	}
	description_jobs_init(&jobs, &chronicle);
	REQUIRE(jobs.count == 3);
	CHECK(jobs.days == 1);
	CHECK(jobs.nodes[0] == 1 && jobs.nodes[2] == 21);
	CHECK(jobs.seconds[0] == 86400 && jobs.seconds[1] == 43200 && jobs.seconds[2] == 0);
	CHECK(isnan(jobs.memory_bytes[0]));
	description_jobs_release(&jobs);
	chronicle_release(&chronicle);
}

TESTS(TEST(number_of_states_is_that_of_the_data), TEST(rare_fast_writes_are_cached),
      TEST(failures_are_counted_and_few_writes_have_no_states), TEST(jobs_count_once))
