/* SPDX-License-Identifier: BSD-3-Clause
 *
 * As root, the tests also give files to another user.
 */
#include "base/trusted.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "check.h"

#define ANOTHER 54321 /* a user id that nobody has */

static char directory[] = "/tmp/sluice-trusted.XXXXXX";

static char *path_of(const char *name)
{
	return xprintf("%s/%s", directory, name);
}

static char *make_file(const char *name, mode_t mode)
{
	char *path = path_of(name);

	REQUIRE(file_write_all(path, "x", 1, NULL) == 0 && chmod(path, mode) == 0);
	return path;
}

/* Tries to open the file; a failure must come with a message that has the path and the word. */
static int try_open(const char *path, enum trusted_rule rule, const char *word)
{
	struct err err = { 0 };
	int fd = trusted_open_file(AT_FDCWD, path, O_RDONLY, rule, &err);

	if (fd < 0) {
		CHECK(strstr(err.text, path));
		if (!strstr(err.text, word)) {
			printf("\"%s\" lacks \"%s\"\n", err.text, word);
			CHECK(false);
		}
		return fd;
	}
	close(fd);
	return 0;
}

static void modes_decide(void)
{
	AUTO_FREE char *path = make_file("file", 0600);

	CHECK_INT(try_open(path, TRUSTED_PRIVATE, ""), 0);
	CHECK_INT(try_open(path, TRUSTED_PROVIDED, ""), 0);
	chmod(path, 0644);
	CHECK_INT(try_open(path, TRUSTED_PROVIDED, ""), 0);
	CHECK_INT(try_open(path, TRUSTED_PRIVATE, "chmod go-rwx"), -EPERM);
	chmod(path, 0664);
	CHECK_INT(try_open(path, TRUSTED_PROVIDED, "its group; run 'chmod go-w"), -EPERM);
	chmod(path, 0606);
	CHECK_INT(try_open(path, TRUSTED_PROVIDED, "other users; run 'chmod go-w"), -EPERM);
	unlink(path);
	CHECK_INT(try_open(path, TRUSTED_PROVIDED, ""), -ENOENT);
}

static void only_regular_files_are_opened_and_nothing_blocks(void)
{
	AUTO_FREE char *fifo = path_of("fifo");

	REQUIRE(mkfifo(fifo, 0600) == 0);
	CHECK_INT(try_open(fifo, TRUSTED_PRIVATE, "FIFO"), -EINVAL);
	CHECK_INT(try_open(directory, TRUSTED_PRIVATE, "directory"), -EINVAL);
	unlink(fifo);
}

static void own_links_are_followed_to_provided_files_only(void)
{
	AUTO_FREE char *path = make_file("file", 0600), *link = path_of("link");

	REQUIRE(symlink(path, link) == 0);
	CHECK_INT(try_open(link, TRUSTED_PROVIDED, ""), 0);
	CHECK_INT(try_open(link, TRUSTED_PRIVATE, "symbolic link"), -EPERM);
	chmod(path, 0666);
	CHECK_INT(try_open(link, TRUSTED_PROVIDED, "chmod go-w"), -EPERM);
	unlink(link);
	unlink(path);
}

static void files_and_links_of_another_user_are_refused(void)
{
	AUTO_FREE char *path = make_file("file", 0600), *link = path_of("link");

	if (geteuid() == 0) {
		REQUIRE(symlink(path, link) == 0 && lchown(link, ANOTHER, ANOTHER) == 0);
		CHECK_INT(try_open(link, TRUSTED_PROVIDED, "54321"), -EPERM);
		REQUIRE(chown(path, ANOTHER, ANOTHER) == 0);
		CHECK_INT(try_open(path, TRUSTED_PROVIDED, "54321"), -EPERM);
		CHECK_INT(try_open(path, TRUSTED_PRIVATE, "54321"), -EPERM);
	} else {
		CHECK_INT(try_open("/etc/passwd", TRUSTED_PROVIDED, ""), 0);
		CHECK_INT(try_open("/etc/passwd", TRUSTED_PRIVATE, "root"), -EPERM);
	}
	unlink(link);
	unlink(path);
}

