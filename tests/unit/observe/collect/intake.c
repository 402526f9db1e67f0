/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/collect/intake.h"

#include "check.h"
#include "trace/head.h"

/* A program may overwrite the times in its spool; run/spool_damage does. */
static void times_stay_within_what_readers_accept(void)
{
	struct run_clock nanoseconds = { .num = 1, .den = 1 };
	struct run_clock slow = { .num = 1000, .den = 24 }, fast = { .num = 1, .den = 3 };

	CHECK_INT(intake_ns(&nanoseconds, 5), 5);
	CHECK_INT(intake_ns(&slow, 24), 1000);
	CHECK_INT(intake_ns(&fast, 9), 3);
	CHECK_INT(intake_ns(&nanoseconds, UINT64_MAX), HEAD_TIME_MAX);
	CHECK_INT(intake_ns(&nanoseconds, INT64_MAX), HEAD_TIME_MAX);
	CHECK_INT(intake_ns(&slow, UINT64_MAX), HEAD_TIME_MAX);
	CHECK_INT(intake_ns(&fast, UINT64_MAX), HEAD_TIME_MAX);
}

TESTS(TEST(times_stay_within_what_readers_accept))
