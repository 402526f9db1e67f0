/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The guest's access to the files of a run: what it trusts, and that it opens nothing else.
 */
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "capture/record/files.h"

/* A fresh directory of this mode, in which nothing is. */
static int error; /* of the last failure */

static const char *directory_make(const char *name, mode_t mode)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/%s", check_directory(), name);
	REQUIRE(mkdir(path, 0700) == 0 && chmod(path, mode) == 0);
	return path;
}

static void directories_with_access_for_others_are_refused(void)
{
	static const mode_t modes[] = { 0701, 0710, 0770, 0777, 01777 };
	char name[32];

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		struct file_id id = { 0 };

		snprintf(name, sizeof(name), "mode%o", (unsigned)modes[i]);
		CHECK_INT(directory_open(directory_make(name, modes[i]), &id), -EPERM);
	}
}

static void a_link_to_a_directory_is_refused(void)
{
	const char *path = directory_make("real", 0700);
	struct file_id id = { 0 };
	char link[512];

	snprintf(link, sizeof(link), "%s/link", check_directory());
	REQUIRE(symlink(path, link) == 0);
	CHECK(directory_open(link, &id) < 0);
}

static void a_replaced_directory_is_refused(void)
{
	const char *path = directory_make("replaced", 0700);
	struct file_id id = { 0 };
	long fd = directory_open(path, &id);
	char old[600];

	REQUIRE(fd >= 0);
	close((int)fd);
	snprintf(old, sizeof(old), "%s.old", path);
	REQUIRE(rename(path, old) == 0 && mkdir(path, 0700) == 0);
	CHECK_INT(directory_open(path, &id), -EPERM);
	fd = directory_open(old, &id);
	CHECK(fd >= 0);
	close((int)fd);
}

static void a_file_grows_only_if_it_is_the_same(void)
{
	struct file_id directory = { 0 }, id = { 0 };
	long fd = directory_open(directory_make("grows", 0700), &directory);
	char *page;

	REQUIRE(fd >= 0);
	page = file_create(fd, "file", 4096, &id, &error);
	REQUIRE(page);
	page[0] = 'x';
	munmap(page, 4096);
	CHECK(!file_create(fd, "file", 4096, &id, &error)); /* never replaces a file */
	page = file_extend(fd, "file", &id, 4096, 4096, &error);
	REQUIRE(page);
	munmap(page, 4096);
	page = file_map(fd, "file", 8192);
	CHECK(page && page[0] == 'x');
	munmap(page, 8192);
	CHECK(!file_map(fd, "file", 8193));
	REQUIRE(renameat((int)fd, "file", (int)fd, "old") == 0);
	CHECK(!file_extend(fd, "file", &id, 8192, 4096, &error));
	close(openat((int)fd, "file", O_CREAT | O_RDWR, 0600));
	CHECK(!file_extend(fd, "file", &id, 8192, 4096, &error));
	REQUIRE(symlinkat("old", (int)fd, "link") == 0);
	CHECK(!file_extend(fd, "link", &id, 8192, 4096, &error));
	CHECK(!file_map(fd, "link", 4096));
	close((int)fd);
}

static void code_that_others_can_write_is_not_trusted(void)
{
	const char *path = directory_make("code", 0700);
	char file[600];
	int fd;

	snprintf(file, sizeof(file), "%s/plugin.so", path);
	fd = open(file, O_CREAT | O_WRONLY, 0600);
	REQUIRE(fd >= 0);
	CHECK(file_is_trusted_code(file));
	REQUIRE(fchmod(fd, 0755) == 0);
	CHECK(file_is_trusted_code(file));
	REQUIRE(fchmod(fd, 0775) == 0);
	CHECK(!file_is_trusted_code(file));
	REQUIRE(fchmod(fd, 0757) == 0);
	CHECK(!file_is_trusted_code(file));
	REQUIRE(fchmod(fd, 0755) == 0);
	if (geteuid() == 0 && fchown(fd, 12345, (gid_t)-1) == 0)
		CHECK(!file_is_trusted_code(file));
	close(fd);
	CHECK(!file_is_trusted_code(path));
	CHECK(!file_is_trusted_code("/nonexistent"));
}

static void files_of_another_user_are_refused(void)
{
	struct file_id id = { 0 }, directory = { 0 };
	const char *path = directory_make("others", 0700);
	long fd = directory_open(path, &directory);
	void *page;

	if (geteuid() != 0)
		return;
	REQUIRE(fd >= 0);
	page = file_create(fd, "file", 4096, &id, &error);
	REQUIRE(page && fchownat((int)fd, "file", 12345, (gid_t)-1, 0) == 0);
	munmap(page, 4096);
	CHECK(!file_map(fd, "file", 4096));
	CHECK(!file_extend(fd, "file", &id, 4096, 4096, &error));
	close((int)fd);
	REQUIRE(chown(path, 12345, (gid_t)-1) == 0);
	CHECK_INT(directory_open(path, &directory), -EPERM);
}

static void nothing_changes_errno(void)
{
	struct file_id id = { 0 };
	char text[16];

	errno = 4242;
	CHECK(directory_open("/nonexistent", &id) < 0);
	CHECK(!file_map(-1, "x", 1));
	CHECK(!file_read(AT_FDCWD, "/nonexistent", text, sizeof(text)));
	CHECK_INT(errno, 4242);
	errno = 0;
}

TESTS(TEST(directories_with_access_for_others_are_refused), TEST(a_link_to_a_directory_is_refused),
      TEST(a_replaced_directory_is_refused), TEST(a_file_grows_only_if_it_is_the_same),
      TEST(code_that_others_can_write_is_not_trusted), TEST(files_of_another_user_are_refused),
      TEST(nothing_changes_errno))