static void new_files_and_directories_are_private_whatever_the_umask_is(void)
{
	AUTO_FREE char *file = path_of("new"), *deep = path_of("a/b");
	const mode_t masks[] = { 0, 022, 077 };

	for (size_t i = 0; i < 3; i++) {
		AUTO_FREE char *parent = path_of("a");
		mode_t before = umask(masks[i]);
		struct stat st;
		int fd = trusted_create_file(AT_FDCWD, file, NULL);

		CHECK(fd >= 0 && fstat(fd, &st) == 0 && (st.st_mode & 07777) == 0600);
		close(fd);
		CHECK_INT(trusted_create_file(AT_FDCWD, file, NULL), -EEXIST);
		fd = trusted_make_directory(deep, NULL);
		CHECK(fd >= 0 && fstat(fd, &st) == 0 && (st.st_mode & 07777) == 0700);
		close(fd);
		fd = trusted_make_directory(deep, NULL);
		CHECK(fd >= 0);
		close(fd);
		umask(before);
		unlink(file);
		rmdir(deep);
		rmdir(parent);
	}
}

static void a_dangling_link_is_not_created_through(void)
{
	AUTO_FREE char *link = path_of("link"), *target = path_of("target");

	REQUIRE(symlink(target, link) == 0);
	CHECK_INT(trusted_create_file(AT_FDCWD, link, NULL), -EEXIST);
	CHECK(access(target, F_OK) != 0);
	unlink(link);
}

static void existing_directories_must_be_private(void)
{
	AUTO_FREE char *open = path_of("open"), *link = path_of("link");
	struct err err = { 0 };

	REQUIRE(mkdir(open, 0700) == 0 && chmod(open, 0755) == 0);
	CHECK_INT(trusted_make_directory(open, &err), -EPERM);
	CHECK(strstr(err.text, "chmod go-rwx"));
	REQUIRE(chmod(open, 0700) == 0 && symlink(open, link) == 0);
	CHECK_INT(trusted_make_directory(link, &err), -EPERM);
	CHECK(trusted_is_own_directory(open));
	CHECK(!trusted_is_own_directory(link));
	CHECK(!trusted_is_own_directory("/tmp"));
	unlink(link);
	rmdir(open);
}

static void replaceable_paths_are_refused(void)
{
	AUTO_FREE char *inner = path_of("inner"), *path = NULL;
	struct err err = { 0 };

	REQUIRE(mkdir(inner, 0700) == 0);
	path = make_file("inner/library.so", 0755);
	CHECK_INT(trusted_check_path(path, &err), 0);
	chmod(inner, 0777);
	CHECK_INT(trusted_check_path(path, &err), -EPERM);
	CHECK(strstr(err.text, inner));
	chmod(inner, 01777);
	CHECK_INT(trusted_check_path(path, &err), 0);
	chmod(directory, 0770);
	CHECK_INT(trusted_check_path(path, &err), -EPERM);
	CHECK(strstr(err.text, directory));
	chmod(directory, 0700);
	unlink(path);
	rmdir(inner);
}

static void provided_files_are_read(void)
{
	AUTO_FREE char *path = make_file("file", 0644);
	AUTO_BUF struct buf text = { 0 };

	CHECK_INT(trusted_read_file(&text, path, 10, NULL), 0);
	CHECK_TEXT(buf_text(&text), "x");
	chmod(path, 0666);
	CHECK_INT(trusted_read_file(&text, path, 10, NULL), -EPERM);
	unlink(path);
}

static void the_directory_is_made(void)
{
	REQUIRE(mkdtemp(directory));
}

static void nothing_is_left(void)
{
	CHECK_INT(rmdir(directory), 0);
}

TESTS(TEST(the_directory_is_made), TEST(modes_decide),
      TEST(only_regular_files_are_opened_and_nothing_blocks),
      TEST(own_links_are_followed_to_provided_files_only),
      TEST(files_and_links_of_another_user_are_refused),
      TEST(new_files_and_directories_are_private_whatever_the_umask_is),
      TEST(a_dangling_link_is_not_created_through), TEST(existing_directories_must_be_private),
      TEST(replaceable_paths_are_refused), TEST(provided_files_are_read), TEST(nothing_is_left))
