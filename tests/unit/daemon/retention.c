/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/retention.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/place.h"
#include "check.h"

#define DAY_NS (86400 * NS_PER_S)
#define UUID "0123456789abcdef0123456789abcdef"

static char *directory;

static char *path_of(const char *user, const char *name)
{
	return xprintf("%s/%s/%s", directory, user, name);
}

/* Creates a file of `bytes` bytes that was changed `days` ago. */
static void put(const char *user, const char *name, size_t bytes, int days)
{
	AUTO_FREE char *path = path_of(user, name), *above = xprintf("%s/%s", directory, user);
	AUTO_FREE char *content = xcalloc(1, bytes + 1);
	int64_t ns = clock_realtime_ns() - days * DAY_NS;
	struct timespec times[2] = { { ns / NS_PER_S, ns % NS_PER_S },
				     { ns / NS_PER_S, ns % NS_PER_S } };

	mkdir(above, 0700);
	CHECK_INT(file_write_all(path, content, bytes, NULL), 0);
	CHECK_INT(utimensat(AT_FDCWD, path, times, 0), 0);
}

static bool has(const char *user, const char *name)
{
	AUTO_FREE char *path = path_of(user, name);

	return place_exists(path);
}

static void begin(void)
{
	free(directory);
	directory = place_join(check_directory(), "traces");
	file_remove_tree(directory);
	CHECK_INT(mkdir(directory, 0700), 0);
}

static void oldest_traces_exceed_the_size_first(void)
{
	struct retention_limits limits = { .bytes = 250 };
	struct retention_totals totals;

	begin();
	put("1", "b.sluice", 100, 2);
	put("2", "a.sluice", 100, 3);
	put("2", "c.sluice", 100, 1);
	put("2", "a.sluice.about", 10, 3);
	totals = retention_apply(directory, &limits);
	CHECK_INT(totals.traces, 2);
	CHECK_INT(totals.removed, 1);
	CHECK_INT(totals.removed_unsent, 0);
	CHECK(!has("2", "a.sluice") && !has("2", "a.sluice.about"));
	CHECK(has("1", "b.sluice") && has("2", "c.sluice"));
}

/* A run that never got a trace; that of a run that is being collected stays. */
static void descriptions_without_a_run_are_removed(void)
{
	struct retention_limits limits = { 0 };

	begin();
	put("1", UUID ".about", 10, 1);
	put("2", UUID ".about", 10, 1);
	put("2", UUID ".ledger", 10, 1);
	put("3", UUID ".about", 10, 0);
	put("3", "a.sluice.about", 10, 1);
	retention_apply(directory, &limits);
	CHECK(!has("1", UUID ".about"));
	CHECK(has("2", UUID ".about") && has("3", UUID ".about") && has("3", "a.sluice.about"));
}

static void traces_that_the_database_lacks_are_removed_last(void)
{
	struct retention_limits limits = { .bytes = 150, .has_database = true };
	struct retention_totals totals;

	begin();
	put("1", "old.sluice", 100, 9);
	put("1", "new.sluice", 100, 1);
	put("1", "new.sluice.sent", 0, 1);
	totals = retention_apply(directory, &limits);
	CHECK(has("1", "old.sluice") && !has("1", "new.sluice") && !has("1", "new.sluice.sent"));
	CHECK_INT(totals.removed_unsent, 0);
	limits.bytes = 50;
	totals = retention_apply(directory, &limits);
	CHECK_INT(totals.removed, 1);
	CHECK_INT(totals.removed_unsent, 1);
	CHECK_INT(totals.traces, 0);
}

static void age_is_limited(void)
{
	struct retention_limits limits = { .age_ns = 5 * DAY_NS };

	begin();
	put("1", "old.sluice", 1, 6);
	put("1", "new.sluice", 1, 4);
	put("1", "ticket.copy", 1, 1);
	put("1", "fresh.copy", 1, 0);
	CHECK_INT(retention_apply(directory, &limits).removed, 1);
	CHECK(!has("1", "old.sluice") && has("1", "new.sluice"));
	CHECK(!has("1", "ticket.copy") && has("1", "fresh.copy"));
}

static void runs_that_are_collected_count_but_stay(void)
{
	struct retention_limits limits = { .bytes = 100 };
	struct retention_totals totals;

	begin();
	put("1", UUID ".partial.0", 500, 9);
	put("1", "a.sluice", 100, 1);
	totals = retention_apply(directory, &limits);
	CHECK_INT(totals.bytes, 500);
	CHECK_INT(totals.removed, 1);
	CHECK(has("1", UUID ".partial.0"));
}

static void more_traces_than_a_batch_are_limited(void)
{
	struct retention_limits limits = { .bytes = 10 };

	begin();
	for (int i = 0; i < 2 * RETENTION_BATCH + 100; i++) {
		char name[32];

		snprintf(name, sizeof(name), "%d.sluice", i);
		put("1", name, 1, i ? 1 : 0);
	}
	CHECK_INT(retention_apply(directory, &limits).traces, 10);
	CHECK(has("1", "0.sluice"));
}

static void a_run_or_a_user_is_forgotten(void)
{
	int64_t now = clock_realtime_ns();

	begin();
	put("1", "x-" UUID ".sluice", 1, 2);
	put("1", "x-" UUID ".sluice.sent", 1, 2);
	put("1", "y.sluice", 1, 2);
	put("2", "z.sluice", 1, 2);
	CHECK_INT(retention_forget(directory, false, 0, UUID, now - 3 * DAY_NS), 0);
	CHECK_INT(retention_forget(directory, false, 0, UUID, now), 1);
	CHECK(!has("1", "x-" UUID ".sluice.sent") && has("1", "y.sluice"));
	CHECK_INT(retention_forget(directory, true, 1, NULL, now), 1);
	CHECK(!has("1", "y.sluice") && has("2", "z.sluice"));
}

TESTS(TEST(oldest_traces_exceed_the_size_first), TEST(descriptions_without_a_run_are_removed),
      TEST(traces_that_the_database_lacks_are_removed_last), TEST(age_is_limited),
      TEST(runs_that_are_collected_count_but_stay), TEST(more_traces_than_a_batch_are_limited),
      TEST(a_run_or_a_user_is_forgotten))
