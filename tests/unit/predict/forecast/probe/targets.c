/* SPDX-License-Identifier: BSD-3-Clause */
#include "predict/forecast/probe/targets.h"

#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "check.h"

static void directory_is_named_by_its_last_part(void)
{
	struct target t = { 0 };

	CHECK_INT(target_parse(&t, "/mnt/a/", NULL), 0);
	CHECK_TEXT(t.name, "a");
	CHECK_TEXT(t.path, "/mnt/a");
	CHECK(t.ops == &target_directory);
	target_release(&t);
	CHECK_INT(target_parse(&t, "/", NULL), 0);
	CHECK_TEXT(t.name, "root");
	target_release(&t);
	CHECK_INT(target_parse(&t, "fast=./with,comma:and=more", NULL), 0);
	CHECK_TEXT(t.name, "fast");
	CHECK_TEXT(t.path, "./with,comma:and=more");
	target_release(&t);
	CHECK_INT(target_parse(&t, "directory:/mnt/b", NULL), 0);
	CHECK_TEXT(t.path, "/mnt/b");
	target_release(&t);
}

static void osts_are_one_or_several_or_a_server(void)
{
	struct target t = { 0 };

	CHECK_INT(target_parse(&t, "lustre:/scratch/me,ost=3", NULL), 0);
	CHECK_TEXT(t.name, "ost3");
	CHECK_TEXT(t.path, "/scratch/me");
	CHECK_INT(t.ost_count, 1);
	CHECK(t.ops->is_reusable(&t));
	target_release(&t);
	CHECK_INT(target_parse(&t, "x=lustre:/s,osts=3|14", NULL), 0);
	CHECK_TEXT(t.name, "x");
	CHECK_INT(t.ost_count, 2);
	CHECK_INT(t.osts[1], 14);
	target_release(&t);
	CHECK_INT(target_parse(&t, "lustre:/s,oss=7|8", NULL), 0);
	CHECK_TEXT(t.name, "oss7-8");
	CHECK(t.is_server);
	CHECK(!t.ops->is_reusable(&t));
	target_release(&t);
}

static void pool_is_the_default_name(void)
{
	struct target t = { 0 };

	CHECK_INT(target_parse(&t, "ceph:/mnt/ceph,pool=fast,object_size=8M", NULL), 0);
	CHECK_TEXT(t.name, "fast");
	CHECK_TEXT(t.pool, "fast");
	CHECK_INT(t.object_bytes, 8 << 20);
	target_release(&t);
}

static void errors_name_what_is_wrong(void)
{
	static const struct {
		const char *text, *words;
	} bad[] = {
		{ "gpfs:/x", "directory|lustre|ceph" },
		{ "lustre:/s", "missing|OST" },
		{ "lustre:/s,ost=x", "OST number" },
		{ "lustre:/s,ost=1|2", "osts=" },
		{ "lustre:/s,ost=1,ost=2", "ost=" },
		{ "lustre:/s,ost=70000", "OST number" },
		{ "lustre:/s,pool=x", "\"pool\"" },
		{ "lustre:", "missing|path" },
		{ "ceph:/c", "missing|pool" },
		{ "ceph:/c,pool=", "KEY=VALUE" },
		{ "ceph:/c,pool=a,object_size=100", "64K" },
		{ "=/mnt/a", "missing|name" },
		{ "a b=/mnt/a", "letters" },
		{ "/mnt/a b", "NAME=PLACE" },
		{ "", "missing|path" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct target t = { 0 };
		struct err err = { 0 };

		CHECK_INT(target_parse(&t, bad[i].text, &err), -EINVAL);
		CHECK_WORDS(err.text, bad[i].words);
		CHECK(!t.path);
	}
}

static void duplicate_name_is_refused(void)
{
	struct targets list = { 0 };
	struct target t = { 0 };
	struct err err = { 0 };

	REQUIRE(target_parse(&t, "/mnt/a", NULL) == 0);
	CHECK_INT(targets_add(&list, &t, &err), 0);
	REQUIRE(target_parse(&t, "/srv/a", NULL) == 0);
	CHECK_INT(targets_add(&list, &t, &err), -EEXIST);
	CHECK(strstr(err.text, "\"a\""));
	CHECK_INT(list.count, 1);
	targets_release(&list);
	CHECK_INT(list.count, 0);
}

static int entries(const char *path)
{
	DIR *dir = opendir(path);
	int n = 0;

	REQUIRE(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n - 2;
}

static void file_is_unlinked_when_it_is_returned(void)
{
	char path[] = "/tmp/sluice-targets.XXXXXX";
	struct target t = { 0 };
	struct err err = { 0 };
	struct stat st;
	int fd;

	REQUIRE(mkdtemp(path));
	REQUIRE(target_parse(&t, path, NULL) == 0);
	fd = target_make(&t, 0, &err);
	REQUIRE(fd >= 0);
	CHECK_INT(entries(path), 0);
	CHECK_INT(write(fd, "abc", 3), 3);
	CHECK(fstat(fd, &st) == 0 && st.st_size == 3 && st.st_nlink == 0);
	close(fd);
	rmdir(path);
	CHECK_INT(target_make(&t, 1, &err), -ENOENT);
	CHECK(strstr(err.text, path));
	target_release(&t);
}

static void misplaced_file_is_removed(void)
{
	char path[] = "/tmp/sluice-targets.XXXXXX";
	struct target t = { 0 };
	struct err err = { 0 };

	REQUIRE(mkdtemp(path));
	AUTO_FREE char *place = xprintf("ceph:%s,pool=fast", path);

	REQUIRE(target_init(&t, "fast", place, NULL) == 0);
	/* Other file systems than CephFS refuse the attribute. */
	CHECK(target_make(&t, 0, &err) < 0);
	CHECK(strstr(err.text, "ceph.file.layout.pool"));
	CHECK_INT(entries(path), 0);
	target_release(&t);
	rmdir(path);
}

TESTS(TEST(directory_is_named_by_its_last_part), TEST(osts_are_one_or_several_or_a_server),
      TEST(pool_is_the_default_name), TEST(errors_name_what_is_wrong),
      TEST(duplicate_name_is_refused), TEST(file_is_unlinked_when_it_is_returned),
      TEST(misplaced_file_is_removed))
