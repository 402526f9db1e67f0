/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/runs/tags.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/place.h"
#include "check.h"

static char directory[] = "/tmp/sluice-tags.XXXXXX";
static char *trace, *file; /* of its tags */

static void check_tags(const char *uuid, const char *expected)
{
	AUTO_FREE char *tags = tags_read(trace, uuid);

	CHECK_TEXT(tags, expected);
}

static int change(const char *add, const char *remove)
{
	return tags_change(trace, "u1", add, remove, NULL, NULL);
}

static void write_file(const char *text)
{
	REQUIRE(file_write_all(file, text, strlen(text), NULL) == 0);
}

static void words_are_valid_or_not(void)
{
	static const char *const bad[] = { "",	  "-d",	 ".x",	     "a b", "a\n",
					   "a/b", "<b>", "\xc3\xa4", "a\"", "a,b" };
	char word[TAG_LETTERS + 2];

	CHECK(tag_is_valid("x", NULL));
	CHECK(tag_is_valid("v1.2_rc-3:final", NULL));
	memset(word, 'a', sizeof(word));
	word[TAG_LETTERS] = 0;
	CHECK(tag_is_valid(word, NULL));
	word[TAG_LETTERS] = 'a';
	word[TAG_LETTERS + 1] = 0;
	CHECK(!tag_is_valid(word, NULL));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK(!tag_is_valid(bad[i], NULL));
}

static void tags_are_added_and_removed(void)
{
	AUTO_FREE char *result = NULL;
	struct stat st;

	check_tags("u1", "");
	CHECK(change("zeta alpha zeta", "") == 0);
	check_tags("u1", "alpha zeta");
	REQUIRE(stat(file, &st) == 0);
	CHECK((st.st_mode & 0777) == 0600);
	REQUIRE(tags_change(trace, "u1", "mid", "zeta", &result, NULL) == 0);
	CHECK_TEXT(result, "alpha mid");
	CHECK(change("both", "both") == 0);
	check_tags("u1", "alpha mid");
	CHECK(tags_has("alpha mid", "mid"));
	CHECK(!tags_has("alpha mid", "mi"));
	CHECK(change("", "alpha mid absent") == 0);
	CHECK(!place_exists(file));
}

static void a_refused_change_changes_nothing(void)
{
	AUTO_BUF struct buf many = { 0 };
	struct err err = { 0 };

	CHECK(change("kept", "") == 0);
	CHECK(tags_change(trace, "u1", "good <bad>", "", NULL, &err) == -EINVAL);
	CHECK(strstr(err.text, "<bad>"));
	for (int i = 0; i < TAGS_MAX; i++)
		buf_printf(&many, "t%d ", i);
	CHECK(change(buf_text(&many), "") == -E2BIG);
	check_tags("u1", "kept");
	CHECK(change(buf_text(&many), "kept") == 0);
	CHECK(change("", buf_text(&many)) == 0);
}

static void a_later_run_does_not_inherit_tags(void)
{
	CHECK(change("old", "") == 0);
	check_tags("u2", "");
	CHECK(tags_change(trace, "u2", "new", "", NULL, NULL) == 0);
	check_tags("u1", "");
	check_tags("u2", "new");
	tags_delete(trace);
	CHECK(!place_exists(file));
}

static void files_of_others_are_neither_believed_nor_deleted(void)
{
	write_file("my notes\n");
	check_tags("u1", "");
	tags_delete(trace);
	CHECK(place_exists(file));
	write_file("#sluice-tags u1\ngood\n<script>\n\nx y\n-d\nalso\n");
	check_tags("u1", "also good");
	tags_delete(trace);
	CHECK(!place_exists(file));
	REQUIRE(mkdir(file, 0700) == 0);
	check_tags("u1", "");
	CHECK(change("word", "") < 0);
	REQUIRE(rmdir(file) == 0);
}

/* Each process adds its own words one by one; none may get lost. */
static void changes_of_several_processes_do_not_interfere(void)
{
	enum { PROCESSES = 4, WORDS = TAGS_MAX / PROCESSES };
	AUTO_FREE char *tags = NULL;
	size_t count = 0;

	for (int p = 0; p < PROCESSES; p++) {
		pid_t pid = fork();

		REQUIRE(pid >= 0);
		if (pid)
			continue;
		for (int i = 0; i < WORDS; i++) {
			AUTO_FREE char *word = xprintf("p%d-%d", p, i);

			if (change(word, "") < 0)
				_exit(1);
		}
		_exit(0);
	}
	for (int p = 0; p < PROCESSES; p++) {
		int status;

		REQUIRE(wait(&status) > 0);
		CHECK(status == 0);
	}
	tags = tags_read(trace, "u1");
	for (const char *at = tags; tags_next(&at); at += tags_next(&at))
		count++;
	CHECK(count == TAGS_MAX);
	tags_delete(trace);
}

static void the_trace_is_made(void)
{
	REQUIRE(mkdtemp(directory));
	trace = xprintf("%s/run.sluice", directory);
	file = xprintf("%s" TAGS_SUFFIX, trace);
	REQUIRE(file_write_all(trace, "trace", 5, NULL) == 0);
}

static void the_trace_is_removed(void)
{
	file_remove_tree(directory);
	free(trace);
	free(file);
}

TESTS(TEST(the_trace_is_made), TEST(words_are_valid_or_not), TEST(tags_are_added_and_removed),
      TEST(a_refused_change_changes_nothing), TEST(a_later_run_does_not_inherit_tags),
      TEST(files_of_others_are_neither_believed_nor_deleted),
      TEST(changes_of_several_processes_do_not_interfere), TEST(the_trace_is_removed))
