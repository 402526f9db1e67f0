/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/trial/conditions.h"

#include <math.h>
#include <unistd.h>

#include "check.h"

static void busy_time_excludes_idle_and_waiting(void)
{
	double tick = 1 / (double)sysconf(_SC_CLK_TCK);

	CHECK(fabs(conditions_busy_s("cpu  1 2 4 1000 2000 8 16 32 0 0\ncpu0 1 1 1 1\n") -
		   63 * tick) < 1e-9);
	CHECK(isnan(conditions_busy_s("nothing\n")));
}

static void a_share_is_between_0_and_1_or_unknown(void)
{
	struct conditions conditions;

	conditions_begin(&conditions);
	conditions_end(&conditions);
	CHECK(isnan(conditions.foreign) || (conditions.foreign >= 0 && conditions.foreign <= 1));
	CHECK(conditions_cores() >= 1);
}

TESTS(TEST(busy_time_excludes_idle_and_waiting), TEST(a_share_is_between_0_and_1_or_unknown))
