/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/process.h"

#include <limits.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "check.h"

static void put_file(const char *directory, const char *name)
{
	AUTO_FREE char *path = xprintf("%s/%s", directory, name);
	struct err err = { 0 };

	REQUIRE(file_write_all(path, "x", 1, &err) == 0);
}

/* The last name of the deletions that the watch has seen; sets *count to their number. */
static void last_deleted(int watch, char name[NAME_MAX + 1], int *count)
{
	char events[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
	ssize_t n = read(watch, events, sizeof(events));
	const struct inotify_event *event;

	*count = 0;
	name[0] = 0;
	for (ssize_t at = 0; at < n; at += (ssize_t)(sizeof(*event) + event->len)) {
		event = (const struct inotify_event *)(events + at);
		if (!(event->mask & IN_DELETE))
			continue;
		(*count)++;
		strcpy(name, event->name);
	}
}

static void the_last_file_of_a_spool_is_removed_last(void)
{
	static const char *const names[] = { "a", "control", "m", "n", "o", "z" };
	char name[NAME_MAX + 1];
	int count;

	for (size_t last = 0; last < 6; last++) {
		AUTO_FREE char *path = check_path("spool");
		AUTO_CLOSE int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

		REQUIRE(mkdir(path, 0700) == 0);
		for (size_t i = 0; i < 6; i++)
			put_file(path, names[i]);
		REQUIRE(inotify_add_watch(watch, path, IN_DELETE) >= 0);
		process_remove_spool(path, names[last]);
		last_deleted(watch, name, &count);
		CHECK_TEXT(name, names[last]);
		CHECK_INT(count, 6);
		CHECK(access(path, F_OK) != 0);
	}
}

static void a_spool_without_a_last_file_is_removed(void)
{
	AUTO_FREE char *path = check_path("spool");

	REQUIRE(mkdir(path, 0700) == 0);
	put_file(path, "a");
	process_remove_spool(path, NULL);
	CHECK(access(path, F_OK) != 0);
	REQUIRE(mkdir(path, 0700) == 0);
	put_file(path, "a");
	process_remove_spool(path, "control");
	CHECK(access(path, F_OK) != 0);
}

TESTS(TEST(the_last_file_of_a_spool_is_removed_last), TEST(a_spool_without_a_last_file_is_removed))
