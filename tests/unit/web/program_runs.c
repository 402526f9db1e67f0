/* SPDX-License-Identifier: BSD-3-Clause */
#include "web/program_runs.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "check.h"

static void check_pattern(const char *arguments, const char *expected)
{
	AUTO_FREE char *pattern = program_runs_pattern(arguments);

	CHECK_TEXT(pattern, expected);
}

static void names_of_files_are_compared_without_numbers(void)
{
	check_pattern("", "");
	check_pattern("-i in.dat -o out-20261117.dat", "-i in.dat -o out-{number}.dat");
	check_pattern("/scratch/job1234567/x", "/scratch/job{number}/x");
}

/* Sizes decide how much a program reads and writes: runs with different ones are not comparable. */
static void numbers_are_arguments(void)
{
	check_pattern("--size 1048576 1048576", "--size 1048576 1048576");
	check_pattern("--size=16777216  -x 0.123456789", "--size=16777216  -x 0.123456789");
}

static void a_run_without_figures_knows_only_its_duration(void)
{
	struct program_run run = { .duration_ns = 5, .is_comparable = true, .group = "a" };

	CHECK_NEAR(program_run_value(&run, TREND_DURATION), 5, 0);
	CHECK(isnan(program_run_value(&run, TREND_CALLS)));
	CHECK(!program_run_is_tested(&run, "a"));
	run.has_figures = true;
	CHECK(program_run_is_tested(&run, "a"));
	CHECK(!program_run_is_tested(&run, "b"));
	/* Without any I/O there is no throughput. */
	CHECK(isnan(program_run_value(&run, TREND_THROUGHPUT)));
	run.figures = (struct run_figures){ .io_ns = 5e8, .calls = 3, .bytes_read = 100 };
	CHECK_NEAR(program_run_value(&run, TREND_THROUGHPUT), 200, 1e-9);
	CHECK_NEAR(program_run_value(&run, TREND_CALLS), 3, 0);
	run.is_comparable = false;
	CHECK(!program_run_is_tested(&run, "a"));
}

TESTS(TEST(names_of_files_are_compared_without_numbers), TEST(numbers_are_arguments),
      TEST(a_run_without_figures_knows_only_its_duration))
