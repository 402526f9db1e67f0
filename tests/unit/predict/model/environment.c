/* SPDX-License-Identifier: BSD-3-Clause */
#include "predict/model/environment.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "check.h"
#include "learn/file/blob.h"

static const struct environment then = { .time_s = 1700000000,
					 .load = 1,
					 .cores = 4,
					 .host = "here",
					 .kernel = "6.1",
					 .library = "/lib/libmpi.so",
					 .version = "MPI 4",
					 .build = "abc" };

static char *compare(const struct environment *now, struct buf *out)
{
	buf_clear(out);
	environment_compare(&then, now, out);
	return (char *)buf_text(out);
}

static void equal_circumstances_raise_no_doubt(void)
{
	AUTO_BUF struct buf out = { 0 };
	struct environment now = then;

	now.time_s += 3 * 86400;
	now.load = 2;
	CHECK_TEXT(compare(&now, &out), "");
}

static void an_old_model_says_its_age(void)
{
	AUTO_BUF struct buf out = { 0 };
	struct environment now = then;

	now.time_s += (int64_t)ENVIRONMENT_DAYS * 86400;
	CHECK(strstr(compare(&now, &out), "30 days old"));
}

static void another_load_raises_doubt_in_both_directions(void)
{
	AUTO_BUF struct buf out = { 0 };
	struct environment now = then, idle = then;

	now.load = 12;
	CHECK(strstr(compare(&now, &out), "3.0 per core"));
	buf_clear(&out);
	environment_compare(&now, &idle, &out);
	CHECK(strstr(buf_text(&out), "0.2 per core"));
	now.load = NAN;
	CHECK_TEXT(compare(&now, &out), "");
}

static void another_library_or_kernel_raises_doubt(void)
{
	AUTO_BUF struct buf out = { 0 };
	struct environment now = then;

	snprintf(now.build, sizeof(now.build), "def");
	CHECK(strstr(compare(&now, &out), "/lib/libmpi.so has changed"));
	now.build[0] = 0;
	CHECK(strstr(compare(&now, &out), "no longer exists"));
	now = then;
	snprintf(now.kernel, sizeof(now.kernel), "6.2");
	CHECK(strstr(compare(&now, &out), "6.2"));
}

static void other_hosts_are_not_compared(void)
{
	AUTO_BUF struct buf out = { 0 };
	struct environment now = then;

	snprintf(now.host, sizeof(now.host), "there");
	now.load = 100;
	now.build[0] = 0;
	CHECK(strstr(compare(&now, &out), "host here"));
	CHECK(!strstr(buf_text(&out), "per core"));
}

static void this_host_is_described_and_saved(void)
{
	AUTO_BUF struct buf out = { 0 };
	struct environment now, again;
	struct blob blob;

	environment_detect(&now, "/proc/self/exe", "itself");
	CHECK(now.time_s > 1700000000 && now.cores > 0 && *now.host && *now.kernel && *now.build);
	environment_save(&now, &out);
	blob_init(&blob, out.data, out.len);
	environment_load(&again, &blob);
	CHECK(blob_ok(&blob) && blob.at == blob.end);
	CHECK_TEXT(again.library, "/proc/self/exe");
	CHECK_TEXT(again.build, now.build);
	CHECK(again.load == now.load && again.time_s == now.time_s);
}

TESTS(TEST(equal_circumstances_raise_no_doubt), TEST(an_old_model_says_its_age),
      TEST(another_load_raises_doubt_in_both_directions),
      TEST(another_library_or_kernel_raises_doubt), TEST(other_hosts_are_not_compared),
      TEST(this_host_is_described_and_saved))
