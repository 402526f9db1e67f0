/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/diagnose/replay.h"

#include "check.h"
#include "observe/tally/traffic.h"

static void requests_take_longer_with_more_bytes(void)
{
	for (int way = READING; way <= WRITING; way++) {
		struct replay small, large;

		REQUIRE(replay_measure(way, 100, &small) == 0);
		REQUIRE(replay_measure(way, REPLAY_LARGE / 2, &large) == 0);
		CHECK(small.request_ns > 0 && small.byte_ns > 0);
		CHECK(large.request_ns > 10 * small.request_ns);
		CHECK(small.request_ns > 2 * 100 * small.byte_ns); /* there is a fixed part */
	}
}

static void sizes_are_limited(void)
{
	struct replay none, huge;

	REQUIRE(replay_measure(WRITING, 0, &none) == 0);
	REQUIRE(replay_measure(WRITING, UINT64_MAX, &huge) == 0);
	CHECK(none.request_ns > 0);
	CHECK_NEAR(huge.request_ns / (huge.byte_ns * (double)REPLAY_LARGE), 1, 0.9);
}

TESTS(TEST(requests_take_longer_with_more_bytes), TEST(sizes_are_limited))
