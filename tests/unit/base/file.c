/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/file.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "check.h"

static void check_content(const char *path, const char *expected)
{
	AUTO_BUF struct buf text = { 0 };

	CHECK_INT(file_read_all(&text, path, 0, NULL), 0);
	CHECK_TEXT(buf_text(&text), expected);
}

static void a_file_is_written_and_read_whole(void)
{
	AUTO_FREE char *path = check_path("whole");
	AUTO_FREE char *large = xcalloc(1, 100001);
	struct err err = { 0 };

	memset(large, 'x', 100000);
	CHECK_INT(file_write_all(path, large, 100000, &err), 0);
	check_content(path, large);
	CHECK_INT(file_write_all(path, "", 0, &err), 0);
	check_content(path, "");
}

static void a_file_beyond_the_limit_is_refused(void)
{
	AUTO_FREE char *path = check_path("limited");
	AUTO_BUF struct buf text = { 0 };
	struct err err = { 0 };

	CHECK_INT(file_write_all(path, "12345", 5, &err), 0);
	CHECK_INT(file_read_all(&text, path, 5, &err), 0);
	CHECK_INT(file_read_all(&text, path, 4, &err), -EFBIG);
	CHECK(strstr(err.text, path));
}

static void a_new_file_replaces_nothing(void)
{
	AUTO_FREE char *path = check_path("new"), *link = check_path("dangling");
	struct err err = { 0 };

	CHECK_INT(file_write_new(path, "first", 5, &err), 0);
	CHECK_INT(file_write_new(path, "second", 6, &err), -EEXIST);
	CHECK(strstr(err.text, path));
	check_content(path, "first");
	CHECK_INT(symlink("nowhere", link), 0);
	CHECK_INT(file_write_new(link, "x", 1, &err), -EEXIST);
}

static void errors_name_the_file(void)
{
	AUTO_BUF struct buf text = { 0 };
	struct err err = { 0 };

	CHECK_INT(file_read_all(&text, "/nonexistent/file", 0, &err), -ENOENT);
	CHECK(strstr(err.text, "/nonexistent/file"));
	CHECK_INT(file_read_all(&text, "/", 0, &err), -EISDIR);
	err = (struct err){ 0 };
	CHECK_INT(file_write_all("/nonexistent/file", "x", 1, &err), -ENOENT);
	CHECK(strstr(err.text, "/nonexistent/file"));
}

static void check_refused(const char *path, int code, const char *word)
{
	AUTO_BUF struct buf text = { 0 };
	struct err err = { 0 };

	CHECK_INT(file_open(path, &err), code);
	CHECK(strstr(err.text, path));
	CHECK(strstr(err.text, word));
	CHECK_INT(file_read_all(&text, path, 0, &err), code);
	CHECK(!file_open_stream(path, &err));
}

static void only_regular_files_are_read(void)
{
	AUTO_FREE char *fifo = check_path("fifo");
	AUTO_FREE char *path = check_path("socket");
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	AUTO_CLOSE int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	CHECK_INT(mkfifo(fifo, 0600), 0);
	check_refused(fifo, -EINVAL, "FIFO");
	CHECK((size_t)snprintf(name.sun_path, sizeof(name.sun_path), "%s", path) <
	      sizeof(name.sun_path));
	CHECK_INT(bind(fd, (struct sockaddr *)&name, sizeof(name)), 0);
	check_refused(path, -EINVAL, "socket");
	check_refused("/dev/zero", -EINVAL, "device");
	check_refused("/", -EISDIR, "directory");
	check_content("/dev/null", "");
}

static void write_draft(const struct file_draft *draft, const char *text)
{
	FILE *f = fopen(draft->temporary, "we");

	REQUIRE(f);
	fputs(text, f);
	REQUIRE(fclose(f) == 0);
}

static void a_draft_replaces_the_file_only_when_it_is_committed(void)
{
	AUTO_FREE char *path = check_path("target");
	AUTO_FREE char *temporary = NULL;
	struct err err = { 0 };
	struct file_draft draft;

	CHECK_INT(file_write_all(path, "old", 3, &err), 0);
	file_draft_init(&draft, path);
	temporary = xstrdup(draft.temporary);
	write_draft(&draft, "new");
	check_content(path, "old");
	CHECK_INT(file_draft_commit(&draft, &err), 0);
	CHECK(!draft.path && !draft.temporary);
	check_content(path, "new");
	CHECK(access(temporary, F_OK) != 0);
}

static void a_discarded_draft_leaves_the_file_alone(void)
{
	AUTO_FREE char *path = check_path("kept");
	AUTO_FREE char *temporary = NULL;
	struct err err = { 0 };
	struct file_draft draft;

	CHECK_INT(file_write_all(path, "old", 3, &err), 0);
	file_draft_init(&draft, path);
	temporary = xstrdup(draft.temporary);
	write_draft(&draft, "new");
	file_draft_discard(&draft);
	file_draft_discard(&draft);
	check_content(path, "old");
	CHECK(access(temporary, F_OK) != 0);
}

static void a_draft_that_cannot_be_renamed_is_removed(void)
{
	AUTO_FREE char *temporary = NULL;
	struct err err = { 0 };
	struct file_draft draft;

	file_draft_init(&draft, check_directory()); /* a directory cannot be replaced by a file */
	temporary = xstrdup(draft.temporary);
	write_draft(&draft, "new");
	CHECK(file_draft_commit(&draft, &err) < 0);
	CHECK(err.code > 0);
	CHECK(access(temporary, F_OK) != 0);
}

static void a_symbolic_link_is_written_through(void)
{
	AUTO_FREE char *path = check_path("real"), *link = check_path("link");
	struct err err = { 0 };
	struct stat st;

	CHECK_INT(file_write_all(path, "old", 3, &err), 0);
	CHECK_INT(symlink(path, link), 0);
	CHECK_INT(file_write_all(link, "new", 3, &err), 0);
	check_content(path, "new");
	CHECK_INT(lstat(link, &st), 0);
	CHECK(S_ISLNK(st.st_mode));
	CHECK_INT(file_write_all("/dev/null", "x", 1, &err), 0);
}

static void the_base_name_follows_the_last_slash(void)
{
	CHECK_TEXT(path_base_name("/a/b"), "b");
	CHECK_TEXT(path_base_name("b"), "b");
	CHECK_TEXT(path_base_name("/a/"), "");
}

TESTS(TEST(a_file_is_written_and_read_whole), TEST(a_file_beyond_the_limit_is_refused),
      TEST(a_new_file_replaces_nothing), TEST(errors_name_the_file),
      TEST(only_regular_files_are_read), TEST(a_draft_replaces_the_file_only_when_it_is_committed),
      TEST(a_discarded_draft_leaves_the_file_alone),
      TEST(a_draft_that_cannot_be_renamed_is_removed), TEST(a_symbolic_link_is_written_through),
      TEST(the_base_name_follows_the_last_slash))
