/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/stats/window.h"

#include <math.h>

#include "base/clock.h"
#include "check.h"

/* A level and a counter, sampled every second from the first second on. */
static struct statistic_info statistics[] = {
	{ .number = 0, .name = "memory/used", .unit = "bytes", .reduction = "mean", .scale = 10 },
	{ .number = 1, .name = "io/vda/read", .unit = "bytes", .reduction = "sum", .scale = 1 },
};
static struct stat_sample samples[] = {
	{ 0, 1 * NS_PER_S, NS_PER_S, 100 },	 { 0, 2 * NS_PER_S, NS_PER_S, 300 },
	{ 0, 6 * NS_PER_S, NS_PER_S, 500 },	 { 1, 1 * NS_PER_S, NS_PER_S, 1000 },
	{ 1, 4 * NS_PER_S, 3 * NS_PER_S, 6000 }, { 1, 5 * NS_PER_S, 0, 7 },
};
static const struct trace_head head = { .statistics = statistics,
					.statistic_count = 2,
					.samples = samples,
					.sample_count = sizeof(samples) / sizeof(samples[0]) };

static void a_level_is_the_mean_of_its_samples(void)
{
	double values[4];

	window_course(&head, 0, 0, 8 * NS_PER_S, 4, values);
	CHECK(values[0] == 20 && isnan(values[1]) && values[2] == 50 && isnan(values[3]));
	window_course(&head, 0, NS_PER_S, 2 * NS_PER_S, 1, values);
	CHECK(values[0] == 30);
}

/* 6000 bytes in three seconds are 2000 per second in each bin that they overlap. */
static void a_counter_is_a_rate(void)
{
	double values[8];

	window_course(&head, 1, 0, 8 * NS_PER_S, 8, values);
	CHECK(values[0] == 1000 && values[1] == 2000 && values[2] == 2000 && values[3] == 2000);
	for (int i = 4; i < 8; i++)
		CHECK(isnan(values[i]));
}

static void a_window_outside_of_all_samples_has_no_values(void)
{
	double values[3];

	window_course(&head, 1, 100 * NS_PER_S, 103 * NS_PER_S, 3, values);
	CHECK(isnan(values[0]) && isnan(values[1]) && isnan(values[2]));
}

static void figures_and_course_agree(void)
{
	struct window_figure *figures = window_new(&head, 0, 8 * NS_PER_S);
	double value;

	window_course(&head, 1, 0, 8 * NS_PER_S, 1, &value);
	CHECK(fabs(value - figures[1].mean) < 1e-9 && figures[1].total == 7000);
	free(figures);
}

TESTS(TEST(a_level_is_the_mean_of_its_samples), TEST(a_counter_is_a_rate),
      TEST(a_window_outside_of_all_samples_has_no_values), TEST(figures_and_course_agree))
