/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/chain/requests.h"

#include "check.h"
#include "contract/record.h"

#define ID(thread, seq) id_make(thread, seq)

static void calls_belong_to_the_latest_request_of_their_thread(void)
{
	struct requests r = { 0 };

	requests_switch(&r, 3, ID(1, 10), 100, 7);
	requests_switch(&r, 3, ID(1, 20), 200, 8);
	requests_switch(&r, 3, ID(1, 30), 300, 0);
	CHECK_INT(requests_find(&r, 3, ID(1, 9), 0), 0);
	CHECK_INT(requests_find(&r, 3, ID(1, 10), 0), 7);
	CHECK_INT(requests_find(&r, 3, ID(1, 19), 0), 7);
	CHECK_INT(requests_find(&r, 3, ID(1, 21), 0), 8);
	CHECK_INT(requests_find(&r, 3, ID(1, 30), 0), 0);
	CHECK_INT(requests_find(&r, 3, ID(1, 99), 0), 0);
	CHECK_INT(requests_find(&r, 3, ID(2, 15), 0), 0);
	CHECK_INT(requests_find(&r, 4, ID(1, 15), 0), 0);
	CHECK_INT(requests_now(&r, 3, ID(1, 1)), 0);
	CHECK_INT(requests_end(&r, 3, ID(1, 10)), 200);
	CHECK(requests_end(&r, 3, ID(1, 30)) == INT64_MAX);
	requests_release(&r);
}

static void enclosed_calls_belong_to_the_call_around_them(void)
{
	struct requests r = { 0 };

	requests_switch(&r, 0, ID(0, 10), 100, 1);
	/* Call 12 is made for the request, and 13 by call 12. */
	CHECK_INT(requests_find(&r, 0, ID(0, 12), 0), 1);
	CHECK_INT(requests_find(&r, 0, ID(0, 13), ID(0, 12)), 0);
	/* A call around the whole loop of a server had begun before. */
	CHECK_INT(requests_find(&r, 0, ID(0, 13), ID(0, 2)), 1);
	CHECK_INT(requests_find(&r, 0, ID(0, 13), ID(5, 2)), 0);
	requests_release(&r);
}

static void threads_without_requests_need_no_memory(void)
{
	struct requests r = { 0 };

	requests_switch(&r, 0, ID(0, 1), 1, 0);
	CHECK_INT(r.threads.count, 0);
	requests_release(&r);
}

TESTS(TEST(calls_belong_to_the_latest_request_of_their_thread),
      TEST(enclosed_calls_belong_to_the_call_around_them),
      TEST(threads_without_requests_need_no_memory))
