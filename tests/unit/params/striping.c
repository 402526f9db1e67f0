/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The file systems are replaced: statfs(), getxattr() and ioctl() return what theirs do.
 * tests/cluster/layout.sh reads the stripes of a real CephFS.
 */
#include "params/striping.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "check.h"
#include "contract/striping.h"

static unsigned magic;	      /* of the file system */
static const char *attribute; /* the one that files have */
static const void *value;
static size_t value_bytes;
static struct beegfs_stripes beegfs;

int statfs(const char *path, struct statfs *to)
{
	(void)path;
	memset(to, 0, sizeof(*to));
	to->f_type = (__typeof__(to->f_type))magic;
	return 0;
}

ssize_t getxattr(const char *path, const char *name, void *to, size_t bytes)
{
	(void)path;
	if (!attribute || strcmp(name, attribute) != 0) {
		errno = ENODATA;
		return -1;
	}
	if (bytes < value_bytes) {
		errno = ERANGE;
		return -1;
	}
	memcpy(to, value, value_bytes);
	return (ssize_t)value_bytes;
}

int ioctl(int fd, unsigned long request, ...)
{
	va_list ap;

	(void)fd;
	if (request != BEEGFS_STRIPES || !beegfs.targets) {
		errno = ENOTTY;
		return -1;
	}
	va_start(ap, request);
	*va_arg(ap, struct beegfs_stripes *) = beegfs;
	va_end(ap);
	return 0;
}

static void mount(unsigned type, const char *name, const void *bytes, size_t n)
{
	magic = type;
	attribute = name;
	value = bytes;
	value_bytes = n;
}

static char file[] = "/tmp/sluice-striping-XXXXXX";

static void stripes_of_lustre(void)
{
	static const unsigned types[] = { LUSTRE_STRIPES_1, LUSTRE_STRIPES_3 };
	struct {
		struct lustre_stripes head;
		char pool[LUSTRE_POOL_BYTES];
		struct lustre_object objects[4];
	} lov = { .head = { .pattern = 1, .size = 1 << 20, .count = 4, .first = 0 } };
	struct striping s;

	for (size_t i = 0; i < 2; i++) {
		lov.head.magic = types[i];
		mount(0x0BD00BD0, "lustre.lov", &lov, sizeof(lov));
		REQUIRE(striping_read(&s, file));
		CHECK_INT(s.filesystem, FILESYSTEM_LUSTRE);
		CHECK_INT(s.count, 4);
		CHECK_INT(s.unit, 1 << 20);
	}
	/* A composite layout, and a truncated value. */
	lov.head.magic = 0x0BD60BD0;
	CHECK(!striping_read(&s, file));
	mount(0x0BD00BD0, "lustre.lov", &lov, 8);
	CHECK(!striping_read(&s, file));
}

/* Reads the layout of a file of this size. */
static bool read_ceph(struct striping *s, const char *layout, off_t size)
{
	REQUIRE(truncate(file, size) == 0);
	mount(0x00C36400, "ceph.file.layout", layout, strlen(layout));
	return striping_read(s, file);
}

static void objects_of_cephfs(void)
{
	static const char *const usual =
		"stripe_unit=4194304 stripe_count=1 object_size=4194304 pool=cephfs_data";
	static const char *const wide =
		"stripe_unit=1048576 stripe_count=4 object_size=1073741824 pool=cephfs_data";
	static const struct {
		const char *layout;
		off_t size;
		uint64_t count;
	} cases[] = {
		{ usual, 0, 1 },
		{ usual, 4194304, 1 },
		{ usual, 4194305, 2 },
		{ usual, 100 << 20, 25 },
		{ wide, 0, 1 },
		{ wide, 1 << 20, 1 },
		{ wide, (3 << 20) + 1, 4 },
		{ wide, 100 << 20, 4 },
		{ wide, (off_t)4 << 30, 4 },
		{ wide, ((off_t)4 << 30) + 1, 5 },
	};
	struct striping s;
	struct stat st;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		REQUIRE(read_ceph(&s, cases[i].layout, cases[i].size));
		CHECK_INT(s.count, cases[i].count);
	}
	CHECK_INT(s.unit, 1 << 20);
	CHECK_INT(s.set_count, 4);
	CHECK_INT(s.set_bytes, INT64_C(4) << 30);
	REQUIRE(read_ceph(&s, wide, 100 << 20));
	CHECK_INT(s.set_count, 0);
	CHECK_INT(s.stripe_count, 4);
	CHECK_INT(s.object_bytes, 1 << 30);
	CHECK_TEXT(s.pool, "cephfs_data");
	REQUIRE(stat(file, &st) == 0);
	CHECK_INT(s.inode, st.st_ino);
	CHECK(!read_ceph(&s, "", 1));
	CHECK(!read_ceph(&s, "stripe_unit=0 stripe_count=0 object_size=0", 1));
	CHECK(!read_ceph(&s, "stripe_unit=65536 stripe_count=4294967296 object_size=4294967296",
			 1));
}

static void targets_of_beegfs(void)
{
	struct striping s;

	mount(0x19830326, NULL, NULL, 0);
	CHECK(!striping_read(&s, file));
	beegfs = (struct beegfs_stripes){ .pattern = 1, .chunk = 524288, .targets = 6 };
	REQUIRE(striping_read(&s, file));
	CHECK_INT(s.filesystem, FILESYSTEM_BEEGFS);
	CHECK_INT(s.count, 6);
	CHECK_INT(s.unit, 524288);
}

static void other_files_have_none(void)
{
	struct striping s;

	mount(0xEF53, "ceph.file.layout", "stripe_unit=65536", 17);
	CHECK(!striping_read(&s, file));
	mount(0x00C36400, "ceph.file.layout", "x", 1);
	CHECK(!striping_read(&s, "/tmp"));
	CHECK(!striping_read(&s, "/tmp/sluice-there-is-no-such-file"));
}

static void file_make(void)
{
	int fd = mkstemp(file);

	REQUIRE(fd >= 0);
	close(fd);
}

static void file_remove(void)
{
	CHECK(unlink(file) == 0);
}

TESTS(TEST(file_make), TEST(stripes_of_lustre), TEST(objects_of_cephfs), TEST(targets_of_beegfs),
      TEST(other_files_have_none), TEST(file_remove))
