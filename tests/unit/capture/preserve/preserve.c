/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Guest and host in one process: what the guest enters in the journal before a change is what the
 * tuner restores. Under the sanitizers this covers the guest code that copies files and makes
 * entries, which they cannot check inside a traced program.
 */
#include "capture/preserve/preserve.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "capture/preserve/copy.h"
#include "capture/preserve/keep.h"
#include "capture/preserve/target.h"
#include "check.h"
#include "contract/journal.h"
#include "guest_outside.h"
#include "tune/trial/snapshot.h"

#define LIMIT (1 << 20)

static char buffer[8192];

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	REQUIRE(f);
	fputs(text, f);
	REQUIRE(fclose(f) == 0);
}

static void check_file(const char *path, const char *text)
{
	char got[64] = "";
	FILE *f = fopen(path, "r");

	REQUIRE(f);
	CHECK_INT(fread(got, 1, sizeof(got) - 1, f), strlen(text));
	fclose(f);
	CHECK_TEXT(got, text);
}

static bool exists(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

static void a_sparse_file_is_copied_with_its_holes(void)
{
	int fd = open("sparse", O_RDWR | O_CREAT | O_TRUNC, 0600);
	struct stat st;
	char got[5] = "";

	REQUIRE(fd >= 0);
	REQUIRE(pwrite(fd, "begin", 5, 0) == 5);
	REQUIRE(pwrite(fd, "end", 3, 700000) == 3);
	close(fd);
	CHECK_INT(copy_file("sparse", "copied", LIMIT, buffer, sizeof(buffer)), 0);
	fd = open("copied", O_RDONLY);
	REQUIRE(fd >= 0 && fstat(fd, &st) == 0);
	CHECK_INT(st.st_size, 700003);
	CHECK(st.st_blocks * 512 < 400000);
	CHECK(pread(fd, got, 3, 700000) == 3 && strcmp(got, "end") == 0);
	CHECK(pread(fd, got, 1, 350000) == 1 && got[0] == 0);
	close(fd);
	CHECK_INT(copy_file("sparse", "copied", LIMIT, buffer, sizeof(buffer)), -EEXIST);
	CHECK_INT(copy_file("nothing", "other", LIMIT, buffer, sizeof(buffer)), -ENOENT);
	CHECK_INT(copy_file(".", "other", LIMIT, buffer, sizeof(buffer)), -EINVAL);
	unlink("other");
	unlink("copied");
	unlink("sparse");
}

/* A clone takes no space, so it has no limit. */
static void a_file_above_the_limit_is_not_copied(void)
{
	struct stat st;
	long r;

	write_file("large", "0123456789");
	r = copy_file("large", "copied", 9, buffer, sizeof(buffer));
	CHECK(r == -EFBIG || r == 0);
	REQUIRE(stat("copied", &st) == 0);
	CHECK_INT(st.st_size, r == 0 ? 10 : 0);
	unlink("copied");
	unlink("large");
}

static void a_symbolic_link_is_copied_as_such(void)
{
	char target[64] = "";

	REQUIRE(symlink("somewhere/else", "link") == 0);
	CHECK_INT(copy_file("link", "copied", 0, buffer, sizeof(buffer)), 0);
	CHECK_INT(readlink("copied", target, sizeof(target) - 1), 14);
	CHECK_TEXT(target, "somewhere/else");
	unlink("copied");
	unlink("link");
}

static void check_target(const char *path, bool follow, const char *name, bool is_there)
{
	static struct target target;
	AUTO_FREE char *here = realpath(".", NULL), *expected = xprintf("%s/%s", here, name);

	target.exists = false;
	CHECK_INT(target_find(&target, AT_FDCWD, path, follow), TARGET_FOUND);
	CHECK_TEXT(target.path, expected);
	CHECK_INT(target.exists, is_there);
}

static void a_path_is_resolved_as_the_kernel_does(void)
{
	static struct target target;
	AUTO_FREE char *long_path = xcalloc(1, PATH_MAX + 100);

	REQUIRE(mkdir("folder", 0700) == 0 && symlink("folder/new", "dangling") == 0);
	write_file("folder/file", "x");
	REQUIRE(symlink("folder/file", "link") == 0);
	check_target("folder/../folder//file", true, "folder/file", true);
	check_target("link", true, "folder/file", true);
	check_target("link", false, "link", true);
	check_target("dangling", true, "folder/new", false);
	check_target("folder/new", true, "folder/new", false);
	CHECK_INT(target_find(&target, AT_FDCWD, "nothing/new", true), TARGET_IMPOSSIBLE);
	memset(long_path, 'a', PATH_MAX + 99);
	CHECK_INT(target_find(&target, AT_FDCWD, long_path, true), TARGET_IMPOSSIBLE);
	REQUIRE(symlink("loop", "loop") == 0);
	CHECK_INT(target_find(&target, AT_FDCWD, "loop", true), TARGET_IMPOSSIBLE);
	unlink("loop");
	unlink("link");
	unlink("dangling");
	file_remove_tree("folder");
}

static void a_deleted_name_is_not_a_path(void)
{
	static struct target target;
	int fd;

	write_file("gone", "x");
	write_file("kept (deleted)", "x");
	REQUIRE(link("gone", "other") == 0);
	fd = open("gone", O_RDWR);
	REQUIRE(fd >= 0 && unlink("gone") == 0);
	CHECK_INT(target_find_open(&target, fd), TARGET_FAILED); /* which name it has is unknown */
	REQUIRE(unlink("other") == 0);
	CHECK_INT(target_find_open(&target, fd), TARGET_IMPOSSIBLE);
	close(fd);
	check_target("kept (deleted)", true, "kept (deleted)", true);
	unlink("kept (deleted)");
}

static atomic_bool is_over;

static void *make_and_delete(void *unused)
{
	(void)unused;
	while (!atomic_load(&is_over)) {
		write_file("fleeting", "x");
		REQUIRE(link("fleeting", "linked") == 0);
		unlink("fleeting");
		unlink("linked");
	}
	return NULL;
}

static void a_file_that_others_delete_keeps_its_path(void)
{
	static struct target target;
	AUTO_FREE char *here = realpath(".", NULL), *expected = xprintf("%s/fleeting", here);
	pthread_t other;

	REQUIRE(pthread_create(&other, NULL, make_and_delete, NULL) == 0);
	for (int i = 0; i < 20000; i++) {
		CHECK_INT(target_find(&target, AT_FDCWD, "fleeting", true), TARGET_FOUND);
		CHECK_TEXT(target.path, expected);
	}
	atomic_store(&is_over, true);
	pthread_join(other, NULL);
}

/* Makes each kind of change once, with the guest's function before it, as the wrappers do. */
static void change_files(void)
{
	errno = 77;
	CHECK(preserve_open(AT_FDCWD, "data", O_WRONLY | O_TRUNC));
	write_file("data", "changed");
	CHECK(preserve_open(AT_FDCWD, "new", O_WRONLY | O_CREAT));
	write_file("new", "new");
	CHECK(preserve_rename(AT_FDCWD, "new", AT_FDCWD, "replaced", 0));
	CHECK(rename("new", "replaced") == 0);
	CHECK(preserve_remove(AT_FDCWD, "removed"));
	CHECK(unlink("removed") == 0);
	CHECK(preserve_make(AT_FDCWD, "made"));
	CHECK(mkdir("made", 0700) == 0);
	CHECK(preserve_open(AT_FDCWD, "made/inner", O_WRONLY | O_CREAT));
	write_file("made/inner", "inner");
	CHECK(preserve_link(AT_FDCWD, "mode", AT_FDCWD, "second", 0));
	CHECK(link("mode", "second") == 0);
	CHECK(preserve_change(AT_FDCWD, "mode", 0));
	CHECK(chmod("mode", 0444) == 0);
	CHECK(preserve_truncate("short"));
	CHECK(truncate("short", 1) == 0);
	/* Nothing that is only read, or that fails anyway, is refused. */
	CHECK(preserve_open(AT_FDCWD, "nothing/there", O_WRONLY | O_CREAT));
	CHECK(preserve_open(AT_FDCWD, "data", O_RDONLY));
}

static void what_the_guest_keeps_is_restored(void)
{
	const struct snapshot_options options = { .limit = LIMIT };
	struct snapshot snapshot = { 0 };
	struct err err = { 0 };
	struct stat st;

	write_file("data", "user data");
	write_file("replaced", "original");
	write_file("removed", "precious");
	write_file("mode", "m");
	write_file("short", "long enough");
	REQUIRE(chmod("mode", 0640) == 0);
	REQUIRE(snapshot_open(&snapshot, &options, &err) == 0);
	REQUIRE(setenv(JOURNAL_VARIABLE, snapshot.journal, 1) == 0);
	CHECK(!preserve_is_on);
	preserve_join();
	CHECK(preserve_is_on);
	for (int trial = 0; trial < 2; trial++) {
		snapshot_begin_trial(&snapshot);
		change_files();
		CHECK(!snapshot_refusal(&snapshot, false));
		CHECK_INT(snapshot_restore(&snapshot, &err), 0);
		check_file("data", "user data");
		check_file("replaced", "original");
		check_file("removed", "precious");
		check_file("short", "long enough");
		CHECK(!exists("new") && !exists("made") && !exists("second"));
		CHECK(stat("mode", &st) == 0 && (st.st_mode & 07777) == 0640);
	}
	CHECK_INT(snapshot_close(&snapshot, &err), 0);
}

/* Makes the guest believe that the tuner is on another host. */
static void move_tuner(const char *journal)
{
	struct journal_options options = { .limit = LIMIT, .host = 1, .claims = journal };
	AUTO_FREE char *name = xprintf("%s/" JOURNAL_OPTIONS, journal);
	char text[JOURNAL_RECORD_BYTES];

	REQUIRE(journal_write_options(text, &options));
	REQUIRE(unlink(name) == 0 && symlink(text, name) == 0);
	keep_open(journal);
	/* File systems count time in ticks. */
	usleep(50000);
}

static void a_file_of_another_host_is_not_changed(void)
{
	char base[] = "/dev/shm/sluice-test-XXXXXX";
	const struct snapshot_options options = { .base = base, .limit = LIMIT };
	struct snapshot snapshot = { 0 };
	struct err err = { 0 };
	struct stat here, there;
	char *refusal;

	REQUIRE(mkdtemp(base));
	REQUIRE(stat(".", &here) == 0 && stat(base, &there) == 0);
	write_file("old", "data");
	REQUIRE(snapshot_open(&snapshot, &options, &err) == 0);
	move_tuner(snapshot.journal);
	if (here.st_dev != there.st_dev) {
		CHECK(!preserve_open(AT_FDCWD, "old", O_WRONLY));
		CHECK(!preserve_remove(AT_FDCWD, "old"));
		refusal = snapshot_refusal(&snapshot, false);
		REQUIRE(refusal);
		CHECK(strstr(refusal, "/old: it is on another host"));
		free(refusal);
		/* It may do what it wants with its own files; those of this host's path remain. */
		CHECK(preserve_make(AT_FDCWD, "made"));
		REQUIRE(mkdir("made", 0700) == 0);
		CHECK(preserve_open(AT_FDCWD, "made/file", O_WRONLY | O_CREAT));
		write_file("made/file", "new");
		CHECK(preserve_open(AT_FDCWD, "made/file", O_WRONLY | O_TRUNC));
		/* The batch system has made a file for the trial. */
		write_file("young", "new");
		CHECK(preserve_open(AT_FDCWD, "young", O_RDWR));
		CHECK_INT(snapshot_restore(&snapshot, &err), 0);
		check_file("old", "data");
		check_file("made/file", "new");
		check_file("young", "new");
	}
	/* On the file system of the journal, all hosts see the same files. */
	REQUIRE(chdir(base) == 0);
	CHECK(preserve_open(AT_FDCWD, "shared", O_WRONLY | O_CREAT));
	write_file("shared", "new");
	CHECK_INT(snapshot_restore(&snapshot, &err), 0);
	CHECK(!exists("shared"));
	CHECK_INT(snapshot_close(&snapshot, &err), 0);
	REQUIRE(chdir(check_directory()) == 0);
	CHECK(rmdir(base) == 0);
}

/* errno belongs to the program. */
static void errno_survives(void)
{
	errno = 77;
	CHECK(preserve_open(AT_FDCWD, "/nonexistent/file", O_WRONLY | O_CREAT));
	CHECK_INT(errno, 77);
}

static void in_an_empty_directory(void)
{
	REQUIRE(chdir(check_directory()) == 0);
}

TESTS(TEST(in_an_empty_directory), TEST(a_sparse_file_is_copied_with_its_holes),
      TEST(a_file_above_the_limit_is_not_copied), TEST(a_symbolic_link_is_copied_as_such),
      TEST(a_path_is_resolved_as_the_kernel_does), TEST(a_deleted_name_is_not_a_path),
      TEST(a_file_that_others_delete_keeps_its_path), TEST(what_the_guest_keeps_is_restored),
      TEST(a_file_of_another_host_is_not_changed), TEST(errno_survives))
