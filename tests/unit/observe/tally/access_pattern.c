/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/tally/access_pattern.h"

#include "check.h"
#include "trace/format.h"

static const char *add(struct access_tracker *tracker, uint32_t process, file_id file,
		       int64_t offset, uint64_t bytes)
{
	struct activity a = { .process = process,
			      .file = file,
			      .offset = offset,
			      .present = offset < 0 ? 0 : PRESENT(OFFSET) };

	return access_pattern_name(access_tracker_add(tracker, &a, bytes));
}

static void accesses_are_told_apart_by_the_previous_one(void)
{
	struct access_tracker tracker = { 0 };

	CHECK_TEXT(add(&tracker, 0, 1, 100, 10), "other");
	CHECK_TEXT(add(&tracker, 0, 1, 110, 10), "sequential");
	CHECK_TEXT(add(&tracker, 0, 1, 150, 10), "random");
	CHECK_TEXT(add(&tracker, 0, 1, 190, 10), "strided");
	CHECK_TEXT(add(&tracker, 0, 1, 0, 10), "random");
	/* Of another process, of another file, without a position, without a file. */
	CHECK_TEXT(add(&tracker, 1, 1, 10, 10), "other");
	CHECK_TEXT(add(&tracker, 0, 2, 10, 10), "other");
	CHECK_TEXT(add(&tracker, 0, 1, -1, 10), "other");
	CHECK_TEXT(add(&tracker, 0, 0, 10, 10), "other");
	CHECK_TEXT(add(&tracker, 0, 1, 10, 10), "sequential");
	access_tracker_release(&tracker);
}

static void positions_are_bounded(void)
{
	struct access_tracker tracker = { .limit = 2 };

	for (file_id file = 1; file < 4; file++)
		add(&tracker, 0, file, 0, 10);
	CHECK_TEXT(add(&tracker, 0, 1, 10, 10), "sequential");
	CHECK_TEXT(add(&tracker, 0, 2, 10, 10), "sequential");
	CHECK_TEXT(add(&tracker, 0, 3, 10, 10), "other");
	access_tracker_release(&tracker);
}

/* Numbers of a damaged trace. */
static void large_positions_wrap(void)
{
	struct access_tracker tracker = { 0 };

	add(&tracker, 0, 1, INT64_MAX, UINT64_MAX);
	add(&tracker, 0, 1, 0, UINT64_MAX);
	CHECK_TEXT(add(&tracker, 0, 1, INT64_MAX, 1), "random");
	access_tracker_release(&tracker);
}

TESTS(TEST(accesses_are_told_apart_by_the_previous_one), TEST(positions_are_bounded),
      TEST(large_positions_wrap))
