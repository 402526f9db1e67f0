/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/runs/runs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "check.h"

static char directory[] = "/tmp/sluice-runs.XXXXXX";

/* Creates an empty file with the name of a trace, modified `age` seconds ago. */
static void make_run(const char *name, int age)
{
	AUTO_FREE char *path = xprintf("%s/%s", directory, name);
	struct timespec times[2];
	FILE *f = fopen(path, "we");

	REQUIRE(f);
	fclose(f);
	clock_gettime(CLOCK_REALTIME, &times[0]);
	times[0].tv_sec -= age;
	times[1] = times[0];
	REQUIRE(utimensat(AT_FDCWD, path, times, 0) == 0);
}

static void remove_runs(void)
{
	struct runs runs;

	REQUIRE(runs_read(&runs, directory, NULL) == 0);
	for (size_t i = 0; i < runs.count; i++)
		unlink(runs.list[i].path);
	runs_release(&runs);
}

static void runs_are_listed_newest_first(void)
{
	struct runs runs;

	make_run("b.sluice", 5);
	make_run("a.sluice", 50);
	make_run("c.sluice", 500);
	make_run("notes.txt", 1);
	CHECK_INT(runs_read(&runs, directory, NULL), 0);
	CHECK_INT(runs.count, 3);
	CHECK_TEXT(runs.list[0].name, "b.sluice");
	CHECK_TEXT(runs.list[2].name, "c.sluice");
	CHECK_INT(runs.id_digits, RUNS_ID_SHOWN);
	CHECK_INT(strlen(runs.list[0].id), RUNS_ID_DIGITS);
	runs_release(&runs);
	remove_runs();
}

static void a_missing_directory_holds_no_runs(void)
{
	struct runs runs;
	struct err err = { 0 };

	CHECK_INT(runs_read(&runs, "/tmp/sluice-does-not-exist", &err), 0);
	CHECK_INT(runs.count, 0);
	runs_release(&runs);
	CHECK(!runs_find("/tmp/sluice-does-not-exist", NULL, &err));
	CHECK_INT(err.code, ENOENT);
}

static void a_run_is_found_by_id_prefix_name_and_path(void)
{
	struct runs runs;

	make_run("20261116-tar-1.sluice", 5);
	make_run("20261116-tar-12.sluice", 50);
	REQUIRE(runs_read(&runs, directory, NULL) == 0);
	for (size_t i = 0; i < runs.count; i++) {
		const struct run_file *run = &runs.list[i];
		AUTO_FREE char *prefix = xstrndup(run->id, (size_t)runs.id_digits);
		AUTO_FREE char *stem = xstrndup(run->name, strlen(run->name) - 7);
		const char *names[] = { run->id, prefix, run->name, stem, run->path };

		for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
			struct err err = { 0 };
			AUTO_FREE char *path = runs_find(directory, names[k], &err);

			CHECK_TEXT(path ? path : err.text, run->path);
		}
	}
	runs_release(&runs);
	remove_runs();
}

static void without_a_name_the_newest_run_is_found(void)
{
	AUTO_FREE char *path = NULL;

	make_run("old.sluice", 100);
	make_run("new.sluice", 1);
	path = runs_find(directory, NULL, NULL);
	CHECK(path && strstr(path, "new.sluice"));
	remove_runs();
}

static void an_ambiguous_prefix_names_the_candidates(void)
{
	struct err err = { 0 };
	bool seen[16] = { false };
	struct runs runs;
	char twice[2] = "";

	/* Among 17 ids two begin with the same digit. */
	for (int i = 0; i < 17; i++) {
		AUTO_FREE char *name = xprintf("run-%d.sluice", i);

		make_run(name, i);
	}
	REQUIRE(runs_read(&runs, directory, NULL) == 0);
	for (size_t i = 0; i < runs.count; i++) {
		char digit[2] = { runs.list[i].id[0], 0 };
		long value = strtol(digit, NULL, 16);

		if (seen[value])
			twice[0] = digit[0];
		seen[value] = true;
	}
	runs_release(&runs);
	CHECK(!runs_find(directory, twice, &err));
	CHECK_INT(err.code, EINVAL);
	CHECK(strstr(err.text, "ambiguous"));
	remove_runs();
}

static void an_unknown_word_is_named(void)
{
	struct err err = { 0 };

	CHECK(!runs_find(directory, "zzz", &err));
	CHECK_INT(err.code, ENOENT);
	CHECK(strstr(err.text, "zzz"));
	CHECK(!runs_find(directory, "", &err));
	CHECK(!runs_find(directory, "./zzz.sluice", &err));
	CHECK_INT(err.code, ENOENT);
}

static void the_directory_is_made(void)
{
	REQUIRE(mkdtemp(directory));
}

static void the_directory_is_removed(void)
{
	AUTO_FREE char *notes = xprintf("%s/notes.txt", directory);

	unlink(notes);
	CHECK_INT(rmdir(directory), 0);
}

TESTS(TEST(the_directory_is_made), TEST(runs_are_listed_newest_first),
      TEST(a_missing_directory_holds_no_runs), TEST(a_run_is_found_by_id_prefix_name_and_path),
      TEST(without_a_name_the_newest_run_is_found), TEST(an_ambiguous_prefix_names_the_candidates),
      TEST(an_unknown_word_is_named), TEST(the_directory_is_removed))
